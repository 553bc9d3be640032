"""Bad graphs and features, given to the library."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect import (
    BMGUFS,
    SELECTORS,
    BlockModelSelector,
    check_attributed_graph,
    discover_features,
    evaluate_selection,
    find_block_models,
    make_attributed_blocks,
    make_selector,
    selection_stability,
)
from error_cases.case import (
    N_FEATURES,
    N_NODES,
    Case,
    adjacency,
    edge_table,
    feature_table,
    features,
    with_entry,
)

Spoiled = tuple[str, Any, tuple[str, ...]]


def bad_features() -> list[Spoiled]:
    """What is wrong, the features, words of the message."""
    good = features()
    text = good.astype(object)
    text[2, 3] = "many"
    return [
        ("NaN", with_entry(good, np.nan), ("NaN", "impute or drop")),
        ("infinity", with_entry(good, np.inf), ("infinity",)),
        ("a negative value", with_entry(good, -1.0), ("negative",)),
        ("text", text, ("'many'",)),
        ("complex numbers", good + 1j, ("omplex",)),
        ("one dimension", good[:, 0], ("(24,)", "one row per node", "Reshape your data")),
        ("three dimensions", good[None], ("dim",)),
        ("no column", good[:, :0], ("(24, 0)",)),
        ("no row", good[:0], ("(0, 12)",)),
        ("a single node", good[:1], ("1",)),
        ("ragged rows", [[1.0], [1.0, 2.0]], ("shape",)),
        ("a string", "features.csv", ()),
        ("None", None, ()),
        ("sparse with NaN", sparse.csr_array(with_entry(good, np.nan)), ("NaN",)),
        ("sparse with a negative value", sparse.csr_array(with_entry(good, -1.0)), ("negative",)),
        ("a sparse matrix with stray indices", _broken(), ("broken sparse matrix",)),
    ]


def _broken() -> Any:
    matrix = sparse.csr_array(features())
    matrix.indices[0] = 10**6
    return matrix


def bad_graphs() -> list[Spoiled]:
    """What is wrong, the graph, words of the message."""
    good = adjacency()
    edges = edge_table()
    return [
        ("NaN", with_entry(good, np.nan), ("NaN",)),
        ("infinity", with_entry(good, np.inf), ("infinity",)),
        ("a negative weight", with_entry(good, -1.0), ("negative",)),
        ("complex numbers", good + 1j, ("omplex",)),
        ("text", with_entry(good, "a"), ("'a'",)),
        ("no link", np.zeros_like(good), ("no link",)),
        ("not square", good[:, :5], ("square",)),
        ("other nodes", np.ones((5, 5)), ("5 nodes", "24 rows")),
        ("one dimension", good[0], ("dimension",)),
        ("three dimensions", good[None], ("dimension",)),
        ("a string", "graph.csv", ()),
        ("a number", 3, ()),
        ("a dict", {0: [1]}, ()),
        ("an edge table of unknown ids", edges.replace("n0", "stranger"), ("stranger",)),
        ("an edge table of one column", edges[["source"]], ()),
        ("an edge table without a source", edges.replace("n0", None), ("source",)),
        ("an edge table with negative weights", edges.assign(weight=-1.0), ("weight", "n")),
        ("an edge table with weights of text", edges.assign(weight="x"), ("'x'",)),
        ("an edge table with missing weights", edges.assign(weight=np.nan), ("weight",)),
        ("a sparse matrix with NaN", sparse.csr_array(with_entry(good, np.nan)), ("NaN",)),
    ]


def _fits() -> list[Case]:
    default, paper = BlockModelSelector(3, random_state=0), BMGUFS(3, n_blocks=3, random_state=0)
    cases = []
    for what, bad, words in bad_features():
        for name, selector in (("BlockModelSelector", default), ("BMGUFS", paper)):
            cases.append(
                Case(
                    "Features",
                    f"{name}.fit: {what}",
                    words,
                    lambda _, s=selector, x=bad: s.fit(x, adjacency=adjacency()),
                )
            )
    for what, bad, words in bad_graphs():
        for name, selector in (("BlockModelSelector", default), ("BMGUFS", paper)):
            cases.append(
                Case(
                    "Graph",
                    f"{name}.fit: {what}",
                    words,
                    lambda _, s=selector, a=bad: s.fit(feature_table(), adjacency=a),
                )
            )
    return cases


def _baselines() -> list[Case]:
    """Every method of the registry refuses the worst of it."""
    cases = []
    for method in SELECTORS:
        selector = make_selector(method, 3, n_blocks=3, random_state=0)
        for what, bad, words in (bad_features()[i] for i in (0, 1, 3)):
            cases.append(
                Case("Features", f"{method}: {what}", words, lambda _, s=selector, x=bad: s.fit(x, **_graph_for(s)))
            )
    return cases


def _graph_for(selector: Any) -> dict[str, Any]:
    return {"adjacency": adjacency()} if "adjacency" in inspect.signature(selector.fit).parameters else {}


def _functions() -> list[Case]:
    x, a = features(), adjacency()
    table, edges = feature_table(), edge_table()
    classes, rng = np.arange(N_NODES) % 2, np.random.default_rng(0)
    default = BlockModelSelector(3, random_state=0)
    doubled = table.set_axis(["f0", *table.columns[1:-1], "f0"], axis=1)
    return [
        Case(
            "Graph",
            "check_attributed_graph: two nodes of the same id",
            ("n1", "unique"),
            lambda _: check_attributed_graph(x, a, node_ids=["n1", "n1", *range(22)]),
        ),
        Case(
            "Graph",
            "check_attributed_graph: too few ids",
            ("2",),
            lambda _: check_attributed_graph(x, a, node_ids=["n1", "n2"]),
        ),
        Case(
            "Features",
            "check_attributed_graph: too few names",
            ("2",),
            lambda _: check_attributed_graph(x, a, feature_names=["a", "b"]),
        ),
        Case(
            "Features",
            "BlockModelSelector.fit: two features of the same name",
            ("1 duplicate feature name(s)", "'f0'", "make each feature name unique"),
            lambda _: default.fit(doubled, adjacency=a),
        ),
        Case(
            "Features",
            "BlockModelSelector.fit: a sparse table that leaves out another value than 0",
            ("column 'f0' of features is sparse", "1.0 instead of 0", "to_dense()"),
            lambda _: default.fit(table.astype(pd.SparseDtype(float, 1.0)), adjacency=a),
        ),
        Case(
            "Graph",
            "BlockModelSelector.fit: a matrix with names beside an array without ids",
            ("called ['n0', 'n1', 'n2']", "no ids", "as_adjacency(graph, nodes=ids_of_the_rows)"),
            lambda _: default.fit(x, adjacency=pd.DataFrame(a, index=table.index, columns=table.index)),
        ),
        Case("Graph", "BlockModelSelector.fit: the graph by position", ("y",), lambda _: default.fit(x, a)),
        Case(
            "Graph",
            "BlockModelSelector.fit: an edge table beside an array without ids",
            ("n",),
            lambda _: default.fit(x, adjacency=edges),
        ),
        Case("Graph", "find_block_models: not square", ("square",), lambda _: find_block_models(a[:, :4], 3, rng=rng)),
        Case(
            "Graph",
            "find_block_models: no link",
            ("no link",),
            lambda _: find_block_models(np.zeros((9, 9)), 3, rng=rng),
        ),
        Case(
            "Parameters",
            "find_block_models: more blocks than nodes",
            ("n_blocks is 99", "24"),
            lambda _: find_block_models(a, 99, rng=rng),
        ),
        Case(
            "Parameters",
            "find_block_models: an unknown family",
            ("'magic'",),
            lambda _: find_block_models(a, 3, family="magic", rng=rng),
        ),
        Case(
            "Parameters",
            "make_selector: an unknown method",
            ("'mcf'", "Did you mean mcfs?"),
            lambda _: make_selector("mcf", 3),
        ),
        Case(
            "Parameters",
            "discover_features: a level of 2",
            ("level",),
            lambda _: discover_features(x, adjacency=a, level=2),
        ),
        Case(
            "Parameters",
            "discover_features: a level of 0",
            ("level",),
            lambda _: discover_features(x, adjacency=a, level=0),
        ),
        Case(
            "Graph",
            "discover_features: no link",
            ("no link",),
            lambda _: discover_features(x, adjacency=np.zeros((N_NODES, N_NODES))),
        ),
        Case(
            "Parameters",
            "selection_stability: two resamples",
            ("n_resamples",),
            lambda _: selection_stability(default, x, adjacency=a, n_resamples=2),
        ),
        Case(
            "Parameters",
            "BlockModelSelector.fit: more features than there are",
            ("n_features_to_select is 99", str(N_FEATURES)),
            lambda _: BlockModelSelector(99).fit(x, adjacency=a),
        ),
        Case("Parameters", "BMGUFS.fit: no number of blocks", ("n_blocks",), lambda _: BMGUFS(3).fit(x, adjacency=a)),
        Case(
            "Parameters",
            "BMGUFS.fit: more blocks than nodes",
            ("n_blocks is 99", "24"),
            lambda _: BMGUFS(3, n_blocks=99).fit(x, adjacency=a),
        ),
        Case(
            "Parameters",
            "BlockModelSelector.fit: blocks for other nodes",
            ("2 block labels", "24 nodes"),
            lambda _: BlockModelSelector(3, block_model=[0, 1]).fit(x, adjacency=a),
        ),
        Case(
            "Parameters",
            "BlockModelSelector.fit: a parameter that changes nothing",
            ("max_blocks is 4", "changes nothing"),
            lambda _: BlockModelSelector(3, n_blocks=3, max_blocks=4).fit(x, adjacency=a),
        ),
        Case(
            "Parameters",
            "evaluate_selection: classes of other nodes",
            (),
            lambda _: evaluate_selection(x, classes[:5], [0, 1]),
        ),
        Case(
            "Parameters",
            "evaluate_selection: a feature that is not there",
            ("0 to 11",),
            lambda _: evaluate_selection(x, classes, [0, 99]),
        ),
        Case(
            "Parameters",
            "evaluate_selection: no run",
            ("n_runs",),
            lambda _: evaluate_selection(x, classes, [0], n_runs=0),
        ),
        Case("Parameters", "make_attributed_blocks: no node", (), lambda _: make_attributed_blocks(0, 3)),
        Case(
            "Parameters", "make_attributed_blocks: more blocks than nodes", (), lambda _: make_attributed_blocks(3, 9)
        ),
        Case(
            "Features",
            "transform: another number of features",
            ("features",),
            lambda _: _fitted_variance().transform(x[:, :3]),
        ),
    ]


def _fitted_variance() -> Any:
    return make_selector("variance", 3).fit(features())


INPUT_CASES = (*_fits(), *_baselines(), *_functions())
