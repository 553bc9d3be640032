"""Case: a bad input and the error that it must cause; and the small network that the cases modify."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from blockselect import AttributedGraph, make_attributed_blocks

N_NODES, N_FEATURES = 24, 12


@dataclass(frozen=True)
class Case:
    """A bad input. It is run in an empty folder, must fail with this error, and must not change the folder."""

    title: str  # what was done
    words: tuple[str, ...]  # the message contains all of them
    call: Callable[[Path], Any] | None = None  # of the library, given the folder
    error: type[Exception] = ValueError
    arguments: tuple[str, ...] = ()  # of the command; {features}, {edges}, {classes}, {folder} stand for paths
    files: tuple[tuple[str, bytes], ...] = ()  # exist in the folder beforehand


@cache
def network() -> AttributedGraph:
    """24 nodes in three blocks and 12 features; cases modify copies of it."""
    return make_attributed_blocks(
        N_NODES, 3, n_informative=4, n_redundant=2, n_noise=6, mean_degree=6, random_state=1
    ).graph


def features() -> Any:
    return network().features.toarray()


def adjacency() -> Any:
    return network().adjacency.toarray()


def feature_table() -> pd.DataFrame:
    ids = [f"n{node}" for node in range(N_NODES)]
    return pd.DataFrame(features(), index=ids, columns=[f"f{column}" for column in range(N_FEATURES)])


def edge_table() -> pd.DataFrame:
    rows, columns = np.nonzero(np.triu(adjacency()))
    return pd.DataFrame({"source": rows, "target": columns}).map(lambda node: f"n{node}")


def with_entry(matrix: Any, value: Any, row: int = 2, column: int = 3) -> Any:
    spoiled = matrix.astype(np.result_type(matrix, np.asarray(value)) if not isinstance(value, str) else object)
    spoiled[row, column] = value
    return spoiled
