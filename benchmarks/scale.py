"""Growth of BlockModelSelector's time and peak memory with the numbers of nodes, links, values and features.

    python -m benchmarks.scale                 series of up to 300,000 nodes
    python -m benchmarks.scale --full          also 1,000,000 nodes, 10⁷ links, 100,000 features, 5·10⁷ values
    python -m benchmarks.scale --chunks 5000000 --jobs 16
                                               features in row chunks on disk; per node 10 links and 50 values, and
                                               one feature for every 50 nodes
    python -m benchmarks.scale nodes --jobs 1 2
                                               each network with one thread and with two
    python -m benchmarks.scale --save          also writes docs/benchmarks/scale.csv

Each network is made in one process and fitted in another, so peak memory includes only the fit and its data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial, wraps
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.measure import peak_memory

SAVED = Path(__file__).parent.parent / "docs" / "benchmarks" / "scale.csv"
TOP = 100
N_BLOCKS, N_INFORMATIVE, SIGNAL = 10, 200, 4.0
CHUNK_VALUES = 5_000_000  # per chunk of rows
STAGES = ("gate", "number of blocks", "block models", "screening", "ranking")


@dataclass(frozen=True, slots=True)
class Size:
    n_nodes: int
    n_links: int
    n_values: int  # non-zero values of the features
    n_features: int


BASE = Size(30_000, 300_000, 1_500_000, 3_000)
FULL = Size(1_000_000, 10_000_000, 50_000_000, 100_000)


def series() -> dict[str, list[Size]]:
    """The sizes of each series. In "nodes", links and values grow with the nodes; in "all", features grow as well."""
    nodes = (10_000, 30_000, 100_000, 300_000)
    return {
        "nodes": [Size(n, 10 * n, 50 * n, BASE.n_features) for n in nodes],
        "all": [Size(n, 10 * n, 50 * n, n // 10) for n in nodes],
        "links": [replace(BASE, n_links=BASE.n_links * times) for times in (1, 2, 4, 8)],
        "values": [replace(BASE, n_values=BASE.n_values * times) for times in (1, 2, 4, 8)],
        "features": [replace(BASE, n_features=BASE.n_features * times) for times in (1, 2, 4, 8)],
    }


GROWS = {"nodes": "n_nodes", "all": "n_nodes", "links": "n_links", "values": "n_values", "features": "n_features"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"series to run, from {list(GROWS)}; by default all of them")
    parser.add_argument("--full", action="store_true", help="include a million nodes")
    parser.add_argument(
        "--chunks",
        type=int,
        nargs="*",
        default=[],
        metavar="NODES",
        help="sizes of networks whose features are in row chunks",
    )
    parser.add_argument("--save", action="store_true", help=f"also write docs/benchmarks/{SAVED.name}")
    parser.add_argument("--jobs", type=int, nargs="+", default=[2], metavar="N", help="number of threads")
    parser.add_argument("--blocks", type=int, help="number of blocks; by default it is estimated")
    parser.add_argument("--largest", type=int, default=300_000, help="leave out networks with more nodes than this")
    options = parser.parse_args()
    chosen = {name: sizes for name, sizes in series().items() if not options.names or name in options.names}
    if options.chunks:
        chosen = {}
    if options.full:
        chosen["full"] = [FULL]
    measured: dict[tuple[Size, int], dict[str, Any]] = {}
    rows = []
    for name, sizes in chosen.items():
        for size, jobs in product(sizes, options.jobs):
            if size.n_nodes > options.largest and name != "full":
                continue
            if (size, jobs) not in measured:
                measured[size, jobs] = measure(size, jobs, options.blocks)
                print(json.dumps(measured[size, jobs]), file=sys.stderr, flush=True)
            rows.append({"series": name, "jobs": jobs, **measured[size, jobs]})
    for n, jobs in product(options.chunks, options.jobs):
        taken = measure(Size(n, 10 * n, 50 * n, n // 50), jobs, options.blocks, in_chunks=True)
        rows.append({"series": "chunks", "jobs": jobs, **taken})
    table = pd.DataFrame(rows)
    print(markdown(table))
    slopes = exponents(table)
    if len(slopes):
        print(markdown(slopes))
    if options.save:
        SAVED.parent.mkdir(exist_ok=True)
        table.round(4).to_csv(SAVED, index=False)


def measure(size: Size, jobs: int, n_blocks: int | None, *, in_chunks: bool = False) -> dict[str, Any]:
    """Make and fit one network, each in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        made = _run("make_chunks" if in_chunks else "make", size, repr(folder))
        return {**asdict(size), **made, **_run("fit", size, f"{folder!r}, {jobs}, {n_blocks}")}


def _run(task: str, size: Size, arguments: str) -> dict[str, Any]:
    call = f"from benchmarks import scale; scale.{task}(scale.Size(**{asdict(size)}), {arguments})"
    result = subprocess.run([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(result.stdout.splitlines()[-1]))


def make(size: Size, folder: str) -> None:
    """Write a planted network to the folder, and print the time and memory that this took."""
    from blockselect import make_attributed_blocks

    start = time.perf_counter()
    home_share = (1 + N_BLOCKS // 2) / 2 / N_BLOCKS
    rate = size.n_values / size.n_nodes / size.n_features / (1 + (SIGNAL - 1) * home_share)
    spread = 1.5 / np.log(4)  # mean of a rate that is log-uniform from half to twice the median
    planted = make_attributed_blocks(
        size.n_nodes,
        N_BLOCKS,
        mean_degree=2 * size.n_links / size.n_nodes,
        n_informative=N_INFORMATIVE,
        n_redundant=0,
        n_noise=size.n_features - N_INFORMATIVE,
        signal=SIGNAL,
        frequency=(rate / spread / 2, 2 * rate / spread),
        random_state=0,
    )
    print(json.dumps({"made in": time.perf_counter() - start, "making GB": peak_gigabytes()}))
    for name, matrix in (("features", planted.features), ("adjacency", planted.adjacency)):
        sparse.save_npz(Path(folder) / f"{name}.npz", matrix, compressed=False)
    np.save(Path(folder) / "informative.npy", planted.is_informative)


def make_chunks(size: Size, folder: str) -> None:
    """Like `make`, but with each chunk of rows in its own file, so that the whole features are never in memory."""
    from blockselect import make_attributed_blocks

    start = time.perf_counter()
    mean_degree = 2 * size.n_links / size.n_nodes
    few = {"n_informative": 1, "n_redundant": 0, "n_noise": 1}
    graph = make_attributed_blocks(size.n_nodes, N_BLOCKS, mean_degree=mean_degree, **few, random_state=0)
    rng = np.random.default_rng(0)
    rates = rng.dirichlet(np.full(size.n_features, 4.0)) * size.n_values / size.n_nodes
    at_home = rng.random((N_BLOCKS, N_INFORMATIVE)) < 0.3  # blocks that an informative feature marks
    n_chunks = -(-size.n_values // CHUNK_VALUES)
    for number, rows in enumerate(np.array_split(np.arange(size.n_nodes), n_chunks)):
        n_holders = rng.poisson(rates * len(rows))
        holders = rng.integers(len(rows), size=n_holders.sum())
        features = np.repeat(np.arange(size.n_features), n_holders)
        marked = rates[:N_INFORMATIVE] * np.where(at_home[graph.blocks[rows]], SIGNAL, 0.0)
        more_holders, more_features = np.nonzero(rng.random(marked.shape) < marked)
        places = np.concatenate([holders, more_holders]), np.concatenate([features, more_features])
        block = sparse.csr_array((np.ones(len(places[0]), np.float32), places), (len(rows), size.n_features))
        block.data[:] = 1
        sparse.save_npz(Path(folder) / f"features-{number:05}.npz", block, compressed=False)
    sparse.save_npz(Path(folder) / "adjacency.npz", graph.adjacency, compressed=False)
    np.save(Path(folder) / "informative.npy", np.arange(size.n_features) < N_INFORMATIVE)
    print(json.dumps({"made in": time.perf_counter() - start, "making GB": peak_gigabytes()}))


def _features(folder: str) -> Any:
    """The features in the folder: a matrix, or row chunks."""
    from blockselect import RowChunks

    paths = sorted(Path(folder).glob("features-*.npz"))
    if paths:
        return RowChunks.from_blocks(lambda: map(sparse.load_npz, paths))
    return sparse.load_npz(Path(folder) / "features.npz")


def fit(size: Size, folder: str, jobs: int, n_blocks: int | None) -> None:
    """Fit BlockModelSelector to the network in the folder, and print the time and memory of each stage."""
    import blockselect.consensus.estimator as default
    from blockselect import make_attributed_blocks

    small = make_attributed_blocks(200, 3, random_state=0)  # loads compiled code before the clock starts
    default.BlockModelSelector(10, n_jobs=jobs, random_state=0).fit(small.features, adjacency=small.adjacency)
    features, adjacency = _features(folder), sparse.load_npz(Path(folder) / "adjacency.npz")
    loaded = peak_gigabytes()
    stages = Stages()
    start, cpu = time.perf_counter(), time.process_time()
    with stages.watch():
        selector = default.BlockModelSelector(TOP, n_blocks=n_blocks or "auto", n_jobs=jobs, random_state=0)
        selector.fit(features, adjacency=adjacency)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    informative = np.load(Path(folder) / "informative.npy")
    print(
        json.dumps(
            {
                **{f"{name} s": stages.seconds.get(name, 0.0) for name in STAGES},
                "in all s": seconds,
                **{f"{name} cpu": stages.cpu.get(name, 0.0) for name in STAGES},
                "in all cpu": cpu_seconds,
                **{f"{name} GB": stages.peak.get(name, 0.0) for name in STAGES},
                "data GB": loaded,
                "peak GB": peak_gigabytes(),
                "precision": float(informative[selector.support_].mean()),
                "n_blocks": selector.block_model_.n_blocks,
                **{f"family {name} s": taken for name, taken in stages.families.items()},
            }
        )
    )


class Stages:
    """Seconds and CPU seconds of each stage of a fit, and the peak memory at its end."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self.seconds: dict[str, float] = {}
        self.cpu: dict[str, float] = {}
        self.peak: dict[str, float] = {}
        self.families: dict[str, float] = {}

    def watch(self) -> Any:
        """Return a context in which fits of BlockModelSelector are timed."""
        from contextlib import ExitStack

        import blockselect.consensus.estimator as default
        from blockselect.blockmodels import candidates
        from blockselect.consensus import search

        stack = ExitStack()
        steps: tuple[tuple[Any, str, str], ...] = (
            (default.BlockModelSelector, "_check_network", "gate"),
            (search, "count_blocks", "number of blocks"),
            (search, "find_candidates", "block models"),
            (default, "JointLikelihood", "screening"),
            (default, "find_consensus", "screening"),
            (default, "rank_by_trees", "ranking"),
        )
        for owner, name, stage in steps:
            stack.enter_context(mock.patch.object(owner, name, self._timed(getattr(owner, name), stage)))
        families = {
            name: self._timed_family(family, name) for name, family in candidates.FAMILIES.items() if name != "mixed"
        }
        stack.enter_context(mock.patch.dict(candidates.FAMILIES, families))
        return stack

    def _timed(self, step: Callable[..., Any], stage: str) -> Callable[..., Any]:
        @wraps(step)
        def timed(*given: Any, **settings: Any) -> Any:
            start, cpu = time.perf_counter(), time.process_time()
            result = step(*given, **settings)
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
            self.cpu[stage] = self.cpu.get(stage, 0.0) + time.process_time() - cpu
            self.peak[stage] = peak_gigabytes()
            self._say(f"{stage}: {self.seconds[stage]:.1f} s, {self.peak[stage]:.2f} GB")
            return result

        return timed

    def _say(self, line: str) -> None:
        if not self._quiet:
            print(line, file=sys.stderr, flush=True)

    def _timed_family(self, family: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Wrap a family of candidates so that the times of its starts are added up, even across parallel threads."""

        def timed(start: Callable[[], Any]) -> Any:
            begin = time.perf_counter()
            labels = start()
            self.families[name] = self.families.get(name, 0.0) + time.perf_counter() - begin
            self._say(f"  {name}: {self.families[name]:.1f} s, {peak_gigabytes():.2f} GB")
            return labels

        return lambda search: [partial(timed, start) for start in family(search)]


def peak_gigabytes() -> float:
    return (peak_memory() or float("nan")) / 1e9


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """Growth exponents of time and memory, one row per series: least-squares slopes on log scales."""
    return pd.DataFrame(list(_slopes(table)))


def _slopes(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for (name, jobs), rows in table.groupby(["series", "jobs"], sort=False):
        if len(rows) < 3 or name not in GROWS:
            continue
        size = np.log(rows[GROWS[str(name)]].to_numpy(dtype=float))
        columns = {**{stage: f"{stage} cpu" for stage in STAGES}, "in all": "in all cpu", "peak memory": "peak GB"}
        yield {"grows": name, "jobs": jobs, **{what: _slope(size, rows[column]) for what, column in columns.items()}}


def _slope(size: np.ndarray, measured: Sequence[float]) -> float:
    return float(np.polyfit(size, np.log(np.maximum(np.asarray(measured, dtype=float), 1e-3)), 1)[0])


def markdown(table: pd.DataFrame) -> str:
    """A table of wall times and overall peak memory; CPU times and memory per stage are only in the CSV."""
    shown = [
        column
        for column in table.columns
        if not column.endswith(" cpu") and (not column.endswith(" GB") or column in ("peak GB", "data GB"))
    ]
    lines = ["| " + " | ".join(shown) + " |", "|" + "---|" * len(shown)]
    for row in table[shown].itertuples(index=False):
        cells = (
            f"{cell:.3g}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell for cell in row
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
