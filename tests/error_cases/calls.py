"""Calls of public functions and methods with arguments that they cannot take."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy import sparse
from sklearn.feature_selection import VarianceThreshold

from blockselect import (
    BMGUFS,
    BlockModel,
    BlockModelSelector,
    RowChunks,
    SignedSelector,
    as_adjacency,
    check_attributed_graph,
    discover_features,
    evaluate_selection,
    find_block_models,
    make_attributed_blocks,
    make_selector,
    plot,
    selection_stability,
)
from blockselect.evaluation import (
    classify_selection,
    clustering_accuracy,
    hide_links,
    normalized_mutual_information,
    predict_links,
)
from blockselect.evaluation.comparison import compare_methods
from blockselect.graphs import nearest_neighbour_graph
from blockselect.report import make_report, summarize
from error_cases.case import N_NODES, Case, adjacency, edge_table, feature_table, features, network, with_entry

X, A = features(), adjacency()
TABLE, EDGES = feature_table(), edge_table()
CLASSES = np.arange(N_NODES) % 2
BY_ID = pd.Series(CLASSES, index=TABLE.index)
MATRIX = pd.DataFrame(A, index=TABLE.index, columns=TABLE.index)
MASKED = np.ma.masked_array(X, mask=np.eye(*X.shape))
HALF = np.ma.masked_array(CLASSES, mask=CLASSES == 1)
UNKNOWN = np.where(CLASSES == 1, np.nan, 0.0)
ARGUMENT = (None, "3", True, 1.5, float("nan"), [3])  # none of them a whole number

Row = tuple[str, Callable[[], Any], tuple[str, ...]]


@cache
def fitted() -> BMGUFS:
    return BMGUFS(3, n_blocks=3, n_candidates=2, random_state=0).fit(TABLE, adjacency=MATRIX)


@cache
def fitted_default() -> BlockModelSelector:
    return BlockModelSelector(3, n_blocks=3, n_candidates=2, random_state=0).fit(TABLE, adjacency=MATRIX)


def bad_targets() -> list[tuple[str, Any]]:
    return [
        ("a network of this package", network()),
        ("a planted network", make_attributed_blocks(60, 3, random_state=0)),
        ("a set of edges", {(0, 1), (1, 2)}),
        ("a dict of neighbours", {0: [1]}),
        ("a view of neighbours", networkx.path_graph(3).adj),
        ("a generator of edges", (edge for edge in [(0, 1)])),
        ("the path of a file", Path("graph.csv")),
        ("the name of a file", "graph.csv"),
        ("a block model", BlockModel.from_labels(A, CLASSES)),
        ("a number", 3),
        ("too few values", CLASSES[:5]),
    ]


def no_features() -> list[tuple[str, Any, tuple[str, ...]]]:
    return [
        ("a dict", {"a": [1, 2]}, ("of type dict", "pandas.DataFrame")),
        ("a set", {1, 2}, ("of type set", "one row a node")),
        ("a generator", (row for row in X), ("of type generator",)),
        ("a network", network(), ("AttributedGraph", "fit(graph.features, adjacency=graph.adjacency)")),
        ("the path of a file", Path("f.csv"), ("read_features(path)",)),
        ("the name of a file", "f.csv", ("of type str", "read_features(path)")),
        ("a number", 3, ("of type int",)),
    ]


def of_selectors() -> list[Case]:
    cases = []
    for method in ("block-model", "bmgufs", "variance", "morans-i"):
        selector = make_selector(method, 3, n_blocks=3, random_state=0)
        for what, y in bad_targets():
            cases.append(Case("Graph", f"{method}: {what} by position", ("y ", "by name"), _call(selector.fit, X, y)))
        for what, bad, words in no_features():
            cases.append(Case("Features", f"{method}: {what} as features", words, _call(selector.fit, bad)))
        if method in ("block-model", "bmgufs"):
            labelled = type(selector)(3, block_model=HALF)
            words = ("masked", "first node 1")
            cases.append(Case("Parameters", f"{method}: masked labels", words, _call(labelled.fit, X, adjacency=A)))
            complex_density = BlockModel(CLASSES, np.ones((2, 2)) + 1j, 0.5)
            cases.append(
                Case(
                    "Parameters",
                    f"{method}: a block model of complex density",
                    ("density", "complex"),
                    _call(type(selector)(3, block_model=complex_density).fit, X, adjacency=A),
                )
            )
        cases.append(
            Case(
                "Parameters",
                f"{method}: True features",
                ("n_features_to_select", "Got True"),
                _call(make_selector(method, True, n_blocks=3).fit, X),
            )
        )
    return cases


def whole_numbers() -> list[Case]:
    """Parameters that are whole numbers, of functions that have no constraints as estimators do."""
    small: dict[str, Any] = {"n_blocks": 2, "n_candidates": 1, "n_permutations": 3, "random_state": 0}
    calls: list[tuple[str, Callable[[Any], Any], str, tuple[Any, ...]]] = [
        ("find_block_models", lambda v: find_block_models(A, v, rng=0), "n_blocks", (0,)),
        ("find_block_models", lambda v: find_block_models(A, 3, rng=0, n_candidates=v), "n_candidates", (0, -1)),
        ("find_block_models", lambda v: find_block_models(A, 3, rng=0, max_iter=v), "max_iter", (0, -1)),
        ("discover_features", lambda v: _discover(**{**small, "n_candidates": v}), "n_candidates", (0, -1)),
        ("discover_features", lambda v: _discover(**{**small, "n_permutations": v}), "n_permutations", (2,)),
        ("selection_stability", lambda v: _stability(fitted(), n_resamples=v), "n_resamples", (2,)),
        ("nearest_neighbour_graph", lambda v: nearest_neighbour_graph(X, v), "n_neighbors", (0,)),
        ("evaluate_selection", lambda v: evaluate_selection(X, CLASSES, [0], n_runs=v), "n_runs", (-1,)),
        ("evaluate_selection", lambda v: evaluate_selection(X, CLASSES, [0], n_init=v), "n_init", (0,)),
        ("evaluate_selection", lambda v: evaluate_selection(X, CLASSES, [0], first_seed=v), "first_seed", (-1, 2**32)),
        ("classify_selection", lambda v: _classify(n_labels=v), "n_labels", (0,)),
        ("classify_selection", lambda v: _classify(first_seed=v), "first_seed", (-1,)),
        ("predict_links", lambda v: predict_links(X, hide_links(A), [0], n_runs=v), "n_runs", (0,)),
        ("compare_methods", lambda v: _compare(n_runs=v), "n_runs", (0,)),
        ("compare_methods", lambda v: _compare(seed=v), "seed", (-1,)),
        ("compare_methods", lambda v: _compare(numbers=[v]), "numbers", (0, 99)),
    ]
    cases = []
    for name, call, parameter, more in calls:
        for value in (*ARGUMENT, *more):
            words = (f"{parameter} is {value!r}", "whole number")
            cases.append(Case("Parameters", f"{name}({parameter}={value!r})", words, _call(call, value)))
    return cases


def of_functions() -> list[tuple[str, list[Row]]]:
    """Area, and what was done, the call, words of the message."""
    rng = np.random.RandomState(0)
    return [
        (
            "Parameters",
            [
                (
                    "find_block_models: a list as family",
                    lambda: find_block_models(A, 3, rng=rng, family=["onmtf"]),
                    ("family is ['onmtf']",),
                ),
                (
                    "find_block_models: None as family",
                    lambda: find_block_models(A, 3, rng=rng, family=None),
                    ("family is None",),
                ),
                (
                    "find_block_models: no features for a family that reads them",
                    lambda: find_block_models(A, 3, rng=rng, family="smoothed"),
                    ("family is 'smoothed'", "pass features"),
                ),
                (
                    "find_block_models: no process",
                    lambda: find_block_models(A, 3, rng=rng, n_jobs=0),
                    ("n_jobs is 0", "other than 0"),
                ),
                (
                    "find_block_models: text as n_jobs",
                    lambda: find_block_models(A, 3, rng=rng, n_jobs="all"),
                    ("n_jobs is 'all'",),
                ),
                (
                    "find_block_models: eigenvectors of other nodes",
                    lambda: find_block_models(A, 3, rng=rng, eigenvectors=np.ones((3, 3))),
                    ("eigenvectors has shape (3, 3)", "24 nodes"),
                ),
                (
                    "find_block_models: eigenvectors with NaN",
                    lambda: find_block_models(A, 3, rng=rng, eigenvectors=np.full((N_NODES, 2), np.nan)),
                    ("eigenvectors holds nan",),
                ),
                (
                    "find_block_models: text as eigenvectors",
                    lambda: find_block_models(A, 3, rng=rng, eigenvectors="v"),
                    ("eigenvectors",),
                ),
                ("make_selector: a number as name", lambda: make_selector(3), ("no method is called 3",)),
                ("make_selector: None as name", lambda: make_selector(None), ("no method is called None",)),
                (
                    "BlockModelSelector.fit: no process",
                    lambda: BlockModelSelector(3, n_jobs=0).fit(X, adjacency=A),
                    ("n_jobs", "Got 0"),
                ),
                (
                    "BlockModelSelector.fit: True blocks",
                    lambda: BlockModelSelector(3, n_blocks=True).fit(X, adjacency=A),
                    ("n_blocks", "Got True"),
                ),
                (
                    "make_attributed_blocks: masked densities",
                    lambda: make_attributed_blocks(
                        60, 2, density=np.ma.masked_array([[0.1, 0.2], [0.2, 0.1]], mask=[[1, 0], [0, 0]])
                    ),
                    ("density", "masked"),
                ),
                (
                    "make_attributed_blocks: dates as weights",
                    lambda: make_attributed_blocks(60, 2, block_weights=pd.to_datetime(["2020", "2021"])),
                    ("block_weights is of type datetime64", "real numbers"),
                ),
                (
                    "make_attributed_blocks: complex weights",
                    lambda: make_attributed_blocks(60, 2, block_weights=np.array([1j, 1])),
                    ("block_weights is of type complex128",),
                ),
                (
                    "discover_features: a share as text",
                    lambda: discover_features(X, adjacency=A, level="0.1"),
                    ("level is '0.1'", "between 0 and 1"),
                ),
                (
                    "discover_features: True as level",
                    lambda: discover_features(X, adjacency=A, level=True),
                    ("level is True",),
                ),
                ("hide_links: all links", lambda: hide_links(A, share=1), ("share is 1",)),
                ("hide_links: text as share", lambda: hide_links(A, share="some"), ("share is 'some'",)),
                (
                    "hide_links: a generator as random_state",
                    lambda: hide_links(A, random_state=np.random.default_rng(0)),
                    ("random_state is Generator", "RandomState"),
                ),
                ("hide_links: a negative seed", lambda: hide_links(A, random_state=-1), ("random_state is -1",)),
                (
                    "predict_links: a graph as split",
                    lambda: predict_links(X, A, [0]),
                    ("split is of type ndarray", "hide_links(adjacency)"),
                ),
                (
                    "compare_methods: features as graph",
                    lambda: compare_methods(X, ["variance"], [3], n_blocks=3),
                    ("graph is of type ndarray", "check_attributed_graph"),
                ),
                (
                    "compare_methods: one name",
                    lambda: _compare(methods="variance"),
                    ("methods is 'variance'", "['variance']"),
                ),
                (
                    "compare_methods: an unknown name",
                    lambda: _compare(methods=["varianz"]),
                    ("'varianz'", "Did you mean variance?"),
                ),
                ("compare_methods: one number", lambda: _compare(numbers=3), ("numbers is 3", "a list")),
                ("compare_methods: no number", lambda: _compare(numbers=[]), ("numbers is []",)),
                ("compare_methods: no process", lambda: _compare(n_jobs=0), ("n_jobs is 0",)),
                (
                    "compare_methods: an unknown protocol",
                    lambda: _compare(protocol="cluster"),
                    ("'cluster'", "Did you mean clustering?"),
                ),
                (
                    "selection_stability: a selector of another package",
                    lambda: _stability(VarianceThreshold().fit(X)),
                    ("selector is of type VarianceThreshold",),
                ),
                ("selection_stability: a name", lambda: _stability("morans-i"), ("selector is of type str",)),
                (
                    "evaluate_selection: text as n_jobs",
                    lambda: evaluate_selection(X, CLASSES, [0], n_jobs="2"),
                    ("n_jobs is '2'",),
                ),
                (
                    "evaluate_selection: no process",
                    lambda: evaluate_selection(X, CLASSES, [0], n_jobs=0),
                    ("n_jobs is 0",),
                ),
                (
                    "check_attributed_graph: whole numbers as dtype",
                    lambda: check_attributed_graph(X, A, dtype="int8"),
                    ("dtype is 'int8'", "float"),
                ),
                (
                    "check_attributed_graph: an unknown dtype",
                    lambda: check_attributed_graph(X, A, dtype="fl"),
                    ("dtype is 'fl'",),
                ),
                (
                    "evaluate_selection: no row",
                    lambda: evaluate_selection(X[:0], [], [0]),
                    ("no row",),
                ),
                (
                    "evaluate_selection: masked columns",
                    lambda: evaluate_selection(X, CLASSES, np.ma.masked_array([0, 1], mask=[1, 0])),
                    ("selected has 1 masked",),
                ),
                (
                    "evaluate_selection: a column of many digits",
                    lambda: evaluate_selection(X, CLASSES, [10**30]),
                    ("selected holds 1000", "whole numbers from 0 to 11"),
                ),
                (
                    "evaluate_selection: classes without a value",
                    lambda: evaluate_selection(X, UNKNOWN, [0]),
                    ("classes hold NaN", "first node 1"),
                ),
                (
                    "evaluate_selection: None among the classes",
                    lambda: evaluate_selection(X, [None, *CLASSES[1:]], [0]),
                    ("classes hold NaN, None", "first node 0"),
                ),
                (
                    "evaluate_selection: masked classes",
                    lambda: evaluate_selection(X, HALF, [0]),
                    ("classes hold NaN, None or masked",),
                ),
                (
                    "evaluate_selection: numbers and text as classes",
                    lambda: evaluate_selection(X, np.array([*CLASSES[1:], "a"], dtype=object), [0]),
                    ("classes mix values", "str)"),
                ),
                (
                    "evaluate_selection: classes by numbers in another order",
                    lambda: evaluate_selection(X, pd.Series(CLASSES)[::-1], [0]),
                    ("classes is a Series", "to_numpy()"),
                ),
                (
                    "evaluate_selection: classes by id beside an array without ids",
                    lambda: evaluate_selection(X, BY_ID, [0]),
                    ("classes is a Series", "have no ids", "to_numpy()"),
                ),
                (
                    "evaluate_selection: classes of other nodes by id",
                    lambda: evaluate_selection(TABLE, BY_ID.rename({"n0": "m0"}), [0]),
                    ("classes is a Series", "'n0'"),
                ),
                (
                    "classify_selection: classes without a value",
                    lambda: classify_selection(X, UNKNOWN, [0], adjacency=A),
                    ("classes hold NaN",),
                ),
                (
                    "check_attributed_graph: None among the classes",
                    lambda: check_attributed_graph(X, A, classes=[None] * N_NODES),
                    ("classes hold NaN, None",),
                ),
                (
                    "check_attributed_graph: masked classes",
                    lambda: check_attributed_graph(X, A, classes=HALF),
                    ("masked",),
                ),
                (
                    "check_attributed_graph: a set of classes",
                    lambda: check_attributed_graph(X, A, classes={0, 1}),
                    ("classes is of type set", "in their order"),
                ),
                (
                    "check_attributed_graph: a set of ids",
                    lambda: check_attributed_graph(X, A, node_ids=set(TABLE.index)),
                    ("node_ids is of type set",),
                ),
                (
                    "check_attributed_graph: a set of names",
                    lambda: check_attributed_graph(X, A, feature_names=set(TABLE.columns)),
                    ("feature_names is of type set",),
                ),
                (
                    "check_attributed_graph: a number as ids",
                    lambda: check_attributed_graph(X, A, node_ids=3),
                    ("node_ids is of type int",),
                ),
                (
                    "check_attributed_graph: True neighbours",
                    lambda: check_attributed_graph(X, None, n_neighbors=True),
                    ("n_neighbors is True",),
                ),
                (
                    "BlockModel.from_labels: masked labels",
                    lambda: BlockModel.from_labels(A, HALF),
                    ("masked", "first node 1"),
                ),
                (
                    "BlockModel.from_labels: numbers and text",
                    lambda: BlockModel.from_labels(A, np.array([*CLASSES[1:], "a"], dtype=object)),
                    ("block labels mix", "str)"),
                ),
                (
                    "BlockModel.from_labels: labels in another order than the graph",
                    lambda: BlockModel.from_labels(MATRIX, BY_ID[::-1]),
                    ("labels and the graph", "labels.loc[ids]"),
                ),
                (
                    "BlockModel.perturb: text as fraction",
                    lambda: BlockModel.from_labels(A, CLASSES).perturb(A, "half", keep_density=True, rng=0),
                    ("fraction is 'half'",),
                ),
                (
                    "clustering_accuracy: Series in different orders",
                    lambda: clustering_accuracy(BY_ID, BY_ID[::-1]),
                    ("different indexes", "clusters.loc[classes.index]"),
                ),
                (
                    "clustering_accuracy: a class without a value",
                    lambda: clustering_accuracy([np.nan, 1], [0, 1]),
                    ("classes hold NaN",),
                ),
                (
                    "clustering_accuracy: masked clusters",
                    lambda: clustering_accuracy(CLASSES, HALF),
                    ("clusters hold NaN, None or masked",),
                ),
                (
                    "normalized_mutual_information: numbers and text",
                    lambda: normalized_mutual_information(np.array([1, "b"], dtype=object), [0, 1]),
                    ("classes mix values",),
                ),
                (
                    "RowChunks.from_npy: no row in a chunk",
                    lambda: RowChunks.from_npy("f.npy", rows_per_chunk=0),
                    ("rows_per_chunk is 0",),
                ),
                (
                    "RowChunks.from_anndata: an array",
                    lambda: RowChunks.from_anndata(X),
                    ("adata is of type ndarray", "AnnData"),
                ),
            ],
        ),
        (
            "Features",
            [
                (
                    "find_block_models: features in another order than the graph",
                    lambda: find_block_models(MATRIX, 3, rng=rng, family="smoothed", features=TABLE[::-1]),
                    ("features and the graph", "features.loc[ids]"),
                ),
                (
                    "nearest_neighbour_graph: NaN",
                    lambda: nearest_neighbour_graph(with_entry(X, np.nan)),
                    ("row 2, column 3", "impute or drop"),
                ),
                (
                    "nearest_neighbour_graph: masked values",
                    lambda: nearest_neighbour_graph(MASKED),
                    ("masked", "row 0, column 0"),
                ),
                (
                    "nearest_neighbour_graph: dates",
                    lambda: nearest_neighbour_graph(X.astype("datetime64[D]")),
                    ("datetime64", "encode"),
                ),
                ("nearest_neighbour_graph: one dimension", lambda: nearest_neighbour_graph(X[0]), ("1 dimension",)),
                (
                    "nearest_neighbour_graph: None",
                    lambda: nearest_neighbour_graph(None),
                    ("features is of type NoneType",),
                ),
                (
                    "nearest_neighbour_graph: a graph",
                    lambda: nearest_neighbour_graph(networkx.path_graph(3)),
                    ("Graph", "a graph"),
                ),
                (
                    "evaluate_selection: NaN",
                    lambda: evaluate_selection(with_entry(X, np.nan), CLASSES, [1, 3]),
                    ("row 2, column 3", "impute or drop"),
                ),
                (
                    "evaluate_selection: infinity, sparse",
                    lambda: evaluate_selection(sparse.csr_array(with_entry(X, np.inf)), CLASSES, [1, 3]),
                    ("row 2, column 3",),
                ),
                (
                    "evaluate_selection: masked values",
                    lambda: evaluate_selection(MASKED, CLASSES, [0]),
                    ("features has 12 masked",),
                ),
                (
                    "evaluate_selection: None",
                    lambda: evaluate_selection(None, CLASSES, [0]),
                    ("features is of type NoneType",),
                ),
                (
                    "evaluate_selection: a network",
                    lambda: evaluate_selection(network(), CLASSES, [0]),
                    ("features is of type AttributedGraph",),
                ),
                (
                    "predict_links: NaN",
                    lambda: predict_links(with_entry(X, np.nan), hide_links(A), [3]),
                    ("row 2, column 3",),
                ),
                (
                    "BMGUFS.fit: chunks whose columns differ",
                    lambda: _fit_chunks([TABLE[:9], TABLE.iloc[9:, ::-1]]),
                    ("chunk 1", "chunk[columns]"),
                ),
                (
                    "BMGUFS.transform: chunks",
                    lambda: fitted().transform(RowChunks.from_blocks([X])),
                    ("RowChunks", "transform each chunk"),
                ),
                (
                    "SignedSelector.fit: a dict",
                    lambda: SignedSelector(BMGUFS(3, n_blocks=3)).fit({"a": [1]}, adjacency=A),
                    ("of type dict",),
                ),
            ],
        ),
        (
            "Graph",
            [
                (
                    "as_adjacency: a set of nodes",
                    lambda: as_adjacency(EDGES, nodes=set(TABLE.index)),
                    ("nodes is of type set", "in their order"),
                ),
                (
                    "as_adjacency: a table as nodes",
                    lambda: as_adjacency(EDGES, nodes=TABLE),
                    ("nodes is a DataFrame", "table.index"),
                ),
                ("as_adjacency: no node", lambda: as_adjacency([(0, 1)], nodes=0), ("nodes is 0",)),
                ("as_adjacency: half a node", lambda: as_adjacency([(0, 1)], nodes=2.5), ("nodes is 2.5",)),
                ("as_adjacency: True nodes", lambda: as_adjacency([(0, 1)], nodes=True), ("nodes is True",)),
                ("as_adjacency: rows of numbers as nodes", lambda: as_adjacency(EDGES, nodes=X), ("node id of row 0",)),
                (
                    "as_adjacency: a weight of a matrix",
                    lambda: as_adjacency(A, weight="strength"),
                    ("weight is 'strength'", "entries of a matrix"),
                ),
                (
                    "as_adjacency: a weight of a sparse matrix",
                    lambda: as_adjacency(sparse.csr_array(A), weight="strength"),
                    ("weight is 'strength'",),
                ),
                (
                    "as_adjacency: a list as weight of networkx",
                    lambda: as_adjacency(networkx.path_graph(3), weight=["w"]),
                    ("weight is ['w']",),
                ),
                (
                    "as_adjacency: pairs and triples",
                    lambda: as_adjacency([(0, 1), (1, 2, 5.0)], nodes=3),
                    ("1 of 2 edges are pairs", "or to none"),
                ),
                ("as_adjacency: a list for a node", lambda: as_adjacency([([0], 1)], nodes=3), ("names a node [0]",)),
                (
                    "as_adjacency: pairs of fractions",
                    lambda: as_adjacency(np.array([[0.0, 1], [1, 2], [0, 2]]), nodes=4),
                    ("shape (3, 2)", "pairs.astype(int)"),
                ),
                (
                    "as_adjacency: an unknown weight of PyTorch Geometric",
                    lambda: as_adjacency(_data(), weight="strength"),
                    ("weight is 'strength'", "choose another"),
                ),
                (
                    "as_adjacency: too few weights of PyTorch Geometric",
                    lambda: as_adjacency(_data(edge_weight=np.ones(1))),
                    ("1 weights for 2 edges",),
                ),
                (
                    "as_adjacency: PyTorch Geometric without a number of nodes",
                    lambda: as_adjacency(_data(num_nodes=None)),
                    ("num_nodes", "set it"),
                ),
                ("classify_selection: no graph", lambda: _classify(graph=None), ("adjacency is missing",)),
                (
                    "classify_selection: the graph of other nodes",
                    lambda: _classify(graph=np.ones((5, 5))),
                    ("5 nodes", "24 rows"),
                ),
                ("classify_selection: no square", lambda: _classify(graph=A[:, :5]), ("square",)),
                (
                    "classify_selection: a negative weight",
                    lambda: _classify(graph=with_entry(A, -1.0)),
                    ("negative weight",),
                ),
                ("classify_selection: NaN", lambda: _classify(graph=with_entry(A, np.nan)), ("NaN", "node 2")),
                ("hide_links: no graph", lambda: hide_links(None), ("adjacency is missing",)),
                ("hide_links: no square", lambda: hide_links(A[:, :5]), ("square",)),
                ("hide_links: NaN", lambda: hide_links(with_entry(A, np.nan)), ("NaN", "node 2")),
                ("hide_links: an edge table", lambda: hide_links(EDGES), ("table", "name them")),
            ],
        ),
        (
            "After a fit",
            [
                (
                    "selection_stability: without the graph",
                    lambda: selection_stability(fitted_default(), TABLE),
                    ("adjacency is missing",),
                ),
                (
                    "selection_stability: other features",
                    lambda: selection_stability(fitted(), TABLE.iloc[:, :5], adjacency=MATRIX),
                    ("5 features", "fitted to 12"),
                ),
                (
                    "selection_stability: columns in another order",
                    lambda: selection_stability(fitted(), TABLE.iloc[:, ::-1], adjacency=MATRIX),
                    ("names its columns otherwise",),
                ),
                (
                    "selection_stability: rows in another order",
                    lambda: selection_stability(fitted(), TABLE[::-1], adjacency=MATRIX),
                    ("names its rows otherwise",),
                ),
                (
                    "selection_stability: other nodes",
                    lambda: selection_stability(fitted_default(), X[:20], adjacency=A[:20, :20]),
                    ("20 rows", "24 nodes"),
                ),
                ("table: other features", lambda: fitted().table(X[:, :5]), ("5 features", "fitted to 12")),
                (
                    "table: columns in another order",
                    lambda: fitted().table(TABLE.iloc[:, ::-1]),
                    ("names its columns otherwise",),
                ),
                ("table: rows in another order", lambda: fitted().table(TABLE[::-1]), ("names its rows otherwise",)),
                ("table: other nodes", lambda: fitted().table(X[:5]), ("5 rows", "24 nodes")),
                ("show_report: without the graph", lambda: fitted().show_report(TABLE), ("adjacency is missing",)),
                (
                    "show_report: columns in another order",
                    lambda: fitted().show_report(TABLE.iloc[:, ::-1], adjacency=MATRIX),
                    ("names its columns otherwise",),
                ),
                (
                    "show_report: rows in another order",
                    lambda: fitted().show_report(TABLE[::-1], adjacency=MATRIX),
                    ("names its rows otherwise",),
                ),
                (
                    "show_report: a stability of NaN",
                    lambda: fitted().show_report(TABLE, adjacency=MATRIX, stability=np.full(12, np.nan)),
                    ("stability holds nan", "between 0 and 1"),
                ),
                (
                    "show_report: a stability above 1",
                    lambda: fitted().show_report(TABLE, adjacency=MATRIX, stability=np.full(12, 2.0)),
                    ("stability holds 2.0",),
                ),
                (
                    "show_report: text as stability",
                    lambda: fitted().show_report(TABLE, adjacency=MATRIX, stability=["a"] * 12),
                    ("stability holds 'a'",),
                ),
            ],
        ),
    ]


def of_plots() -> list[Row]:
    scores = np.ones(12)
    by_features, unfitted = make_selector("variance", 3).fit(TABLE), BlockModelSelector(3)
    whole = tuple(range(12))
    return [
        (
            "plot.block_densities: a selector without blocks",
            lambda: plot.block_densities(by_features),
            ("VarianceScore", "no blocks"),
        ),
        (
            "plot.ordered_adjacency: a selector without blocks",
            lambda: plot.ordered_adjacency(by_features),
            ("no blocks",),
        ),
        ("plot.losses: a selector without losses", lambda: plot.losses(by_features), ("no losses",)),
        (
            "plot.candidates: a selector without candidates",
            lambda: plot.candidates(fitted()),
            ("BMGUFS", "no candidates"),
        ),
        ("plot.scores: not fitted", lambda: plot.scores(unfitted), ("not fitted yet",)),
        ("plot.losses: not fitted", lambda: plot.losses(unfitted), ("not fitted yet",)),
        ("plot.features_by_block: not fitted", lambda: plot.features_by_block(unfitted), ("not fitted yet",)),
        ("plot.scores: text", lambda: plot.scores(["a", "b"]), ("source holds 'a'",)),
        ("plot.scores: a matrix", lambda: plot.scores(X), ("source has shape (24, 12)",)),
        ("plot.scores: no score", lambda: plot.scores([]), ("source has shape (0,)",)),
        (
            "plot.scores: too short a mask",
            lambda: plot.scores(scores, support=[True]),
            ("support has shape (1,)", "12 features"),
        ),
        (
            "plot.scores: too few names",
            lambda: plot.scores(scores, feature_names=["a"]),
            ("1 feature names", "12 columns"),
        ),
        ("plot.scores: too short a ranking", lambda: plot.scores(scores, ranking=[1, 2]), ("ranking has shape (2,)",)),
        ("plot.scores: no feature shown", lambda: plot.scores(scores, n_shown=0), ("n_shown is 0",)),
        ("plot.scores: no axes", lambda: plot.scores(scores, 3), ("ax is of type int", "plt.subplots")),
        ("plot.stability: text", lambda: plot.stability("high"), ("source",)),
        (
            "plot.stability: too short a mask",
            lambda: plot.stability(scores, support=[True]),
            ("support has shape (1,)",),
        ),
        (
            "plot.block_densities: no square",
            lambda: plot.block_densities(np.ones((2, 3))),
            ("source has shape (2, 3)", "one column"),
        ),
        (
            "plot.block_densities: too few sizes",
            lambda: plot.block_densities(np.eye(3), sizes=[1]),
            ("sizes has 1 entries for 3 blocks",),
        ),
        ("plot.block_densities: None", lambda: plot.block_densities(None), ("source",)),
        ("plot.features_by_block: one dimension", lambda: plot.features_by_block(scores), ("source has shape (12,)",)),
        ("plot.losses: an array", lambda: plot.losses(scores), ("source is of type ndarray", "history_")),
        ("plot.losses: a dict without losses", lambda: plot.losses({"loss": [1]}), ("source is of type dict",)),
        ("plot.candidates: an array", lambda: plot.candidates(scores), ("no column family", "candidates_table_")),
        ("plot.candidates: text", lambda: plot.candidates("mixed"), ("no column family",)),
        ("plot.compare: text as values", lambda: plot.compare({"a": "much"}), ("source holds 'much'",)),
        ("plot.compare: nothing", lambda: plot.compare({}), ("a value of nmi",)),
        ("plot.explained: an array", lambda: plot.explained(scores), ("n_features",)),
        (
            "plot.explained: shares for other numbers",
            lambda: plot.explained(([1, 2], [0.5])),
            ("source has shape (1,)", "2 shares"),
        ),
        ("plot.explained: three parts", lambda: plot.explained((whole, whole, whole)), ("3 parts",)),
        (
            "summarize: a selector without blocks",
            lambda: summarize(by_features, network()),
            ("VarianceScore", "BlockModelSelector or BMGUFS"),
        ),
        ("summarize: not fitted", lambda: summarize(unfitted, network()), ("not fitted yet",)),
        (
            "summarize: features as graph",
            lambda: summarize(fitted(), X),
            ("graph is of type ndarray", "check_attributed_graph"),
        ),
        ("make_report: swapped", lambda: make_report(network(), fitted()), ("selector is of type AttributedGraph",)),
        ("make_report: no graph", lambda: make_report(fitted(), None), ("graph is of type NoneType",)),
    ]


def _discover(**settings: Any) -> Any:
    return discover_features(X, adjacency=A, **settings)


def _stability(selector: Any, **settings: Any) -> Any:
    return selection_stability(selector, TABLE, adjacency=MATRIX, **settings)


def _classify(graph: Any = A, **settings: Any) -> Any:
    return classify_selection(X, CLASSES, [0], adjacency=graph, **settings)


def _compare(methods: Any = ("variance",), numbers: Any = (3,), **settings: Any) -> Any:
    graph = check_attributed_graph(X, A, classes=CLASSES)
    return compare_methods(graph, methods, numbers, n_blocks=3, **settings)


def _fit_chunks(chunks: list[Any]) -> Any:
    return BMGUFS(3, n_blocks=3).fit(RowChunks.from_blocks(chunks), adjacency=A)


def _data(**changes: Any) -> Any:
    """Looks like data of PyTorch Geometric."""
    return SimpleNamespace(**{"edge_index": np.array([[0, 1], [1, 2]]), "num_nodes": 3, **changes})


def _closed(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Figures that were begun are closed."""

    def draw_and_close() -> Any:
        try:
            return draw()
        finally:
            plt.close("all")

    return draw_and_close


def _call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Callable[[Path], Any]:
    call = partial(function, *arguments, **named)
    return lambda _folder: call()


CALL_CASES = (
    *of_selectors(),
    *whole_numbers(),
    *(Case(area, title, words, _call(call)) for area, rows in of_functions() for title, call, words in rows),
    *(Case("Plots and reports", title, words, _call(_closed(call))) for title, call, words in of_plots()),
)
