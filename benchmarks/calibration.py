"""Calibration of stability: predicted and observed frequency with which a feature is selected on resampled graphs.

    python -m benchmarks.calibration [--method block-model] [--new] [--draws 1] [--only WORDS] [--again 20] [--save]
    python -m benchmarks.calibration --blocks [--new] [--draws 1] [--only WORDS] [--again 20]

The `selection_stability` of a fit is compared with new fits to further resampled graphs. The networks are those used to
develop the estimate (several kinds of planted networks, and Cora). `--new` uses new networks instead, `--draws` of each
kind: the scenarios of `benchmarks.discoveries`, and two in which most features follow factors unrelated to the graph.
The first table shows the selected features by network, the second all features by predicted stability. `--save` stores
the first table as docs/benchmarks/stability.csv, which should contain only BlockModelSelector.

`--blocks` tests whether `block_agreement_` and `block_stability_` predict how well blocks match between seeds. Each
network is fitted with `--again` + 1 seeds, and each fit is compared with every other fit. Without `--new`, Citeseer,
Debian and the networks in BLOCKSELECT_DATA are included.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.discovery_networks import SCENARIOS, draw
from benchmarks.networks import at_hand, further
from blockselect import (
    BlockModelSelector,
    load_cora,
    load_debian,
    make_attributed_blocks,
    make_selector,
    selection_stability,
)
from blockselect.consensus.consensus import expected_agreement
from blockselect.graphs.links import resample_links

PATH = Path(__file__).parent.parent / "docs" / "benchmarks" / "stability.csv"
BINS = ((0.0, 0.1), (0.1, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
KINDS: dict[str, dict[str, Any]] = {
    "few links, weak features": {"n_blocks": 3, "mean_degree": 6, "signal": 2.5},
    "strong features": {"n_blocks": 3, "mean_degree": 10, "signal": 4.0},
    "blocks that link to others": {"n_blocks": 3, "mean_degree": 10, "signal": 4.0, "structure": "disassortative"},
    "very few links": {"n_blocks": 3, "mean_degree": 4, "signal": 3.0},
    "very weak features": {"n_blocks": 3, "mean_degree": 8, "signal": 2.0},
    "five blocks": {"n_blocks": 5, "mean_degree": 15, "signal": 2.0},
    "six blocks, few links": {"n_blocks": 6, "mean_degree": 5, "signal": 2.0},
}
NEW = (
    "plain",
    "plain, few links",
    "nothing to find",
    "heavy-tailed degrees",
    "features by degree + 1",
    "correlated noise",
    "counts",
    "continuous values",
    "continuous values, heavy tails",
    "weights with heavy tails",
    "60 nodes",
    "core and periphery",
    "disassortative",
    "all features mark one block",
)


FACTORS = {
    "80 of 100 features follow two factors": 4.0,
    "the same, weak markers": 2.5,
}  # signal of the other 20 features
_RATES = 0.4, 0.1  # frequency of a feature in the two groups of nodes that its factor defines


class Case(NamedTuple):
    name: str
    features: Any
    adjacency: Any
    n_selected: int


class Calibration(NamedTuple):
    stated: Any  # (m,) predicted probability of being selected again
    seen: Any  # (m,) share of further graphs on which it was selected
    selected: Any  # (m,) bool


def cases() -> Iterator[list[Case]]:
    """The networks used to develop the estimate."""
    for seed, (name, kind) in enumerate(KINDS.items(), start=100):
        n_blocks, rest = kind["n_blocks"], {key: value for key, value in kind.items() if key != "n_blocks"}
        planted = make_attributed_blocks(
            250, n_blocks, n_informative=20, n_redundant=0, n_noise=80, random_state=seed, **rest
        )
        yield [Case(name, planted.features, planted.adjacency, 20)]
    cora = load_cora()
    yield [Case("Cora", cora.features, cora.adjacency, 64)]


def new_cases(n_draws: int) -> Iterator[list[Case]]:
    """Networks not used to develop the estimate, `n_draws` of each kind."""
    for place, name in enumerate(NEW):
        drawn = (draw(SCENARIOS[name], np.random.default_rng([9001, place, number])) for number in range(n_draws))
        yield [Case(name, truth.features, truth.adjacency, 20) for truth in drawn]
    for place, name in enumerate(FACTORS, start=len(NEW)):
        yield [factor_case(name, np.random.default_rng([9001, place, number])) for number in range(n_draws)]


def factor_case(name: str, rng: np.random.Generator) -> Case:
    """20 features follow three planted blocks; two sets of 40 each follow a random division of the nodes in two.

    The two divisions are unrelated to the graph, but explain most of the correlation between features.
    """
    planted = make_attributed_blocks(
        300,
        3,
        mean_degree=10,
        n_informative=20,
        n_redundant=0,
        n_noise=0,
        signal=FACTORS[name],
        random_state=int(rng.integers(2**31)),
    )
    factors = np.repeat(rng.integers(2, size=(300, 2)), 40, axis=1)
    others = rng.random(factors.shape) < np.where(factors == 1, *_RATES)
    features = sparse.hstack([planted.features, others.astype(np.float64)], format="csr")
    return Case(name, features, planted.adjacency, 20)


def calibrate(case: Case, n_again: int, method: str = "block-model") -> Calibration:
    selector = make_selector(method, case.n_selected, random_state=0).fit(case.features, adjacency=case.adjacency)
    stated = selection_stability(selector, case.features, adjacency=case.adjacency, random_state=0)
    rng = np.random.default_rng(1)
    graphs = [resample_links(case.adjacency, rng) for _ in range(n_again)]
    fits = [
        make_selector(method, case.n_selected, random_state=seed).fit(case.features, adjacency=graph)
        for seed, graph in enumerate(graphs)
    ]
    return Calibration(stated, np.mean([fit.support_ for fit in fits], axis=0), selector.support_)


def real_cases() -> Iterator[list[Case]]:
    """Real networks other than Cora."""
    for name, graph in {**further(), "Debian": load_debian(), **at_hand()}.items():
        if name != "Cora":
            yield [Case(name, graph.features, graph.adjacency, 64)]


class BlockCalibration(NamedTuple):
    agreement: tuple[float, float]  # predicted and observed, means over fits
    stated: Any  # (b,) predicted, for all blocks of all fits
    seen: Any  # (b,) observed


def calibrate_blocks(case: Case, n_again: int) -> BlockCalibration:
    fits = [
        BlockModelSelector(case.n_selected, random_state=seed).fit(case.features, adjacency=case.adjacency)
        for seed in range(n_again + 1)
    ]
    seen = []
    for fit in fits:
        pairs = [expected_agreement([fit.labels_, other.labels_]) for other in fits if other is not fit]
        of_blocks, overall = zip(*pairs, strict=True)
        seen.append((np.mean(overall), np.mean(of_blocks, axis=0)))
    return BlockCalibration(
        (float(np.mean([fit.block_agreement_ for fit in fits])), float(np.mean([overall for overall, _ in seen]))),
        np.concatenate([fit.block_stability_ for fit in fits]),
        np.concatenate([of_blocks for _, of_blocks in seen]),
    )


def print_blocks(networks: Iterable[list[Case]], n_again: int) -> None:
    found = []
    print(
        "| network | adjusted Rand index: predicted | observed | overlap of blocks: predicted | observed |\n"
        "|---|---|---|---|---|"
    )
    for of_kind in networks:
        each = [calibrate_blocks(case, n_again) for case in of_kind]
        found += each
        means = np.mean([(*one.agreement, one.stated.mean(), one.seen.mean()) for one in each], axis=0)
        print(f"| {of_kind[0].name} | {' | '.join(f'{mean:.2f}' for mean in means)} |", flush=True)
    _print_bins(*(np.concatenate([getattr(one, part) for one in found]) for part in ("stated", "seen")), "blocks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="block-model", help="name of the method")
    parser.add_argument("--new", action="store_true", help="use networks that were not used to develop the estimate")
    parser.add_argument("--draws", type=int, default=1, help="number of new networks of each kind")
    parser.add_argument("--only", default="", help="only networks whose name contains this text")
    parser.add_argument("--again", type=int, default=20, help="number of further graphs, or of further seeds")
    parser.add_argument("--blocks", action="store_true", help="measure the stability of blocks instead of features")
    parser.add_argument("--save", action="store_true", help="store the first table")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    networks = new_cases(options.draws) if options.new else cases()
    if options.blocks and not options.new:
        networks = chain(networks, real_cases())
    networks = (of_kind for of_kind in networks if options.only in of_kind[0].name)
    if options.blocks:
        print_blocks(networks, options.again)
        return
    found, rows = [], []
    print("| network | selected features: predicted | observed |\n|---|---|---|")
    for of_kind in networks:
        name = of_kind[0].name
        each = [calibrate(case, options.again, options.method) for case in of_kind]
        found += each
        means = np.array([[part[one.selected].mean() for part in (one.stated, one.seen)] for one in each])
        rows.append((name, options.new, len(each), options.again, *means.mean(axis=0).round(3), _error(means)))
        print(f"| {name} | {rows[-1][-3]:.2f} | {rows[-1][-2]:.2f} |", flush=True)
    _print_all(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
    if options.save:
        columns = ["network", "new", "networks", "further_graphs", "stated", "seen", "error_of_difference"]
        _save(pd.DataFrame(rows, columns=columns))


def _error(means: Any) -> float:
    """Standard error, over networks, of the mean difference between predicted and observed; NaN for one network."""
    if len(means) < 2:
        return float("nan")
    return round(float(np.std(means[:, 0] - means[:, 1], ddof=1) / np.sqrt(len(means))), 3)


def _print_all(stated: Any, seen: Any, selected: Any) -> None:
    print(f"| all | {stated[selected].mean():.2f} | {seen[selected].mean():.2f} |")
    _print_bins(stated, seen, "features")


def _print_bins(stated: Any, seen: Any, what: str) -> None:
    print(f"\n| predicted stability | {what} | mean predicted | observed |\n|---|---|---|---|")
    for low, high in BINS:
        within = (stated >= low) & ((stated < high) | (high == 1.0))
        if within.any():
            print(f"| {low:g} to {high:g} | {within.sum()} | {stated[within].mean():.2f} | {seen[within].mean():.2f} |")


def _save(rows: pd.DataFrame) -> None:
    """Replace the rows of these networks in the stored table."""
    PATH.parent.mkdir(exist_ok=True)
    if PATH.is_file():
        old = pd.read_csv(PATH)
        rows = pd.concat([old[~old["network"].isin(rows["network"])], rows])
    rows.to_csv(PATH, index=False)


if __name__ == "__main__":
    main()
