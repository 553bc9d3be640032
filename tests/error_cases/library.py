"""Bad features, graphs and parameters passed to the library; a check that functions share is tested with one of them.

The checks of features and graphs are tested in tests/inputs; a few are repeated here, to test that `fit` applies them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.feature_selection import VarianceThreshold

from blockselect import (
    BMGUFS,
    BlockModel,
    BlockModelSelector,
    Descent,
    RowChunks,
    as_adjacency,
    check_attributed_graph,
    compare_methods,
    discover_features,
    evaluate_selection,
    find_block_models,
    make_attributed_blocks,
    make_selector,
    plot,
    selection_stability,
)
from blockselect.evaluation import classify_selection, hide_links, predict_links
from blockselect.inputs import nearest_neighbour_graph
from blockselect.report import make_report
from error_cases.case import N_NODES, Case, adjacency, edge_table, feature_table, features, network, with_entry

X, A = features(), adjacency()
TABLE, EDGES = feature_table(), edge_table()
CLASSES = np.arange(N_NODES) % 2
BY_ID = pd.Series(CLASSES, index=TABLE.index)
MATRIX = pd.DataFrame(A, index=TABLE.index, columns=TABLE.index)
MASKED = np.ma.masked_array(CLASSES, mask=CLASSES == 1)
MIXED = np.array([*CLASSES[1:], "a"], dtype=object)
SCORES = np.ones(12)

Row = tuple[str, Callable[[], Any], tuple[str, ...]]  # what was done, the call, words of the message

BAD_FEATURES: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("NaN", with_entry(X, np.nan), ("NaN", "impute or drop")),
    ("text", with_entry(X, "many"), ("'many'",)),
    ("one dimension", X[:, 0], ("(24,)", "one row per node", "Reshape your data")),
    ("a dict", {"a": [1, 2]}, ("of type dict", "pandas.DataFrame")),
    ("the path of a file", Path("f.csv"), ("read_features(path)",)),
)
BAD_GRAPHS: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("NaN", with_entry(A, np.nan), ("NaN",)),
    ("not square", A[:, :5], ("square",)),
    ("other nodes", np.ones((5, 5)), ("5 nodes", "24 rows")),
    ("an edge table of one column", EDGES[["source"]], ()),
)
BAD_PARAMETERS: tuple[tuple[type, str, Any], ...] = (
    (BlockModelSelector, "n_features_to_select", 0),
    (BlockModelSelector, "n_features_to_select", True),
    (BlockModelSelector, "n_blocks", 2.5),
    (BlockModelSelector, "random_state", "seed"),
    (BlockModelSelector, "n_jobs", 0),
    (BMGUFS, "profile_ratio", float("nan")),
    (BMGUFS, "solver", "fast"),
    (Descent, "gradient", "approximate"),
)
NO_WHOLE_NUMBERS: tuple[tuple[str, Callable[[Any], Any], str, Any], ...] = (
    # function, call, parameter, value: of functions, which have no constraints as estimators do
    ("find_block_models", lambda v: _models(n_blocks=v), "n_blocks", None),
    ("discover_features", lambda v: discover_features(X, adjacency=A, n_permutations=v), "n_permutations", 2),
    ("selection_stability", lambda v: _stability(fitted(), n_resamples=v), "n_resamples", 2),
    ("nearest_neighbour_graph", lambda v: nearest_neighbour_graph(X, v), "n_neighbors", float("nan")),
    ("evaluate_selection", lambda v: _evaluate(first_seed=v), "first_seed", 2**32),
    ("classify_selection", lambda v: _classify(n_labels=v), "n_labels", 0),
    ("predict_links", lambda v: predict_links(X, hide_links(A), [0], n_runs=v), "n_runs", [3]),
    ("compare_methods", lambda v: _compare(numbers=[v]), "n_features", 99),
)
OTHER_ARGUMENTS: tuple[Row, ...] = (
    ("fit: a network by position", lambda: _fit(X, network()), ("y ", "by name")),
    ("fit: a matrix with names beside rows without", lambda: _fit(X, adjacency=MATRIX), ("no ids", "as_adjacency(")),
    ("fit: 99 features", lambda: BlockModelSelector(99).fit(X, adjacency=A), ("n_features_to_select is 99", "12")),
    ("fit: 99 blocks", lambda: BMGUFS(3, n_blocks=99).fit(X, adjacency=A), ("n_blocks is 99", "24")),
    ("fit: BMGUFS without n_blocks", lambda: BMGUFS(3).fit(X, adjacency=A), ("n_blocks",)),
    ("fit: labels of other nodes", lambda: _fit_blocks([0, 1]), ("2 block labels", "24 nodes")),
    ("fit: masked labels", lambda: _fit_blocks(MASKED), ("masked", "first node 1")),
    (
        "fit: a block model of complex density",
        lambda: _fit_blocks(BlockModel(CLASSES, np.ones((2, 2)) + 1j, 0.5)),
        ("density", "complex"),
    ),
    ("fit: chunks whose columns differ", lambda: _fit_chunks([TABLE[:9], TABLE.iloc[9:, ::-1]]), ("chunk 1",)),
    ("transform: other features", lambda: fitted().transform(X[:, :3]), ("features",)),
    ("transform: chunks", lambda: fitted().transform(RowChunks.from_blocks([X])), ("transform or predict each chunk",)),
    ("make_selector: an unknown method", lambda: make_selector("mcf", 3), ("'mcf'", "Did you mean mcfs?")),
    ("find_block_models: no features to smooth", lambda: _models(family="smoothed"), ("pass features",)),
    (
        "find_block_models: features in another order than the graph",
        lambda: find_block_models(MATRIX, 3, rng=0, family="smoothed", features=TABLE[::-1]),
        ("features and the graph", "features.loc[ids]"),
    ),
    ("check_attributed_graph: the same id twice", lambda: _check(node_ids=["n1"] * N_NODES), ("n1", "unique")),
    ("check_attributed_graph: a set of ids", lambda: _check(node_ids=set(BY_ID.index)), ("type set", "in the order")),
    ("as_adjacency: a table as nodes", lambda: as_adjacency(EDGES, nodes=TABLE), ("a DataFrame", "table.index")),
    ("as_adjacency: half a node", lambda: as_adjacency([(0, 1)], nodes=2.5), ("nodes is 2.5",)),
    ("as_adjacency: the weight of a matrix", lambda: as_adjacency(A, weight="w"), ("weight is 'w'",)),
    ("as_adjacency: pairs and triples", lambda: as_adjacency([(0, 1), (1, 2, 5.0)], nodes=3), ("1 of 2 edges",)),
    ("as_adjacency: pairs of fractions", lambda: as_adjacency(np.eye(3)[:, :2], nodes=4), ("pairs.astype(int)",)),
    ("as_adjacency: PyG, an unknown weight", lambda: as_adjacency(_pyg(), weight="w"), ("choose another",)),
    ("as_adjacency: PyG, no number of nodes", lambda: as_adjacency(_pyg(num_nodes=None)), ("num_nodes", "set it")),
    ("from_labels: another order", lambda: BlockModel.from_labels(MATRIX, BY_ID[::-1]), ("labels.loc[ids]",)),
    (
        "make_attributed_blocks: complex weights",
        lambda: make_attributed_blocks(60, 2, block_weights=np.array([1j, 1])),
        ("block_weights is of type complex128",),
    ),
    ("RowChunks.from_npy: empty chunks", lambda: RowChunks.from_npy("f.npy", rows_per_chunk=0), ("per_chunk is 0",)),
    ("discover_features: a level of 2", lambda: discover_features(X, adjacency=A, level=2), ("between 0 and 1",)),
    ("selection_stability: VarianceThreshold", lambda: _stability(VarianceThreshold().fit(X)), ("VarianceThreshold",)),
    (
        "show_report: a stability of NaN",
        lambda: fitted().show_report(stability=np.full(12, np.nan)),
        ("stability contains nan", "between 0 and 1"),
    ),
    ("evaluate_selection: NaN", lambda: _evaluate(with_entry(X, np.nan), selected=[1, 3]), ("row 2, column 3",)),
    ("evaluate_selection: a NaN class", lambda: _evaluate(classes=[np.nan, *CLASSES[1:]]), ("contain NaN", "node 0")),
    ("evaluate_selection: mixed classes", lambda: _evaluate(classes=MIXED), ("classes mix values", "str)")),
    ("evaluate_selection: classes by id", lambda: _evaluate(classes=BY_ID), ("have no ids", "to_numpy()")),
    ("evaluate_selection: others' classes", lambda: _evaluate(TABLE, BY_ID.rename({"n0": "m0"})), ("Series", "'n0'")),
    ("hide_links: all links", lambda: hide_links(A, share=1), ("share is 1",)),
    ("compare_methods: one name", lambda: _compare(methods="variance"), ("['variance']",)),
    ("compare_methods: an unknown protocol", lambda: _compare(protocol="cluster"), ("Did you mean clustering?",)),
    ("plot.block_densities: no blocks", lambda: plot.block_densities(by_features()), ("VarianceScore", "no blocks")),
    ("plot.scores: not fitted", lambda: plot.scores(BlockModelSelector(3)), ("not fitted yet",)),
    ("plot.scores: text", lambda: plot.scores(["a", "b"]), ("source", "'a'")),
    ("plot.scores: too short a mask", lambda: plot.scores(SCORES, support=[True]), ("shape (1,)", "12 features")),
    ("plot.scores: no axes", lambda: plot.scores(SCORES, 3), ("ax is of type int", "plt.subplots")),
    ("plot.compare: nothing", lambda: plot.compare({}), ("a value of nmi",)),
    ("make_report: swapped", lambda: make_report(network()), ("selector is of type AttributedGraph",)),
)


@cache
def fitted() -> BMGUFS:
    return BMGUFS(3, n_blocks=3, n_candidates=2, random_state=0).fit(TABLE, adjacency=MATRIX)


@cache
def by_features() -> Any:
    return make_selector("variance", 3).fit(TABLE)


def _fit(x: Any, y: Any = None, **graph: Any) -> Any:
    return BlockModelSelector(3, random_state=0).fit(x, y, **graph)


def _fit_blocks(block_model: Any) -> Any:
    return BlockModelSelector(3, block_model=block_model).fit(X, adjacency=A)


def _fit_chunks(chunks: list[Any]) -> Any:
    return BMGUFS(3, n_blocks=3).fit(RowChunks.from_blocks(chunks), adjacency=A)


def _fit_with(kind: type, name: str, value: Any) -> Any:
    if kind is Descent:
        return BMGUFS(3, n_blocks=3, solver=Descent(**{name: value})).fit(X, adjacency=A)
    return kind(**{"n_features_to_select": 3, name: value}).fit(X, adjacency=A)


def _check(**settings: Any) -> Any:
    return check_attributed_graph(X, A, **settings)


def _models(n_blocks: Any = 3, **settings: Any) -> Any:
    return find_block_models(A, n_blocks, rng=0, **settings)


def _stability(selector: Any, **settings: Any) -> Any:
    return selection_stability(selector, TABLE, adjacency=MATRIX, **settings)


def _evaluate(x: Any = X, classes: Any = CLASSES, selected: Any = (0,), **settings: Any) -> Any:
    return evaluate_selection(x, classes, selected, **settings)


def _classify(graph: Any = A, **settings: Any) -> Any:
    return classify_selection(X, CLASSES, [0], adjacency=graph, **settings)


def _compare(methods: Any = ("variance",), numbers: Any = (3,), **settings: Any) -> Any:
    return compare_methods(_check(classes=CLASSES), methods=methods, n_features=numbers, n_blocks=3, **settings)


def _pyg(**changes: Any) -> Any:
    """An object that looks like the data of PyTorch Geometric."""
    return SimpleNamespace(**{"edge_index": np.array([[0, 1], [1, 2]]), "num_nodes": 3, **changes})


def _cases() -> list[Case]:
    rows = [
        *((f"features: {what}", lambda x=bad: _fit(x, adjacency=A), words) for what, bad, words in BAD_FEATURES),
        *((f"graph: {what}", lambda a=bad: _fit(TABLE, adjacency=a), words) for what, bad, words in BAD_GRAPHS),
        *(
            (f"{kind.__name__}({name}={value!r})", lambda k=kind, n=name, v=value: _fit_with(k, n, v), (name, "Got"))
            for kind, name, value in BAD_PARAMETERS
        ),
        *(
            (f"{function}({name}={value!r})", lambda c=call, v=value: c(v), (f"{name} is {value!r}", "whole number"))
            for function, call, name, value in NO_WHOLE_NUMBERS
        ),
        *OTHER_ARGUMENTS,
    ]
    return [Case(title, words, lambda _folder, c=call: _closed(c)) for title, call, words in rows]


def _closed(call: Callable[[], Any]) -> Any:
    """Call, and close all figures."""
    try:
        return call()
    finally:
        plt.close("all")


LIBRARY_CASES = tuple(_cases())
