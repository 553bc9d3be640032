"""One network in every format of files: the same features, links and names."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import io, sparse

from blockselect.errors import ParameterError
from blockselect.graphs import read_attributed_graph, read_features, read_graph

networkx = pytest.importorskip("networkx")
pytest.importorskip("pyarrow")

FRAME = pd.DataFrame({"red": [1.0, 0.5, 0.0], "blue": [0.0, 2.0, 3.0]}, index=["007", "x", "NA"])
EDGES = pd.DataFrame({"source": ["NA", "x"], "target": ["007", "NA"], "weight": [2.0, 1.5]})
EXPECTED = np.array([[0, 0, 2], [0, 0, 1.5], [2, 1.5, 0]])
TEXT = FRAME.to_csv(index_label="id")
GRAPH = networkx.from_pandas_edgelist(EDGES, edge_attr="weight")


def packed(path: Path, text: str) -> None:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix == ".zst":
        path.write_bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(text.encode()))
    else:
        path.write_text(text)


TABLES = {
    "f.csv": lambda path: packed(path, TEXT),
    "f.tsv": lambda path: packed(path, TEXT.replace(",", "\t")),
    "f.txt": lambda path: packed(path, TEXT.replace(",", "\t")),
    "f.csv.gz": lambda path: packed(path, TEXT),
    "f.tsv.zst": lambda path: packed(path, TEXT.replace(",", "\t")),
    "indexed.parquet": lambda path: FRAME.to_parquet(path),
    "plain.parquet": lambda path: FRAME.reset_index(names="id").to_parquet(path),
    "f.feather": lambda path: FRAME.reset_index(names="id").to_feather(path),
}
NETWORKS = {
    "e.csv": lambda path: EDGES.to_csv(path, index=False),
    "e.csv.gz": lambda path: EDGES.to_csv(path, index=False),
    "e.tsv.zst": lambda path: packed(path, EDGES.to_csv(index=False, sep="\t")),
    "e.parquet": lambda path: EDGES.to_parquet(path),
    "e.feather": lambda path: EDGES.to_feather(path),
    "e.edgelist": lambda path: networkx.write_weighted_edgelist(GRAPH, path),
    "e.edgelist.gz": lambda path: networkx.write_weighted_edgelist(GRAPH, path),
    "e.graphml": lambda path: networkx.write_graphml(GRAPH, path),
    "e.gml": lambda path: networkx.write_gml(GRAPH, path),
    "e.npz": lambda path: sparse.save_npz(path, sparse.csr_array(EXPECTED)),
    "e.mat": lambda path: io.savemat(path, {"Network": sparse.csc_matrix(EXPECTED), "Label": np.eye(3)}),
}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("table", ["f.csv", "f.tsv.zst", "indexed.parquet"])
def test_every_pair_of_formats_gives_the_same_network(tmp_path, table, network):
    TABLES[table](tmp_path / table)
    NETWORKS[network](tmp_path / network)
    graph = read_attributed_graph(tmp_path / table, tmp_path / network)
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert_array_equal(graph.features, FRAME)
    assert graph.node_ids.tolist() == FRAME.index.tolist()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_gives_numbers_and_names(tmp_path, name):
    TABLES[name](tmp_path / name)
    table = read_features(tmp_path / name)
    assert_array_equal(table.matrix, FRAME)
    assert list(table.node_ids) == FRAME.index.tolist()
    assert list(table.feature_names) == ["red", "blue"]


def write_10x(folder: Path, packing: str = "", genes: str = "features.tsv", start: str = "") -> Path:
    io.mmwrite(folder / "matrix.mtx", sparse.coo_array(FRAME.to_numpy().T))
    text = (folder / "matrix.mtx").read_text()
    (folder / "matrix.mtx").unlink()
    packed(folder / f"{start}matrix.mtx{packing}", text)
    packed(folder / f"{start}barcodes.tsv{packing}", "".join(f"{name}\n" for name in FRAME.index))
    packed(folder / f"{start}{genes}{packing}", "ENSG1\tred\tGene Expression\nENSG2\tblue\tGene Expression\n")
    return folder / f"{start}matrix.mtx{packing}"


@pytest.mark.parametrize(
    ("packing", "genes", "start"),
    [(".gz", "features.tsv", ""), ("", "genes.tsv", ""), (".gz", "features.tsv", "GSM1_")],
)
def test_a_folder_of_10x_is_read_cells_in_rows(tmp_path, packing, genes, start):
    table = read_features(write_10x(tmp_path, packing, genes, start))
    assert_array_equal(table.matrix.toarray(), FRAME)
    assert list(table.node_ids) == FRAME.index.tolist()
    assert list(table.feature_names) == ["red", "blue"]


def test_names_of_10x_that_do_not_fit_are_refused(tmp_path):
    path = write_10x(tmp_path)
    (tmp_path / "barcodes.tsv").write_text("one\n")
    with pytest.raises(ValueError, match=r"shape \(2, 3\), but features\.tsv has 2 lines and barcodes\.tsv 1"):
        read_features(path)


def test_genes_of_one_symbol_are_called_by_their_ids(tmp_path):
    path = write_10x(tmp_path)
    (tmp_path / "features.tsv").write_text("ENSG1\tred\nENSG2\tred\n")
    assert list(read_features(path).feature_names) == ["ENSG1", "ENSG2"]


def test_genes_may_have_one_column_of_names(tmp_path):
    path = write_10x(tmp_path)
    (tmp_path / "features.tsv").write_text("red\nblue\n")
    assert list(read_features(path).feature_names) == ["red", "blue"]


def test_columns_of_edges_may_be_numbers(tmp_path):
    TABLES["f.csv"](tmp_path / "f.csv")
    pd.DataFrame([("NA", "007"), ("x", "NA")]).to_parquet(tmp_path / "e.parquet")
    graph = read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.parquet")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED > 0)


def test_names_may_lie_in_files_of_their_own_and_rows_may_be_features(tmp_path):
    np.save(tmp_path / "f.npy", FRAME.to_numpy().T)
    (tmp_path / "ids.txt").write_text("007\nx\nNA\n")
    (tmp_path / "names.txt").write_text("red\nblue\n")
    NETWORKS["e.csv"](tmp_path / "e.csv")
    graph = read_attributed_graph(
        tmp_path / "f.npy",
        tmp_path / "e.csv",
        node_ids=tmp_path / "ids.txt",
        feature_names=tmp_path / "names.txt",
        transpose=True,
    )
    assert_array_equal(graph.features, FRAME)
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert graph.feature_names.tolist() == ["red", "blue"]


def test_a_transpose_is_suggested_where_the_graph_fits_the_columns(tmp_path):
    np.save(tmp_path / "f.npy", FRAME.to_numpy().T)
    NETWORKS["e.npz"](tmp_path / "e.npz")
    with pytest.raises(ValueError, match=r"fits the columns .* give --transpose"):
        read_attributed_graph(tmp_path / "f.npy", tmp_path / "e.npz")
    FRAME.T.to_csv(tmp_path / "f.csv", index_label="word")
    NETWORKS["e.csv"](tmp_path / "e.csv")
    with pytest.raises(ValueError, match=r"no row in features.*fits the columns"):
        read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv")
    assert_array_equal(read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv", transpose=True).features, FRAME)


@pytest.mark.parametrize("name", ["e.csv", "e.graphml"])
def test_links_of_unknown_nodes_are_dropped_where_asked(tmp_path, name):
    FRAME.iloc[1:].to_csv(tmp_path / "f.csv", index_label="id")
    NETWORKS[name](tmp_path / name)
    with pytest.raises(ValueError, match="'007'"):
        read_attributed_graph(tmp_path / "f.csv", tmp_path / name)
    with pytest.warns(UserWarning, match=r"1 link\(s\) of nodes without features are left out"):
        graph = read_attributed_graph(tmp_path / "f.csv", tmp_path / name, unknown_nodes="drop")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED[1:, 1:])


def test_what_to_do_with_unknown_nodes_is_not_guessed(tmp_path):
    with pytest.raises(ParameterError, match=r"unknown_nodes is 'dorp'; choose one of \['error', 'drop'\]"):
        read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv", unknown_nodes="dorp")


def test_the_weight_may_be_chosen(tmp_path):
    TABLES["f.csv"](tmp_path / "f.csv")
    EDGES.rename(columns={"weight": "calls"}).assign(year=2020).to_csv(tmp_path / "e.csv", index=False)
    with pytest.raises(ValueError, match="edge column 'calls' holds numbers but is not called weight"):
        read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv")
    graph = read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv", weight="calls")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    plain = read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv", weight=False)
    assert_array_equal(plain.adjacency.toarray(), EXPECTED > 0)


def test_cells_of_anndata_bring_features_and_graph(tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(sparse.csr_matrix(FRAME.to_numpy()), FRAME[[]], FRAME.T[[]])
    cells.obsp["connectivities"] = sparse.csr_matrix(EXPECTED)
    cells.write_h5ad(tmp_path / "cells.h5ad")
    graph = read_attributed_graph(tmp_path / "cells.h5ad", tmp_path / "cells.h5ad")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert graph.feature_names.tolist() == ["red", "blue"]


BOMB = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaa">]><graphml/>'
BAD = {
    "no gzip": ("f.csv.gz", b"id,a\nx,1\n", read_features, r"f\.csv\.gz could not be unpacked.*pack it again"),
    "no parquet": ("f.parquet", b"id,a\nx,1\n", read_features, r"f\.parquet could not be read.*write it again"),
    "no feather": ("f.feather", b"id,a\nx,1\n", read_features, r"f\.feather could not be read"),
    "packed matrix": ("f.npz.gz", b"x", read_features, r"packed, which \.npz files must not be; unpack"),
    "no mat": ("f.mat", b"nothing of MATLAB" * 20, read_features, r"f\.mat could not be read"),
    "no graphml": ("f.graphml", b"<graphml>", read_graph, r"f\.graphml is no readable graphml file"),
    "entities": ("f.graphml", BOMB.encode(), read_graph, r"declares entities.*export it again"),
    "no gml": ("f.gml", b"graph [ node", read_graph, r"f\.gml is no readable gml file"),
    "short line": ("f.edgelist", b"a b 1\nb c\n", read_graph, r"f\.edgelist, line 2: 2 cell\(s\)"),
    "attributes": ("f.edgelist", b"a b {'weight': 1}\n", read_graph, r"line 1: attributes in braces"),
    "edges not utf-8": ("f.edgelist", b"a \xfc\n", read_graph, r"f\.edgelist is not UTF-8.*save it as UTF-8"),
    "graph not utf-8": ("f.gml", b"graph [ \xfc ]", read_graph, r"f\.gml is not UTF-8"),
    "remarks alone": ("f.edgelist", b"# a b\n", read_graph, r"has no edge"),
    "features in a markup": ("f.graphml", b"<graphml/>", read_features, r"suffix '\.graphml'; expected one of \.csv"),
    "unknown": ("f.xlsx", b"x", read_graph, r"suffix '\.xlsx'; expected one of .*\.edgelist"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "read", "message"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_named_with_problem_and_fix(tmp_path, name, content, read, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / name)


def test_matrices_of_a_mat_file_are_chosen_by_name_or_refused(tmp_path):
    io.savemat(tmp_path / "f.mat", {"Attributes": FRAME.to_numpy(), "Network": EXPECTED})
    assert_array_equal(read_features(tmp_path / "f.mat").matrix, FRAME)
    io.savemat(tmp_path / "f.mat", {"one": FRAME.to_numpy(), "two": EXPECTED})
    with pytest.raises(ValueError, match=r"holds the matrices \['one', 'two'\], none of which is called features"):
        read_features(tmp_path / "f.mat")


@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("a\n\nb\n", "line 2 has no name")])
def test_a_list_of_names_has_one_a_line(tmp_path, text, message):
    np.save(tmp_path / "f.npy", FRAME.to_numpy())
    (tmp_path / "names.txt").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_features(tmp_path / "f.npy", feature_names=tmp_path / "names.txt")


def test_what_unpacks_to_far_more_than_data_do_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("blockselect.graphs.io.declared_sizes.UNPACKED_BYTES", 1000)
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(b"id,a\n" + b"x,1\n" * 10**6))
    with pytest.raises(ValueError, match=r"could not be unpacked: it unpacks to more than"):
        read_features(tmp_path / "f.csv.gz")


def test_numbers_alone_bring_no_ids(tmp_path):
    FRAME.reset_index(drop=True).to_parquet(tmp_path / "f.parquet")
    table = read_features(tmp_path / "f.parquet")
    assert table.node_ids is None
    assert_array_equal(table.matrix, FRAME)


def test_whole_numbers_of_many_digits_are_numbers(tmp_path):
    (tmp_path / "f.csv").write_text(f"id,a\nx,1\ny,{10**25}\n")
    assert_array_equal(read_features(tmp_path / "f.csv").matrix, [[1], [1e25]])


def test_nothing_is_said_where_all_nodes_of_the_links_are_known(tmp_path):
    TABLES["f.csv"](tmp_path / "f.csv")
    NETWORKS["e.csv"](tmp_path / "e.csv")
    graph = read_attributed_graph(tmp_path / "f.csv", tmp_path / "e.csv", unknown_nodes="drop")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)


class Cells:
    """What is read of an AnnData, so that the test needs no anndata."""

    X, layers = sparse.csr_matrix(FRAME.to_numpy()), {}
    obs_names, var_names = FRAME.index, FRAME.columns
    obsp = {"connectivities": sparse.csr_matrix(EXPECTED)}  # noqa: RUF012


def test_an_h5ad_file_brings_both_and_knows_its_nodes(tmp_path, monkeypatch):
    (tmp_path / "cells.h5ad").write_bytes(b"any")
    monkeypatch.setitem(sys.modules, "anndata", SimpleNamespace(read_h5ad=lambda path: Cells()))
    graph = read_attributed_graph(tmp_path / "cells.h5ad", tmp_path / "cells.h5ad", unknown_nodes="drop")
    assert_array_equal(graph.adjacency.toarray(), EXPECTED)
    assert_array_equal(graph.features.toarray(), FRAME)
    assert graph.feature_names.tolist() == ["red", "blue"]


@pytest.mark.parametrize("read", [read_features, read_graph])
def test_an_h5ad_file_says_what_it_needs(tmp_path, monkeypatch, read):
    (tmp_path / "cells.h5ad").write_bytes(b"any")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"an \.h5ad file needs anndata; .*'blockselect\[anndata\]'"):
        read(tmp_path / "cells.h5ad")
