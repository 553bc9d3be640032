"""Killing a run at random moments loses no row that was reported as saved."""

from __future__ import annotations

import random
import subprocess
import sys
import time

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
    write_together(folder / "results", {"a.txt": text, "sub/b.txt": text, "run.json": text})
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
    assert len(stored - set(kept)) <= N_KILLS  # saved, but killed before this was reported
    assert n_whole
