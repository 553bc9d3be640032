"""The whole default fit on a CUDA device against all cores of the same machine: checked, then timed in turn.

    PYTHONPATH=src python -m benchmarks.gpu_default table.md

The network is BlogCatalog, where BLOCKSELECT_DATA names its folder or the file BlogCatalog.mat, else a planted one of
the same size.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from benchmarks.gpu_report import Report, now, stored_file
from blockselect import BlockModelSelector, make_attributed_blocks

TOP, REPEATS, GOAL = 200, 5, 5
LEAST_SHARED = 0.9  # of the features selected on the CPU: two seeds share about as many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the report, in Markdown")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="a small network, to try the benchmark itself")
    chosen = parser.parse_args()
    logging.basicConfig(level=logging.INFO)  # why an iteration could not be captured or compiled
    report = Report()
    with report.written_to(chosen.out):
        measure(report, chosen)


def measure(report: Report, chosen: argparse.Namespace) -> None:
    """Both devices in turn."""
    features, adjacency, name = _network(chosen.small)
    n_jobs, n_selected = os.cpu_count(), min(TOP, features.shape[1] // 2)

    def fit(device: str) -> BlockModelSelector:
        selector = BlockModelSelector(n_selected, n_jobs=n_jobs, random_state=0, device=device)
        return selector.fit(features, adjacency=adjacency)

    report.say(f"\nThe default, {name}: {n_selected} features, {n_jobs} cores")
    here, there = fit("cpu"), fit(chosen.device)
    report.check("the same number of blocks", here.block_model_.n_blocks == there.block_model_.n_blocks)
    found = [
        sorted((one.family, one.relative_error, tuple(np.bincount(one.labels))) for one in fitted.candidates_)
        for fitted in (here, there)
    ]
    same = sum(ours[0] == theirs[0] and ours[2] == theirs[2] for ours, theirs in zip(*found, strict=True))
    report.say(f"- {same} of {len(found[0])} candidates with blocks of the same sizes")
    report.check("candidates fit as well", np.allclose([x[1] for x in found[0]], [x[1] for x in found[1]], rtol=1e-3))
    gains = [fitted.criteria_.gain[fitted.criteria_.voted].mean() for fitted in (here, there)]
    report.check(f"voters gain as much: {gains[0]:.0f} nats, on the device {gains[1]:.0f}", gains[1] > 0.98 * gains[0])
    shared = int((here.support_ & there.support_).sum())
    report.check(f"{shared} of {here.n_features_} features are the same", shared >= LEAST_SHARED * here.n_features_)
    again = fit(chosen.device)
    report.say(f"- the same again: {int((again.support_ & there.support_).sum())} of {here.n_features_}")
    times: dict[str, list[float]] = {"cpu": [], chosen.device: []}
    for _ in range(REPEATS):
        for device, taken in times.items():
            start = now(chosen.device)
            fit(device)
            taken.append(now(chosen.device) - start)
    cpu, gpu = (statistics.median(taken) for taken in times.values())
    report.say(f"- {n_jobs} cores {cpu:.2f} s, the device {gpu:.2f} s (medians of {REPEATS}): {cpu / gpu:.1f} ×")
    report.say("- " + "; ".join(f"{device} " + " ".join(f"{t:.2f}" for t in taken) for device, taken in times.items()))
    report.check(f"the default at least {GOAL} times as fast", cpu >= GOAL * gpu)


def _network(small: bool) -> tuple[Any, Any, str]:
    data = stored_file("BLOCKSELECT_DATA", "BlogCatalog.mat")
    if small or data is None:
        made = make_attributed_blocks(*((300, 3) if small else (5196, 6)), random_state=0)
        return made.features, made.adjacency, "a planted network"
    stored = loadmat(data)
    return sparse.csr_array(stored["Attributes"]).astype(float), sparse.csr_array(stored["Network"]), "BlogCatalog"


if __name__ == "__main__":
    main()
