"""One network in every file format: the same features, links and names. Invalid files are in tests/error_cases."""

from __future__ import annotations

import gzip
import re
import sys
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import io, sparse

from blockselect.inputs import read_attributed_graph, read_features, read_graph
from blockselect.utils.errors import ParameterError

networkx = pytest.importorskip("networkx")
pytest.importorskip("pyarrow")

FRAME = pd.DataFrame({"red": [1.0, 0.5, 0.0], "blue": [0.0, 2.0, 3.0]}, index=["007", "x", "NA"])
EDGES = pd.DataFrame({"source": ["NA", "x"], "target": ["007", "NA"], "weight": [2.0, 1.5]})
EXPECTED = np.array([[0, 0, 2], [0, 0, 1.5], [2, 1.5, 0]])
TEXT = "id,red,blue\n007,1,0\nx,0.5,2\nNA,0,3\n"
GRAPH = networkx.from_pandas_edgelist(EDGES, edge_attr="weight")


def packed(path: Path, text: str) -> Path:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, newline="")
    return path


TABLES = {
    "f.csv": lambda path: packed(path, TEXT),
    "f.tsv": lambda path: packed(path, TEXT.replace(",", "\t")),
    "f.txt": lambda path: packed(path, TEXT.replace(",", "\t")),
    "f.csv.gz": lambda path: packed(path, TEXT),
    "f.tsv.gz": lambda path: packed(path, TEXT.replace(",", "\t")),
    "indexed.parquet": lambda path: FRAME.to_parquet(path),
    "plain.parquet": lambda path: FRAME.reset_index(names="id").to_parquet(path),
    "f.feather": lambda path: FRAME.reset_index(names="id").to_feather(path),
}
MATRICES = {
    "dense.npz": lambda path: np.savez(path, EXPECTED),
    "csr.npz": lambda path: sparse.save_npz(path, sparse.csr_array(EXPECTED)),
    "csc.npz": lambda path: sparse.save_npz(path, sparse.csc_matrix(EXPECTED)),
    "coo.npz": lambda path: sparse.save_npz(path, sparse.coo_array(EXPECTED)),
    "dense.npy": lambda path: np.save(path, EXPECTED),
    "sparse.mtx": lambda path: io.mmwrite(path, sparse.coo_array(EXPECTED)),
    "dense.mtx": lambda path: io.mmwrite(path, EXPECTED),
    "LOUD.MTX": lambda path: path.write_bytes(mtx(EXPECTED)),
    "sparse.mtx.gz": lambda path: packed(path, mtx(EXPECTED).decode()),
    "sparse.mat": lambda path: io.savemat(path, {"Network": sparse.csc_matrix(EXPECTED), "Label": np.eye(2)[:1]}),
    "dense.mat": lambda path: io.savemat(path, {"any": EXPECTED}, do_compression=True),
    "dense_4.mat": lambda path: io.savemat(path, {"any": EXPECTED}, format="4"),
}
NETWORKS = {
    "e.csv": lambda path: EDGES.to_csv(path, index=False),
    "e.csv.gz": lambda path: EDGES.to_csv(path, index=False),
    "e.tsv.gz": lambda path: packed(path, EDGES.to_csv(index=False, sep="\t")),
    "e.parquet": lambda path: EDGES.to_parquet(path),
    "e.feather": lambda path: EDGES.to_feather(path),
    "e.edgelist": lambda path: networkx.write_weighted_edgelist(GRAPH, path),
    "e.edgelist.gz": lambda path: networkx.write_weighted_edgelist(GRAPH, path),
    "e.graphml": lambda path: networkx.write_graphml(GRAPH, path),
    "e.gml": lambda path: networkx.write_gml(GRAPH, path),
    "e.npz": MATRICES["csr.npz"],
    "e.mat": MATRICES["sparse.mat"],
}


def mtx(matrix: object) -> bytes:
    file = BytesIO()
    io.mmwrite(file, sparse.coo_array(matrix))
    return file.getvalue()


def written(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (TABLES | MATRICES | NETWORKS)[name](folder / name)
    return [folder / name for name in names]


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def assert_is_the_table(table):
    assert_array_equal(dense(table.matrix), FRAME)
    assert list(table.node_ids) == FRAME.index.tolist()
    assert list(table.feature_names) == ["red", "blue"]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("table", ["f.csv", "f.tsv.gz", "indexed.parquet"])
def test_every_pair_of_formats_gives_the_same_network(tmp_path, table, network):
    graph = read_attributed_graph(*written(tmp_path, table, network))
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert_array_equal(graph.features, FRAME)
    assert graph.node_ids.tolist() == FRAME.index.tolist()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_gives_numbers_and_names(tmp_path, name):
    assert_is_the_table(read_features(*written(tmp_path, name)))


@pytest.mark.parametrize("name", MATRICES)
def test_matrix_files_give_back_what_was_written(tmp_path, name):
    (path,) = written(tmp_path, name)
    table = read_features(path)
    assert sparse.issparse(table.matrix) == (not name.startswith("dense"))
    assert_array_equal(dense(table.matrix), EXPECTED)
    assert table.node_ids is None
    assert table.feature_names is None
    assert_array_equal(read_graph(path).toarray(), EXPECTED)


@given(matrix=arrays(np.float64, (3, 4), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_a_feature_csv_gives_back_what_pandas_wrote(tmp_path_factory, matrix):
    path = tmp_path_factory.mktemp("csv") / "features.csv"
    pd.DataFrame(matrix, index=["a", "b", "c"]).to_csv(path)
    table = read_features(str(path))
    np.testing.assert_allclose(table.matrix, matrix, rtol=1e-14)
    assert table.node_ids.tolist() == ["a", "b", "c"]
    assert table.feature_names.tolist() == ["0", "1", "2", "3"]


DIALECTS = {
    "semicolon": TEXT.replace(",", ";"),
    "tab": TEXT.replace(",", "\t"),
    "windows": TEXT.replace("\n", "\r\n"),
    "byte-order mark": "\ufeff" + TEXT,
    "spaces": TEXT.replace(",", " , "),
    "blank lines": TEXT.replace("x,", "\n  \nx,").rstrip(),
    "quotes": '"id", "red","blue"\n"007",1,0\n"x", "0.5",2\n"NA",0,3\n',
    "quoted id": TEXT.replace("id", '"id, of a node; any"'),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_csv_dialects_read_the_same(tmp_path, dialect):
    assert_is_the_table(read_features(packed(tmp_path / "features.csv", DIALECTS[dialect])))


def test_truth_values_and_numbers_of_many_digits_are_numbers(tmp_path):
    table = read_features(packed(tmp_path / "features.csv", f"id,a,b\nx,True,1\ny,False,{10**25}\n"))
    assert_array_equal(table.matrix, [[1, 1], [0, 1e25]])


def test_a_table_of_numbers_has_no_ids(tmp_path):
    FRAME.reset_index(drop=True).to_parquet(tmp_path / "f.parquet")
    table = read_features(tmp_path / "f.parquet")
    assert table.node_ids is None
    assert_array_equal(table.matrix, FRAME)


def write_10x(folder: Path, packing: str = "", genes: str = "features.tsv", start: str = "") -> Path:
    packed(folder / f"{start}barcodes.tsv{packing}", "".join(f"{name}\n" for name in FRAME.index))
    packed(folder / f"{start}{genes}{packing}", "ENSG1\tred\tGene Expression\nENSG2\tblue\tGene Expression\n")
    return packed(folder / f"{start}matrix.mtx{packing}", mtx(FRAME.to_numpy().T).decode())


@pytest.mark.parametrize(
    ("packing", "genes", "start"),
    [(".gz", "features.tsv", ""), ("", "genes.tsv", ""), (".gz", "features.tsv", "GSM1_")],
)
def test_files_of_10x_are_read_with_cells_in_rows(tmp_path, packing, genes, start):
    assert_is_the_table(read_features(write_10x(tmp_path, packing, genes, start)))


@pytest.mark.parametrize(
    ("lines", "names"), [("ENSG1\tred\nENSG2\tred\n", ["ENSG1", "ENSG2"]), ("red\nblue\n", ["red", "blue"])]
)
def test_genes_are_named_by_the_first_column_if_the_second_has_duplicates(tmp_path, lines, names):
    path = write_10x(tmp_path)
    (tmp_path / "features.tsv").write_text(lines)
    assert list(read_features(path).feature_names) == names


def test_names_of_10x_must_fit_the_matrix(tmp_path):
    path = write_10x(tmp_path)
    (tmp_path / "barcodes.tsv").write_text("one\n")
    with pytest.raises(ValueError, match=r"shape \(2, 3\), but features\.tsv has 2 lines and barcodes\.tsv 1"):
        read_features(path)


def test_names_may_be_in_separate_files_and_features_in_rows(tmp_path):
    np.save(tmp_path / "f.npy", FRAME.to_numpy().T)
    names = {"node_ids": tmp_path / "ids.txt", "feature_names": tmp_path / "names.txt"}
    packed(names["node_ids"], "007\nx\nNA\n")
    packed(names["feature_names"], "red\r\nblue\r\n")
    graph = read_attributed_graph(tmp_path / "f.npy", *written(tmp_path, "e.csv"), **names, transpose=True)
    assert_array_equal(graph.features, FRAME)
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert graph.feature_names.tolist() == ["red", "blue"]


@pytest.mark.parametrize(
    ("text", "message"), [("", "names.txt is empty"), ("a\n\nb\n", "names.txt: line 2 has no name; write one name per")]
)
def test_a_list_of_names_has_one_per_line(tmp_path, text, message):
    np.save(tmp_path / "f.npy", FRAME.to_numpy())
    with pytest.raises(ValueError, match=message):
        read_features(tmp_path / "f.npy", feature_names=packed(tmp_path / "names.txt", text))


def test_a_table_may_be_transposed(tmp_path):
    FRAME.T.to_parquet(tmp_path / "f.parquet")
    assert_is_the_table(read_features(tmp_path / "f.parquet", transpose=True))


def test_transpose_is_suggested_if_the_graph_fits_the_columns(tmp_path):
    np.save(tmp_path / "f.npy", FRAME.to_numpy().T)
    matrix, edges = written(tmp_path, "e.npz", "e.csv")
    with pytest.raises(ValueError, match=r"fits the columns .* give transpose=True"):
        read_attributed_graph(tmp_path / "f.npy", matrix)
    FRAME.T.to_csv(tmp_path / "f.csv", index_label="word")
    with pytest.raises(ValueError, match=r"no row in features.*fits the columns"):
        read_attributed_graph(tmp_path / "f.csv", edges)
    assert_array_equal(read_attributed_graph(tmp_path / "f.csv", edges, transpose=True).features, FRAME)


def test_edges_find_their_nodes_by_name(tmp_path):
    edges = packed(tmp_path / "e.csv", "\ufefftarget,source,note,weight\nNA,007,,2\nx, NA ,,1.5\nNA,007,,3\n")
    graph = read_attributed_graph(*written(tmp_path, "f.csv"), edges)
    assert_array_equal(graph.adjacency.toarray(), [[0, 0, 5], [0, 0, 1.5], [5, 1.5, 0]])


def test_numeric_ids_are_the_same_text_in_both_tables(tmp_path):
    features = packed(tmp_path / "features.csv", "id,a\n10,1\n2,2\n3,0\n")
    edges = packed(tmp_path / "edges.csv", "from,to\n2,10\n")
    assert_array_equal(read_attributed_graph(features, edges).adjacency.toarray()[0], [0, 1, 0])


def test_edges_name_row_numbers_if_features_have_no_ids(tmp_path):
    edges = packed(tmp_path / "edges.csv", "source,target\n0,2\n")
    graph = read_attributed_graph(*written(tmp_path, "dense.npy"), edges)
    assert_array_equal(graph.adjacency.toarray(), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_nodes_named_source_and_target_are_not_a_missing_header(tmp_path):
    features = packed(tmp_path / "features.csv", "id,a\nsource,1\ntarget,2\n")
    edges = packed(tmp_path / "edges.csv", "source,target\nsource,target\n")
    assert read_attributed_graph(features, edges).n_links == 1


def test_columns_of_edges_may_be_numbers(tmp_path):
    pd.DataFrame([("NA", "007"), ("x", "NA")]).to_parquet(tmp_path / "e.parquet")
    graph = read_attributed_graph(*written(tmp_path, "f.csv"), tmp_path / "e.parquet")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED > 0)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_table_without_edges_is_refused(tmp_path, suffix):
    path = tmp_path / f"table.{suffix}"
    for columns in ({}, {"only": [1.0, 2.0]}):
        getattr(pd.DataFrame(columns), f"to_{suffix}")(path)
        with pytest.raises(ValueError, match=rf"table\.{suffix} could not be read: .*source, target.*; write it again"):
            read_graph(path)


def test_default_values_of_graphml_are_read(tmp_path):
    lines = "\n".join(networkx.generate_graphml(networkx.Graph([("007", "x", {"weight": 3.0}), ("x", "NA")])))
    with_default = re.sub(r"(<key [^>]*weight[^>]*)/>", r"\1><default>2.5</default></key>", lines)
    graph = read_attributed_graph(*written(tmp_path, "f.csv"), packed(tmp_path / "e.graphml", with_default))
    assert_array_equal(graph.adjacency.toarray(), [[0, 3, 0], [3, 0, 2.5], [0, 2.5, 0]])


def test_a_number_and_the_same_text_are_refused_as_gml_labels(tmp_path):
    nodes = 'node [ id 0 label 1 ] node [ id 1 label "1" ] node [ id 2 label "x" ]'
    path = packed(tmp_path / "e.gml", f"graph [ {nodes} edge [ source 0 target 2 ] ]")
    with pytest.raises(ValueError, match=r"e\.gml: 1 label\(s\) name two nodes, .* example 1; give each node"):
        read_graph(path)


@pytest.mark.parametrize("name", ["e.csv", "e.graphml"])
def test_links_of_unknown_nodes_are_dropped_on_request(tmp_path, name):
    FRAME.iloc[1:].to_csv(tmp_path / "f.csv", index_label="id")
    paths = tmp_path / "f.csv", *written(tmp_path, name)
    with pytest.raises(ValueError, match="'007'"):
        read_attributed_graph(*paths)
    with pytest.warns(UserWarning, match=r"1 link\(s\) of nodes without features are left out"):
        graph = read_attributed_graph(*paths, unknown_nodes="drop")
    assert_array_equal(graph.adjacency.toarray(), [[0, 1.5], [1.5, 0]])


def test_no_warning_if_all_nodes_are_known(tmp_path):
    graph = read_attributed_graph(*written(tmp_path, "f.csv", "e.csv"), unknown_nodes="drop")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)


def test_an_unknown_value_of_unknown_nodes_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"unknown_nodes is 'dorp'; choose one of \['error', 'drop'\]"):
        read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv", unknown_nodes="dorp")


def test_the_weight_may_be_chosen(tmp_path):
    paths = [*written(tmp_path, "f.csv"), tmp_path / "e.csv"]
    EDGES.rename(columns={"weight": "calls"}).assign(year=2020).to_csv(paths[1], index=False)
    with pytest.raises(ValueError, match="edge column 'calls' contains numbers but is not called weight"):
        read_attributed_graph(*paths)
    assert_array_equal(read_attributed_graph(*paths, weight="calls").adjacency.toarray(), EXPECTED)
    assert_array_equal(read_attributed_graph(*paths, weight=False).adjacency.toarray(), EXPECTED > 0)


def test_the_weights_of_a_matrix_may_be_left_out_but_not_chosen(tmp_path):
    paths = written(tmp_path, "f.csv", "e.npz")
    assert_array_equal(read_attributed_graph(*paths, weight=False).adjacency.toarray(), EXPECTED > 0)
    with pytest.raises(ValueError, match=r"e\.npz: weight is 'calls', but the entries of a matrix are its weights"):
        read_attributed_graph(*paths, weight="calls")


def test_sizes_that_differ_name_both_files(tmp_path):
    np.save(tmp_path / "graph.npy", np.ones((4, 4)))
    with pytest.raises(ValueError, match=r"f\.csv with .*graph\.npy: adjacency has 4 nodes but features has 3"):
        read_attributed_graph(*written(tmp_path, "f.csv"), tmp_path / "graph.npy")


def test_matrices_of_a_mat_file_are_chosen_by_name(tmp_path):
    io.savemat(tmp_path / "f.mat", {"Attributes": FRAME.to_numpy(), "Network": EXPECTED, "note": "text", "s": {"a": 1}})
    assert_array_equal(read_features(tmp_path / "f.mat").matrix, FRAME)
    assert_array_equal(read_graph(tmp_path / "f.mat").toarray(), EXPECTED)


def test_an_h5ad_file_of_anndata_has_features_and_graph(tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(sparse.csr_matrix(FRAME.to_numpy()), FRAME[[]], FRAME.T[[]])
    cells.obsp["connectivities"] = sparse.csr_matrix(EXPECTED)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    graph = read_attributed_graph(tmp_path / "cells.h5ad", tmp_path / "cells.h5ad")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert graph.feature_names.tolist() == ["red", "blue"]


class Cells:
    """The parts of an AnnData that are read, so that the test does not need anndata."""

    X, layers = sparse.csr_matrix(FRAME.to_numpy()), {}
    obs_names, var_names = FRAME.index, FRAME.columns
    obsp = {"connectivities": sparse.csr_matrix(EXPECTED)}  # noqa: RUF012


def test_an_h5ad_file_has_features_and_graph(tmp_path, monkeypatch):
    (tmp_path / "cells.h5ad").write_bytes(b"any")
    monkeypatch.setitem(sys.modules, "anndata", SimpleNamespace(read_h5ad=lambda path: Cells()))
    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(Group=dict, File=lambda path: nullcontext({})))
    for files in ([tmp_path / "cells.h5ad"], [tmp_path / "cells.h5ad"] * 2):
        graph = read_attributed_graph(*files, unknown_nodes="drop")
        assert_array_equal(graph.adjacency.toarray(), EXPECTED)
        assert_array_equal(graph.features.toarray(), FRAME)
        assert graph.feature_names.tolist() == ["red", "blue"]


@pytest.mark.parametrize("read", [read_features, read_graph])
def test_an_h5ad_file_says_what_it_needs(tmp_path, monkeypatch, read):
    (tmp_path / "cells.h5ad").write_bytes(b"any")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"an \.h5ad file needs anndata; .*'blockselect\[anndata\]'"):
        read(tmp_path / "cells.h5ad")
