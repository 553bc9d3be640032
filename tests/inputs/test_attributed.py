"""check_attributed_graph: every accepted form gives the same network."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.inputs import check_attributed_graph

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
CONTAINERS = [
    *(pytest.param(lambda m, f=f: sparse.coo_array(m).asformat(f), id=f"{f}_array") for f in FORMATS),
    *(pytest.param(lambda m, f=f: sparse.coo_matrix(m).asformat(f), id=f"{f}_matrix") for f in FORMATS),
    pytest.param(np.asfortranarray, id="fortran"),
    pytest.param(lambda m: m.tolist(), id="lists"),
    pytest.param(pd.DataFrame, id="frame"),
    pytest.param(lambda m: pd.DataFrame(m).astype(pd.SparseDtype(m.dtype, 0)), id="sparse frame"),
]


def _dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("convert", CONTAINERS)
@given(
    features=arrays(np.int64, (4, 3), elements=st.integers(0, 3)).filter(np.any),
    weights=arrays(np.int64, (4, 4), elements=st.integers(0, 2)).filter(np.any),
)
def test_every_container_means_the_same_as_the_dense_array(convert, features, weights):
    graph = check_attributed_graph(convert(features), convert(weights))
    assert_array_equal(_dense(graph.features), features)
    assert_array_equal(_dense(graph.adjacency), np.maximum(weights, weights.T))


@given(weights=arrays(np.float64, (5, 5), elements=st.floats(0, 9, width=16)).filter(np.any))
def test_the_adjacency_is_canonical_and_symmetric(weights):
    adjacency = check_attributed_graph(np.eye(5), weights).adjacency
    assert isinstance(adjacency, sparse.csr_array)
    assert adjacency.dtype == np.float64
    assert adjacency.has_canonical_format
    assert adjacency.nnz == np.count_nonzero(np.maximum(weights, weights.T))
    assert_array_equal(adjacency.toarray(), adjacency.toarray().T)


def test_a_graph_is_printed_in_one_line():
    assert repr(check_attributed_graph(X, A)) == "AttributedGraph(3 nodes, 2 links, 2 features)"
    labelled = check_attributed_graph(np.ones((1200, 1)), np.eye(1200), classes=np.arange(1200) % 2)
    assert repr(labelled) == "AttributedGraph(1,200 nodes, 1,200 links, 1 feature, 2 classes)"


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.uint64, np.float16, np.float64, object])
def test_features_of_any_number_type_become_float64(dtype):
    features = np.array([[1, 0], [0, 1]]).astype(dtype)
    graph = check_attributed_graph(features, np.ones((2, 2)))
    assert graph.features.dtype == np.float64
    assert_array_equal(graph.features, np.eye(2))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_float32_features_stay_float32(convert):
    assert check_attributed_graph(convert(X.astype(np.float32)), A).features.dtype == np.float32


def test_nullable_frames_work():
    frame = pd.DataFrame({"a": pd.array([1, 0, 2], dtype="Int64"), "b": pd.array([True, False, True], dtype="boolean")})
    assert_array_equal(check_attributed_graph(frame, A).features, [[1, 1], [0, 0], [2, 1]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_int8_duplicates_add_up_without_overflow(form):
    counts = sparse.coo_array((np.full(3, 100, dtype=np.int8), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    if form != "coo":  # two equal entries, kept apart
        counts = sparse.csr_array((counts.data, np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
        counts = counts.T if form == "csc" else counts
    expected = [[0, 200], [100, 0]]
    if form == "bsr":
        counts = sparse.bsr_array((counts.data.reshape(3, 1, 1), counts.indices, counts.indptr), shape=(2, 2))
    result = _dense(check_attributed_graph(counts, np.ones((2, 2))).features)
    assert_array_equal(result, np.transpose(expected) if form == "csc" else expected)


def test_duplicate_entries_of_a_boolean_matrix_count_once():
    twice = sparse.coo_array((np.ones(3, dtype=bool), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert_array_equal(_dense(check_attributed_graph(twice, twice).features), [[0, 1], [1, 0]])


def test_64_bit_indices_become_32_bit_where_these_suffice():
    wide = sparse.csr_array((np.ones(3), np.arange(3, dtype=np.int64), np.arange(4, dtype=np.int64)), shape=(3, 3))
    assert wide.indices.dtype == np.int64
    graph = check_attributed_graph(wide, wide)
    for matrix in (graph.features, graph.adjacency):
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


@given(
    entries=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12
    ).filter(lambda entries: any(value for _, _, value in entries))
)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "spare"])
def test_callers_sparse_arrays_are_never_changed(form, entries):
    rows, columns, values = (np.array(axis) for axis in zip(*entries, strict=True))
    order = np.argsort(rows, kind="stable")  # rows together, columns unsorted, duplicates and zeros kept
    data, indices = values[order].astype(float), columns[order]
    indptr = np.searchsorted(rows[order], np.arange(5))
    if form == "coo":
        given_matrix = sparse.coo_array((data, (rows[order], indices)), shape=(4, 4))
        parts = [given_matrix.data, *given_matrix.coords]
    else:
        kind = sparse.csc_array if form == "csc" else sparse.csr_array
        given_matrix = kind((data, indices, indptr), shape=(4, 4))
        if form == "spare":  # room for more entries than there are
            given_matrix.data, given_matrix.indices = np.append(data, 7.0), np.append(indices, 3)
        parts = [given_matrix.data, given_matrix.indices, given_matrix.indptr]
    before = [part.copy() for part in parts]
    graph = check_attributed_graph(given_matrix, given_matrix)
    now = [
        given_matrix.data,
        *(given_matrix.coords if form == "coo" else (given_matrix.indices, given_matrix.indptr)),
    ]
    for part, same, copy in zip(parts, now, before, strict=True):
        assert part is same
        assert_array_equal(part, copy)
    dense = np.zeros((4, 4))
    np.add.at(dense, (indices, rows[order]) if form == "csc" else (rows[order], indices), data)
    assert_array_equal(_dense(graph.features), dense)
    for mine in (graph.features, graph.adjacency):
        assert mine.has_canonical_format
        assert not any(
            np.shares_memory(part, array) for part in parts for array in (mine.data, mine.indices, mine.indptr)
        )


def test_callers_dense_arrays_are_not_shared():
    features, adjacency = X.copy(), A.copy()
    graph = check_attributed_graph(features, adjacency)
    assert not np.shares_memory(graph.features, features)
    assert_array_equal(features, X)
    assert_array_equal(adjacency, A)


def test_read_only_and_memory_mapped_arrays_work(tmp_path):
    np.save(tmp_path / "features.npy", X)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    locked = sparse.csr_array((np.ones(3), np.array([1, 0, 1]), np.array([0, 2, 3, 3])), shape=(3, 3))
    for part in (locked.data, locked.indices, locked.indptr):
        part.flags.writeable = False
    graph = check_attributed_graph(mapped, locked)
    assert type(graph.features) is np.ndarray
    assert graph.features.flags.writeable
    assert_array_equal(check_attributed_graph(locked, locked).features.toarray(), locked.toarray())


def test_self_loops_isolated_nodes_and_empty_columns_are_kept_and_counted():
    edges = pd.DataFrame({"source": [0, 1, 3], "target": [1, 1, 3]})
    graph = check_attributed_graph(np.column_stack([np.arange(5), np.zeros(5)]), edges)
    assert (graph.n_nodes, graph.n_features) == (5, 2)
    assert (graph.n_links, graph.n_self_loops, graph.n_isolated) == (3, 2, 2)
    assert_array_equal(graph.adjacency.diagonal(), [0, 1, 0, 1, 0])


def test_n_neighbors_replaces_a_missing_adjacency():
    features = np.random.default_rng(0).random((12, 4))
    graph = check_attributed_graph(features, None, n_neighbors=3)
    assert graph.adjacency.sum(axis=1).min() >= 3


def test_frames_name_nodes_and_features_unless_names_are_given():
    frame = pd.DataFrame(X, index=["a", "b", "c"], columns=["x", "y"])
    graph = check_attributed_graph(frame, A)
    assert graph.node_ids.tolist() == ["a", "b", "c"]
    assert graph.feature_names.tolist() == ["x", "y"]
    graph = check_attributed_graph(frame, A, node_ids=iter("uvw"), feature_names=np.array(["p", "q"]))
    assert graph.node_ids.tolist() == ["u", "v", "w"]
    assert type(graph.feature_names[0]) is str


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_frame_of_a_graph_has_its_values_and_names_and_can_be_read_again(convert):
    graph = check_attributed_graph(convert(X), A, node_ids=["ann", "bob", "cleo"], feature_names=["graph", "gene"])
    frame = graph.frame
    assert frame.loc["cleo", "graph"] == 3
    again = check_attributed_graph(frame, A)
    assert type(again.features) is type(graph.features)
    assert_array_equal(_dense(again.features), X)
    assert (again.node_ids.tolist(), again.feature_names.tolist()) == (["ann", "bob", "cleo"], ["graph", "gene"])


def test_classes_are_kept_as_integers():
    assert check_attributed_graph(X, A, classes=[2, 0, 1]).classes.tolist() == [2, 0, 1]
    assert check_attributed_graph(X, A).classes is None


def test_classes_may_be_whole_numbers_in_a_column_of_objects():
    graph = check_attributed_graph(np.eye(3), np.ones((3, 3)), classes=np.array([2, 0, 1], dtype=object))
    assert graph.classes.tolist() == [2, 0, 1]
    assert graph.classes.dtype == np.intp
