"""The default now ÷ the default before it was made fast, on the same networks; with stability; two jobs ÷ one.

The version before is taken from the history of this repository and runs in a process of its own, as does the one now.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.measure import Measurement
from benchmarks.networks import at_hand
from blockselect import AttributedGraph

BEFORE = "781ead1"  # the last commit before
_ROOT = Path(__file__).parent.parent
_SPEED = {"Cora": 3, "BlogCatalog": 4, "photo": 6}  # times as fast as before, without stability
_REPEATS = {
    "Cora": 3,
    "BlogCatalog": 2,
    "photo": 2,
}  # of the version now; the slow one before runs once, after a warm-up
_FIT = """
import json, resource, sys, time
from scipy import sparse
from blockselect import BlockModelSelector, make_attributed_blocks, selection_stability

folder, jobs, repeats, stability = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "True"
X, A = (sparse.load_npz(f"{folder}/{name}.npz") for name in ("features", "adjacency"))

def fit(X, A):
    start = time.perf_counter(), time.process_time()
    selector = BlockModelSelector(64, n_jobs=jobs, random_state=0).fit(X, adjacency=A)
    between = time.perf_counter(), time.process_time()
    if stability:
        selection_stability(selector, X, adjacency=A, random_state=0)
    end = time.perf_counter(), time.process_time()
    return [between[0] - start[0], between[1] - start[1], end[0] - between[0], end[1] - between[1]], selector.scores_

small = make_attributed_blocks(200, 3, random_state=0)
fit(small.features, small.adjacency)
runs = [fit(X, A) for _ in range(repeats)]
best = [min(values) for values in zip(*(times for times, _ in runs))]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
print(json.dumps([*best, peak, runs[0][1].argsort(kind="stable")[::-1][:64].tolist()]))
"""


@dataclass(frozen=True, slots=True)
class Fit:
    """Best times of a few fits, and what they selected."""

    seconds: float
    cpu: float
    stability_seconds: float  # of selection_stability after the fit
    stability_cpu: float
    peak: float  # GB, of the whole process
    best: list[int]  # 64 features


def run() -> Iterator[Measurement]:
    with tempfile.TemporaryDirectory() as folder:
        source = extract_before(Path(folder))
        for name, graph in at_hand().items():
            yield from _compare(name, graph, Path(folder), source)


def extract_before(folder: Path) -> Path:
    """The package of that commit, without touching this working tree."""
    packed = subprocess.run(["git", "archive", BEFORE, "src"], cwd=_ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder / "before", filter="data")
    return folder / "before" / "src"


def _compare(name: str, graph: AttributedGraph, folder: Path, before_source: Path) -> Iterator[Measurement]:
    for part in ("features", "adjacency"):
        sparse.save_npz(folder / f"{part}.npz", sparse.csr_array(getattr(graph, part)), compressed=False)
    repeats = _REPEATS[name]
    before = run_fit(folder, before_source, jobs=2, repeats=1, stability=True)
    now = run_fit(folder, _ROOT / "src", jobs=2, repeats=repeats, stability=True)
    alone = run_fit(folder, _ROOT / "src", jobs=1, repeats=repeats, stability=False)
    same = len(set(before.best) & set(now.best))
    yield Measurement(
        f"{name}: default now ÷ before",
        now.seconds / before.seconds,
        1 / _SPEED[name],
        f"{now.seconds:.2f} s ÷ {before.seconds:.2f} s with two jobs; {same} of the best 64 are the same",
        peak=now.peak,
    )
    both, both_before = (each.seconds + each.stability_seconds for each in (now, before))
    yield Measurement(
        f"{name}: default and stability now ÷ before",
        both / both_before,
        1.6 / _SPEED[name],
        f"{both:.2f} s ÷ {both_before:.2f} s",
        peak=now.peak,
    )
    yield Measurement(
        f"{name}: with stability ÷ without", both / now.seconds, 1.6, f"{both:.2f} s ÷ {now.seconds:.2f} s"
    )
    yield Measurement(
        f"{name}: two jobs ÷ one",
        now.seconds / alone.seconds,
        1 / 1.7,
        f"{now.seconds:.2f} s ÷ {alone.seconds:.2f} s, as many BLAS threads as jobs",
        peak=now.peak,
    )
    yield Measurement(
        f"{name}: peak memory now ÷ before",
        now.peak / before.peak,
        float("inf"),
        f"{now.peak:.2f} GB ÷ {before.peak:.2f} GB",
    )


def run_fit(folder: Path, source: Path, *, jobs: int, repeats: int, stability: bool) -> Fit:
    """Fits of one version in a process of its own."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(jobs))
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FIT, str(folder), str(jobs), str(repeats), str(stability)],
        env={**os.environ, **threads, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Fit(*json.loads(result.stdout.splitlines()[-1]))


def overlap(a: np.ndarray, b: np.ndarray, count: int) -> float:
    """Share of the `count` largest scores that both have."""
    best = [set(np.argsort(-scores, kind="stable")[:count].tolist()) for scores in (a, b)]
    return len(best[0] & best[1]) / count
