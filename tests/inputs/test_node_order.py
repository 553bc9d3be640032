"""Nodes are matched with rows by id if both have ids, and by position if neither has; other input is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect import (
    BMGUFS,
    BlockModel,
    BlockModelSelector,
    RowChunks,
    as_adjacency,
    check_attributed_graph,
    evaluate_selection,
    find_block_models,
    make_attributed_blocks,
    make_selector,
)
from blockselect.evaluation import classify_selection

N = 60
MADE = make_attributed_blocks(N, 3, random_state=0)
X, A = MADE.features.toarray(), MADE.adjacency.toarray()
IDS = [f"n{node}" for node in range(N)]
ORDER = np.random.default_rng(0).permutation(N)
NAMED = pd.DataFrame(A, index=IDS, columns=IDS)
SHUFFLED = NAMED.iloc[ORDER, ORDER]
TABLE = pd.DataFrame(X, index=IDS).add_prefix("f")
NO_IDS = r"called \['n.*'\], … but the rows of the features have no ids.*as_adjacency\(graph, nodes=ids_of_the_rows\)"


def chunks():
    return RowChunks.from_blocks([X[:20], X[20:]])


def cells_in_chunks():
    like = SimpleNamespace(X=X, shape=X.shape, obs_names=pd.Index(IDS), var_names=TABLE.columns)
    return RowChunks.from_anndata(like, rows_per_chunk=17)


def parquet_in_chunks(folder):
    pytest.importorskip("pyarrow")
    TABLE.to_parquet(folder / "features.parquet", row_group_size=20)
    return RowChunks.from_parquet(folder / "features.parquet")


def polars_frame():
    return pytest.importorskip("polars").DataFrame(X, schema=list(TABLE.columns))


def paper():
    return BMGUFS(5, n_blocks=3, n_candidates=2, random_state=0)


WITHOUT_IDS = {"array": lambda: X, "sparse": lambda: sparse.csr_array(X), "polars": polars_frame, "chunks": chunks}


@pytest.mark.parametrize("make", WITHOUT_IDS.values(), ids=WITHOUT_IDS.keys())
def test_a_named_matrix_with_rows_without_ids_is_refused(make):
    with pytest.raises(ValueError, match=NO_IDS):
        paper().fit(make(), adjacency=SHUFFLED)
    ready = as_adjacency(SHUFFLED, nodes=IDS)  # as the message says
    assert_array_equal(paper().fit(make(), adjacency=ready).scores_, paper().fit(make(), adjacency=A).scores_)


def test_every_function_refuses_a_named_matrix_with_rows_without_ids():
    classes = MADE.blocks
    for call in (
        lambda: BlockModelSelector(5).fit(X, adjacency=NAMED),
        lambda: check_attributed_graph(X, NAMED),
        lambda: as_adjacency(NAMED, nodes=N),
        lambda: classify_selection(X, classes, [0, 1], adjacency=NAMED, n_runs=1),
        lambda: make_selector("laplacian-score", 5).fit(X, affinity=NAMED),
        lambda: find_block_models(NAMED, 3, family="smoothed", features=X, n_candidates=1, rng=0),
        lambda: BlockModel.from_labels(NAMED, classes),
    ):
        with pytest.raises(ValueError, match=NO_IDS):
            call()


def test_features_with_numbered_rows_do_not_match_a_named_graph():
    counted = TABLE.reset_index(drop=True)
    with pytest.raises(ValueError, match=r"120 node\(s\) are in only one of features and adjacency"):
        find_block_models(NAMED, 3, family="smoothed", features=counted, n_candidates=1, rng=0)


def test_a_named_matrix_without_features_keeps_its_order():
    assert_array_equal(as_adjacency(SHUFFLED).toarray(), A[np.ix_(ORDER, ORDER)])


def test_a_matrix_that_numbers_its_nodes_in_order_needs_no_ids():
    numbered = pd.DataFrame(A)
    assert_array_equal(as_adjacency(numbered[ORDER], nodes=N).toarray(), A)
    with pytest.raises(ValueError, match=r"the rows of the features have no ids"):
        check_attributed_graph(X, numbered.iloc[ORDER, ORDER])


@pytest.mark.parametrize("source", ["AnnData", "Parquet", "DataFrames"])
def test_chunks_keep_the_ids_of_their_source(source, tmp_path):
    features = {
        "AnnData": cells_in_chunks,
        "Parquet": lambda: parquet_in_chunks(tmp_path),
        "DataFrames": lambda: RowChunks.from_blocks([TABLE[:20], TABLE[20:]]),
    }[source]()
    assert features.node_ids.tolist() == IDS
    selector = paper().fit(features, adjacency=SHUFFLED)
    assert_array_equal(selector.scores_, paper().fit(chunks(), adjacency=A).scores_)
    labels = pd.Series(MADE.blocks, index=IDS)[::-1]
    assert_array_equal(BMGUFS(5, block_model=labels).fit(features, adjacency=A).labels_, MADE.blocks)
    with pytest.raises(ValueError, match=r"1 and '1' differ"):
        paper().fit(features, adjacency=[(0, 1), (1, 2)])
    with pytest.raises(ValueError, match=r"120 node\(s\) are in only one"):
        paper().fit(features, adjacency=NAMED.add_prefix("x").add_prefix("x", axis=0))


def test_an_index_that_a_parquet_file_describes_in_its_header_is_kept(tmp_path):
    pytest.importorskip("pyarrow")
    for index in (pd.RangeIndex(100, 100 + N), pd.Index(ORDER)):
        TABLE.set_axis(index).to_parquet(tmp_path / "f.parquet", row_group_size=20)
        assert RowChunks.from_parquet(tmp_path / "f.parquet").node_ids.tolist() == index.tolist()
    TABLE.reset_index(drop=True).to_parquet(tmp_path / "f.parquet", row_group_size=20)
    assert RowChunks.from_parquet(tmp_path / "f.parquet").node_ids is None


def test_chunks_that_each_count_their_rows_have_no_ids():
    counted = [TABLE[:20].reset_index(drop=True), TABLE[20:].reset_index(drop=True)]
    assert RowChunks.from_blocks(counted).node_ids is None
    assert RowChunks.from_blocks([TABLE[:20], X[20:]]).node_ids is None


EDGES = np.argwhere(np.triu(A))


def numbered_igraph():
    return pytest.importorskip("igraph").Graph(n=N, edges=EDGES.tolist())


def numbered_data():
    return SimpleNamespace(edge_index=EDGES.T, num_nodes=N)


@pytest.mark.parametrize("make", [numbered_igraph, numbered_data])
@pytest.mark.parametrize("index", [ORDER, np.arange(N) * 2, np.arange(N) + 0.5], ids=["shuffled", "gaps", "halves"])
def test_numbers_that_may_be_rows_or_ids_are_refused(make, index):
    features, graph = TABLE.set_axis(index), make()
    for call in (
        lambda: paper().fit(features, adjacency=graph),
        lambda: check_attributed_graph(features, graph),
        lambda: as_adjacency(graph, nodes=index.tolist()),
        lambda: make_selector("laplacian-score", 5).fit(features, affinity=graph),
    ):
        with pytest.raises(
            ValueError, match=r"numbered 0, 1, … but the index .* a row or an id; .* pass .*as_adjacency\("
        ):
            call()
    ready = check_attributed_graph(features, as_adjacency(graph)).adjacency  # as the message says: by row
    assert_array_equal(ready.toarray(), A)


@pytest.mark.parametrize("make", [numbered_igraph, numbered_data])
def test_node_numbers_are_rows_if_ids_are_text_or_count_the_rows(make):
    for features in (TABLE, TABLE.reset_index(drop=True), X):
        assert_array_equal(check_attributed_graph(features, make()).adjacency.toarray(), A)


def test_edges_with_numbered_nodes_are_matched_by_id():
    features = TABLE.set_axis(ORDER)
    expected = A[np.ix_(ORDER, ORDER)]
    for graph in (EDGES, EDGES.T, list(map(tuple, EDGES.tolist())), pd.DataFrame(EDGES), pd.DataFrame(A)):
        assert_array_equal(check_attributed_graph(features, graph).adjacency.toarray(), expected)


def test_a_matrix_without_names_is_matched_by_position():
    kept = TABLE.reset_index(drop=True)[::2]
    at = kept.index.to_numpy()
    cut = A[np.ix_(at, at)]
    for graph in (cut, sparse.csr_array(cut)):
        assert_array_equal(check_attributed_graph(kept, graph).adjacency.toarray(), cut)


LABELS = pd.Series(MADE.blocks, index=IDS)


@pytest.mark.parametrize("labels", [LABELS, LABELS.set_axis(ORDER), LABELS.set_axis(np.arange(N) + 0.5)])
@pytest.mark.parametrize("make", WITHOUT_IDS.values(), ids=WITHOUT_IDS.keys())
def test_labels_with_ids_are_refused_for_rows_without_ids(make, labels):
    with pytest.raises(ValueError, match=r"block_model is a Series that names .*, not 0, 1, .*labels\.to_numpy\(\)"):
        BMGUFS(5, block_model=labels, random_state=0).fit(make(), adjacency=A)


@pytest.mark.parametrize("features", [X, sparse.csr_array(X)])
def test_classes_with_ids_are_refused_for_rows_without_ids(features):
    for call in (
        lambda classes: evaluate_selection(features, classes, [0, 1], n_runs=1),
        lambda classes: classify_selection(features, classes, [0, 1], adjacency=A, n_runs=1),
        lambda classes: check_attributed_graph(features, A, classes=classes),
    ):
        call(LABELS.reset_index(drop=True))
        with pytest.raises(ValueError, match=r"classes is a Series that names .*, not 0, 1, …, but"):
            call(LABELS)


def test_names_that_igraph_took_from_networkx_are_read():
    networkx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    ours = networkx.from_pandas_adjacency(SHUFFLED)
    theirs = igraph.Graph.from_networkx(ours)
    assert "name" not in theirs.vs.attributes()
    assert_array_equal(check_attributed_graph(TABLE, theirs).adjacency.toarray(), A)
    with pytest.raises(ValueError, match=NO_IDS):
        check_attributed_graph(X, theirs)


def test_the_error_names_a_node_that_the_graph_lacks():
    networkx = pytest.importorskip("networkx")
    graph = networkx.from_numpy_array(A)
    graph.remove_node(7)
    with pytest.raises(ValueError, match=r"1 node\(s\) are in only one.*\[7\].*graph\.add_nodes_from\(range\(60\)\)"):
        check_attributed_graph(X, graph)
    with pytest.raises(ValueError, match=r"1 node\(s\) are in only one.*\[7\].*add_nodes_from\(features\.index\)"):
        check_attributed_graph(pd.DataFrame(X), graph)
    graph.add_nodes_from(range(N))
    assert check_attributed_graph(pd.DataFrame(X), graph).n_isolated >= 1
