"""Features in row chunks: every source gives the same matrix, and errors name the chunk."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import RowChunks, check_attributed_graph, make_selector
from blockselect.rows.sums import by_row, jobs_for, n_values, row_slices, some_rows, sum_over_pairs, sum_over_rows

MATRIX = np.random.default_rng(0).poisson(0.4, (23, 7)).astype(float)
RING = sparse.csr_array(np.roll(np.eye(23), 1, axis=0))


def here(blocks, **names):
    return RowChunks.from_blocks(blocks, **names)


def by_dask(blocks, **names):
    """Chunks that Dask loads in threads, without a cluster."""
    dask = pytest.importorskip("dask")
    if callable(blocks):
        return RowChunks.from_delayed([dask.delayed(lambda: next(iter(blocks())))()], 7, **names)
    return RowChunks.from_delayed([dask.delayed(block) for block in blocks], 7, **names)


by_either = pytest.mark.parametrize("chunks_of", [here, by_dask])


@pytest.fixture(autouse=True)
def without_cluster(monkeypatch):
    """Otherwise, a cluster started by other tests would load the chunks."""
    if "distributed" in sys.modules:
        monkeypatch.setattr("distributed.client._global_clients", {})


def from_npy(folder):
    np.save(folder / "features.npy", MATRIX)
    return RowChunks.from_npy(folder / "features.npy", rows_per_chunk=5)


def from_parquet(folder):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(MATRIX, columns=list("abcdefg"), index=pd.Index(range(100, 123), name="node"))
    frame.to_parquet(folder / "features.parquet", row_group_size=6)
    return RowChunks.from_parquet(folder / "features.parquet")


def from_anndata(folder):
    anndata = pytest.importorskip("anndata")
    nodes, words = (pd.DataFrame(index=pd.Index(list(map(str, ids)), dtype=object)) for ids in (range(23), "abcdefg"))
    anndata.AnnData(sparse.csr_matrix(MATRIX), nodes, words).write_h5ad(folder / "features.h5ad")
    return RowChunks.from_anndata(folder / "features.h5ad", rows_per_chunk=4)


def from_anything_like_anndata(folder):
    like = SimpleNamespace(X=sparse.csr_array(MATRIX), shape=MATRIX.shape, var_names=pd.Index(list("abcdefg")))
    return RowChunks.from_anndata(like, rows_per_chunk=4)


def from_list(folder):
    return RowChunks.from_blocks([MATRIX[:10], sparse.csc_matrix(MATRIX[10:11]), MATRIX[11:].astype(int)])


def from_function(folder):
    return RowChunks.from_blocks(lambda: (MATRIX[start : start + 8] for start in range(0, 23, 8)))


SOURCES = [from_npy, from_parquet, from_anndata, from_anything_like_anndata, from_list, from_function]


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_rows_in_order_in_each_pass(source, tmp_path):
    chunks = source(tmp_path)
    assert chunks.shape == (23, 7)
    for _ in range(2):
        blocks = list(chunks)
        assert len(blocks) > 1
        assert all(isinstance(block, sparse.csr_array) for block in blocks)
        assert_array_equal(sparse.vstack(blocks).toarray(), MATRIX)


@pytest.mark.parametrize("source", [from_parquet, from_anndata, from_anything_like_anndata])
def test_named_columns_name_the_features(source, tmp_path):
    assert list(source(tmp_path).feature_names) == list("abcdefg")


def test_a_sum_over_chunks_receives_the_range_of_rows(tmp_path):
    weights = np.arange(23.0)
    total = from_npy(tmp_path).sum(lambda block, rows, w: w[rows] @ block, weights)
    assert_array_equal(total, weights @ MATRIX)


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [
        (7, np.nan, r"NaN or infinity, first at row 2 of chunk 1, column 3"),
        (12, np.inf, r"NaN or infinity, first at row 2 of chunk 2, column 3"),
        (20, -1.0, r"negative, first at row 0 of chunk 4, column 3"),
    ],
)
def test_an_invalid_value_is_reported_with_its_chunk_and_row(row, value, message):
    bad = MATRIX.copy()
    bad[row, 3] = value
    chunks = RowChunks.from_blocks([bad[start : start + 5] for start in range(0, 23, 5)])
    with pytest.raises(ValueError, match=message):
        check_attributed_graph(chunks, RING)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([MATRIX[:4], MATRIX[4:, :5]], "chunk 1 of features has 5 columns; expected 7"),
        ([MATRIX[:4], MATRIX[5]], "chunk 1 of features .* 1 dimension"),
        ([MATRIX[:4], np.full((3, 7), "word")], "chunk 1 of features contains .word. at row 0, column 0"),
        ([np.zeros((9, 7)), np.zeros((14, 7))], "no non-zero entry"),
        ([MATRIX[:4] * 1e90, MATRIX[4:]], "at chunk 0, whose fourth power overflows"),
        ([], "no chunks of rows"),
        ([MATRIX[:9]], "adjacency has 23 nodes but features has 9 rows"),
    ],
)
def test_chunks_that_do_not_match_are_rejected(blocks, message):
    with pytest.raises(ValueError, match=message):
        check_attributed_graph(RowChunks.from_blocks(blocks), RING)


def test_an_iterator_that_can_be_read_only_once_is_rejected():
    with pytest.raises(ValueError, match=r"read only once.*pass the function that makes it"):
        RowChunks.from_blocks(iter([MATRIX]))
    once = iter([MATRIX[:9], MATRIX[9:]])
    chunks = RowChunks.from_blocks(lambda: once)
    assert chunks.shape == MATRIX.shape
    with pytest.raises(ValueError, match="chunk 0 of features had 9 rows in the first pass and has none now"):
        list(chunks)


def test_more_chunks_in_a_later_pass_are_rejected():
    passes = iter([(9,), (9, 12)])
    chunks = RowChunks.from_blocks(lambda: np.split(MATRIX, next(passes)))
    assert chunks.shape == MATRIX.shape
    with pytest.raises(ValueError, match="chunk 1 of features had 14 rows in the first pass and has 3 rows now"):
        list(chunks)


@by_either
def test_more_columns_in_a_later_pass_are_rejected(chunks_of):
    passes = iter([MATRIX, np.column_stack([MATRIX, MATRIX])])
    chunks = chunks_of(lambda: [next(passes)])
    assert chunks.shape == (23, 7)
    with pytest.raises(ValueError, match="chunk 0 of features has 14 columns; expected 7"):
        chunks.column_sums()


@by_either
def test_a_different_number_of_rows_in_a_later_pass_is_rejected(chunks_of):
    sizes = iter([9, 10])
    chunks = chunks_of(lambda: [MATRIX[: next(sizes)]])
    assert chunks.shape == (9, 7)
    with pytest.raises(ValueError, match="chunk 0 of features had 9 rows in the first pass and has 10 rows now"):
        chunks.column_sums()


def test_a_single_matrix_is_not_accepted_as_a_list_of_blocks():
    for matrix in (MATRIX, sparse.csr_array(MATRIX)):
        with pytest.raises(ValueError, match="one matrix"):
            RowChunks.from_blocks(matrix)


def test_objects_other_than_anndata_are_rejected():
    with pytest.raises(ValueError, match="adata is of type ndarray; expected an AnnData"):
        RowChunks.from_anndata(MATRIX)


def test_a_file_without_a_matrix_is_rejected(tmp_path):
    np.save(tmp_path / "vector.npy", np.ones(4))
    with pytest.raises(ValueError, match="does not contain a matrix"):
        RowChunks.from_npy(tmp_path / "vector.npy")


@pytest.mark.parametrize(
    ("module", "make", "message"),
    [
        ("pyarrow.parquet", lambda: RowChunks.from_parquet("x.parquet"), r"pip install 'blockselect\[parquet\]'"),
        ("anndata", lambda: RowChunks.from_anndata("x.h5ad"), r"pip install 'blockselect\[anndata\]'"),
        (
            "dask.base",
            lambda: RowChunks.from_delayed([], 3),
            r"a delayed row chunk needs dask; .*pip install 'blockselect\[dask\]'",
        ),
    ],
)
def test_the_error_names_a_missing_package(monkeypatch, module, make, message):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=message):
        make()


def test_selectors_that_need_individual_nodes_reject_row_chunks():
    chunks = RowChunks.from_blocks([MATRIX])
    with pytest.raises(ValueError, match=r"row chunks do not provide; use BlockModelSelector or BMGUFS"):
        make_selector("lufs", 3).fit(chunks, adjacency=RING)


def test_a_graph_of_nearest_neighbours_needs_features_in_memory():
    with pytest.raises(ValueError, match="pass an adjacency"):
        check_attributed_graph(RowChunks.from_blocks([MATRIX]), None, n_neighbors=3)


def test_the_error_names_a_file_that_is_not_an_array(tmp_path):
    (tmp_path / "f.npy").write_text("a,b")
    with pytest.raises(ValueError, match=r"f\.npy could not be read as \.npy .*; save it with numpy\.save"):
        RowChunks.from_npy(tmp_path / "f.npy")


ROWS_KEPT = np.arange(23) % 3 > 0


def doubled(block, rows, weights):
    return sparse.csr_array(sparse.diags_array(weights[rows]) @ block)


def row_sums(block, rows):
    return block.sum(axis=1)


def column_sums(block, rows):
    return block.sum(axis=0)


def later_products(block, rows, other, other_rows, links):
    """Σ_j<i A_ij x_i x_j, in the form that `sum_over_pairs` expects."""
    lower = np.tril(links.toarray(), -1)[rows, other_rows]
    return np.einsum("il,ij,jl->l", block.toarray(), lower, other.toarray())


def appended(block, rows, state, name):
    return [*state, (name, rows.start, rows.stop)]


@pytest.mark.parametrize("wanted", [np.arange(23), np.array([0, 4, 5, 22])], ids=["all", "some"])
def test_functions_of_rows_are_the_same_in_memory_and_in_chunks(wanted):
    matrix = sparse.csr_array(MATRIX)
    chunks = RowChunks.from_blocks([matrix[:10], matrix[10:]])
    for features in (matrix, chunks):
        assert_array_equal(some_rows(features, wanted).toarray(), MATRIX[wanted])
        assert_array_equal(by_row(features, row_sums), MATRIX.sum(axis=1))
        assert_array_equal(sum_over_rows(features, column_sums), MATRIX.sum(axis=0))
        assert_array_equal(sum_over_pairs(features, later_products, RING), sum_over_pairs(matrix, later_products, RING))
        assert n_values(features) == np.count_nonzero(MATRIX)
        assert sum(rows.stop - rows.start for rows in row_slices(features)) == 23
    assert row_slices(matrix) == [slice(0, 23)]
    assert row_slices(chunks) == [slice(0, 10), slice(10, 23)]
    assert n_values(MATRIX) == MATRIX.size  # a pass over a dense matrix reads its zeros too
    assert (jobs_for(matrix, 4), jobs_for(chunks, 4)) == (4, 1)


@by_either
@pytest.mark.parametrize("held_bytes", [1, 2**28])
def test_mapped_and_selected_chunks_equal_those_of_the_matrix(chunks_of, held_bytes):
    chunks = chunks_of(np.split(MATRIX, [5, 5, 14]))  # one of them is empty
    chunks.held_bytes = held_bytes
    weights = np.arange(1.0, 24.0)
    expected = (MATRIX * weights[:, None])[ROWS_KEPT]
    some = chunks.map(doubled, weights)[ROWS_KEPT]
    assert some.shape == expected.shape
    assert_array_equal(sparse.vstack(list(some)).toarray(), expected)
    assert_array_equal(some.concatenate(row_sums), expected.sum(axis=1))
    assert_array_equal(some.column_sums(), [np.count_nonzero(expected, axis=0), expected.sum(axis=0)])
    for links in (np.ones((15, 15)), np.eye(15, k=1) + np.eye(15, k=-1), np.zeros((15, 15))):
        lower = np.einsum("il,ij,jl->l", expected, np.tril(links, -1), expected)
        assert_allclose(some.sum_over_pairs(later_products, sparse.csr_array(links)), lower)
    assert some.fold(appended, [[], ["x"]], "a", n_jobs=2) == [
        [*start, ("a", 0, 3), ("a", 3, 3), ("a", 3, 9), ("a", 9, 15)] for start in ([], ["x"])
    ]


def test_the_error_names_a_chunk_that_cannot_be_read():
    def blocks():
        yield MATRIX[:9]
        yield np.load("no such file.npy")

    with pytest.raises(
        ValueError, match=r"chunk 1 of features could not be read \(FileNotFoundError.*check its source"
    ):
        _ = RowChunks.from_blocks(blocks).shape


def test_chunks_of_different_precision_are_rejected_but_not_integers():
    with pytest.raises(ValueError, match=r"chunk 1 of features is float32 but the chunks before it are float64"):
        _ = RowChunks.from_blocks([MATRIX[:9], MATRIX[9:].astype(np.float32)]).shape
    assert RowChunks.from_blocks([MATRIX[:9].astype(np.int8), MATRIX[9:]]).shape == MATRIX.shape


NAMES = [f"node {number}" for number in range(23)]
EDGES = pd.DataFrame({"source": NAMES, "target": NAMES[1:] + NAMES[:1]})  # the ring by names


def chunks_with_ids(chunks_of, ids):
    order = np.random.default_rng(1).permutation(23)  # the rows are in a different order from the nodes of the graph
    blocks, names = np.split(MATRIX[order], [5, 14]), np.array(NAMES)[order]
    if ids == "of frames":
        blocks = [pd.DataFrame(*both) for both in zip(blocks, np.split(names, [5, 14]), strict=True)]
    return names, chunks_of(blocks, **({"node_ids": names} if ids == "given" else {}))


@by_either
@pytest.mark.parametrize("ids", ["given", "of frames"])
def test_a_graph_with_names_follows_the_ids_of_the_rows(chunks_of, ids):
    names, chunks = chunks_with_ids(chunks_of, ids)
    graph = check_attributed_graph(chunks, EDGES)
    assert list(graph.node_ids) == list(names)
    place = {name: row for row, name in enumerate(names)}
    for source, target in EDGES.itertuples(index=False):
        assert graph.adjacency[place[source], place[target]] == 1


@by_either
def test_a_graph_with_names_is_rejected_if_rows_have_no_ids(chunks_of):
    _, chunks = chunks_with_ids(chunks_of, None)
    networkx = pytest.importorskip("networkx")
    for graph in (EDGES, networkx.from_pandas_edgelist(EDGES)):
        with pytest.raises(ValueError, match=r"expected row numbers|rows of the features have no ids"):
            check_attributed_graph(chunks, graph)


@by_either
def test_frames_with_different_columns_are_rejected(chunks_of):
    chunks = chunks_of(
        [pd.DataFrame(MATRIX[:9], columns=list("abcdefg")), pd.DataFrame(MATRIX[9:], columns=list("abcdegf"))]
    )
    with pytest.raises(ValueError, match="chunk 1 of features has different columns"):
        _ = chunks.shape


CHANGES = {
    "one value": lambda matrix: matrix + np.eye(23, 7, k=-22),
    "the order of rows": lambda matrix: matrix[::-1],
    "which values are zero": lambda matrix: np.roll(matrix, 1, axis=1),
}


@by_either
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("matrix", [MATRIX, np.random.default_rng(0).random(MATRIX.shape)], ids=["sparse", "dense"])
def test_values_that_change_between_passes_are_rejected(chunks_of, change, matrix):
    rounded = matrix * (1 + 2 * np.finfo(float).eps)
    passes = iter([matrix, rounded, CHANGES[change](matrix)])
    some = chunks_of(lambda: iter([next(passes)]))[np.arange(23) < 9]
    assert_array_equal(next(iter(some)).toarray(), rounded[:9])
    with pytest.raises(ValueError, match=r"chunk 0 of features has changed since the first pass; give the"):
        list(some)
