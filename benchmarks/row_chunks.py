"""The effect of row chunks on quality: the same networks in memory, with and without "smoothed", and in ten chunks.

python -m benchmarks.row_chunks            planted networks of all kinds, and Cora
python -m benchmarks.row_chunks --save     also writes docs/benchmarks/row_chunks.csv, with one row per fit
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from scipy import sparse

import blockselect.consensus.search as search
from benchmarks.candidates import SIZES
from benchmarks.quality.planted_networks import precision
from benchmarks.quality.regimes import REGIMES, plant
from benchmarks.scale import markdown
from blockselect import BlockModelSelector, RowChunks, load_cora

SAVED = Path(__file__).parent.parent / "docs" / "benchmarks" / "row_chunks.csv"
SEEDS = tuple(range(5))
N_CHUNKS = 10
IN_MEMORY, BY_LINKS, IN_CHUNKS = "in memory", 'in memory, without "smoothed"', "in ten chunks"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"also write docs/benchmarks/{SAVED.name}")
    options = parser.parse_args()
    rows = pd.DataFrame(list(fits()))
    kind = np.where(rows["network"] == "Cora", "Cora", "planted")
    columns = ["gain", "precision", "explained"]
    table = rows.assign(kind=kind).groupby(["kind", "features"], sort=False)[columns].mean()
    print(markdown(table.reset_index()))
    if options.save:
        rows.round(4).to_csv(SAVED, index=False)


def fits() -> Iterator[dict[str, Any]]:
    """One row per network, seed and form of the features."""
    cora = load_cora()
    for seed in SEEDS:
        for regime in REGIMES:
            planted = plant(regime, SIZES, seed)
            yield from _compare(regime, planted, seed, planted.is_informative)
        yield from _compare("Cora", cora, seed, None)


def _compare(network: str, graph: Any, seed: int, is_planted: np.ndarray | None) -> Iterator[dict[str, Any]]:
    X = sparse.csr_array(graph.features)
    parts = np.array_split(np.arange(X.shape[0]), N_CHUNKS)
    chunks = RowChunks.from_blocks([X[rows[0] : rows[-1] + 1] for rows in parts])
    n_selected = 64 if is_planted is None else int(is_planted.sum())
    for form, features in {IN_MEMORY: X, BY_LINKS: X, IN_CHUNKS: chunks}.items():
        selector = BlockModelSelector(n_selected, n_candidates=12, random_state=seed)
        with mock.patch.object(search, "find_candidates", _by_links if form == BY_LINKS else search.find_candidates):
            selector.fit(features, adjacency=graph.adjacency)
        yield {
            "network": network,
            "seed": seed,
            "features": form,
            "gain": selector.candidates_table_["gain"].max(),  # −J of the best candidate, in nats
            "precision": float("nan") if is_planted is None else precision(selector, is_planted),
            "explained": selector.explained_[-1],
        }


_find_candidates = search.find_candidates


def _by_links(adjacency: Any, features: Any, *arguments: Any, **settings: Any) -> Any:
    """Find candidates from the links only, as in a fit to row chunks."""
    return _find_candidates(adjacency, None, *arguments, **settings)


if __name__ == "__main__":
    main()
