"""A small planted network as files, and a way to run the command on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from blockselect import AttributedGraph, make_attributed_blocks
from blockselect.cli.commands import app


@dataclass(frozen=True)
class NetworkFiles:
    graph: AttributedGraph
    names: list[str]
    features: Path
    edges: Path

    @property
    def options(self) -> list[str]:
        return ["--features", str(self.features), "--graph", str(self.edges)]


@pytest.fixture(scope="session")
def network(tmp_path_factory) -> NetworkFiles:
    """60 nodes called n0 … and 30 features called gene_0 …; the edges in random order."""
    folder = tmp_path_factory.mktemp("network")
    graph = make_attributed_blocks(
        60, 3, n_informative=8, n_redundant=4, n_noise=18, mean_degree=8, random_state=2
    ).graph
    names = [f"gene_{column}" for column in range(30)]
    ids = [f"n{node}" for node in range(60)]
    table = pd.DataFrame(graph.features.toarray(), columns=names)
    table.insert(0, "id", ids)
    table.to_csv(folder / "features.csv", index=False)
    links = graph.adjacency.tocoo()
    once = links.row < links.col
    edges = pd.DataFrame({"source": links.row[once], "target": links.col[once]}).map(lambda node: f"n{node}")
    order = np.random.default_rng(0).permutation(len(edges))
    edges.iloc[order].to_csv(folder / "edges.csv", index=False)
    return NetworkFiles(graph, names, folder / "features.csv", folder / "edges.csv")


@pytest.fixture(scope="session")
def run() -> Callable[..., Result]:
    """Run the command in this process."""

    def invoke(*arguments: object) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke
