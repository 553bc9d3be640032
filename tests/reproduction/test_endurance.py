"""Kills at random moments lose nothing that was reported as kept, and memory stays flat over many trials."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import time
import tracemalloc

import numpy as np

from blockselect.reproduction.engine import Trial, run_experiments
from blockselect.reproduction.store import Store

N_KILLS = 10
WRITE_FOR_EVER = """
import sys
from pathlib import Path
from blockselect.cli.outputs import write_together
from blockselect.reproduction.store import Store

folder, first = Path(sys.argv[1]), int(sys.argv[2])
store = Store(folder / "trials", {})
for number in range(first, first + 10**6):
    store.add(f"numbers/{number}", [{"number": number, "text": "x" * 2000}])
    print(number, flush=True)
    text = str(number).encode()
    write_together(folder / "results", {"a.txt": text, "sub/b.txt": text, "run.json": text}, mark="run.json")
"""


def test_kills_at_random_moments_lose_no_row_and_leave_no_folder_that_only_looks_whole(tmp_path):
    dice = random.Random(0)
    kept: list[int] = []
    n_whole = 0
    for _ in range(N_KILLS):
        first = max(kept, default=-1) + 1000
        process = subprocess.Popen(
            [sys.executable, "-c", WRITE_FOR_EVER, tmp_path, str(first)], stdout=subprocess.PIPE, text=True
        )
        kept.append(int(process.stdout.readline()))
        time.sleep(dice.random() * 0.05)
        process.kill()
        kept += [int(line) for line in process.stdout.read().split("\n")[:-1]]
        process.wait()
        process.stdout.close()
        results = tmp_path / "results"
        if (results / "run.json").exists():
            n_whole += 1
            texts = {(results / name).read_text() for name in ("run.json", "a.txt", "sub/b.txt")}
            assert len(texts) == 1
    stored = {row["number"] for row in Store(tmp_path / "trials", {}).rows("numbers")}
    assert set(kept) <= stored
    assert len(stored - set(kept)) <= N_KILLS  # stored, and killed before it was said
    assert n_whole


def summed(numbers, seed):
    return [{"sum": float((numbers + np.random.default_rng(seed).random(len(numbers))).sum())}]


def test_memory_is_flat_over_200_trials(tmp_path):
    numbers = np.zeros(100_000)
    held: list[int] = []

    def measure(standing):
        if standing.done in (50, 200):
            gc.collect()
            if not tracemalloc.is_tracing():
                tracemalloc.start()
            held.append(tracemalloc.get_traced_memory()[0])

    def trials(config, rows):
        return [Trial("sums", {"seed": seed}, summed, {"numbers": numbers, "seed": seed}) for seed in range(200)]

    try:
        store = Store(tmp_path, {})
        run_experiments({"sums": trials}, None, store, progress=measure)
        rows = store.rows("sums")
    finally:
        tracemalloc.stop()
    assert len(rows) == 200
    assert [row["error"] for row in rows if row["error"]] == []
    assert held[1] - held[0] < 150 * 1000  # bytes: what is known of a trial, and nothing of its arrays
