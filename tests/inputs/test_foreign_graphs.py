"""One graph in the types of many libraries: the same links; graphs that could be misread are refused."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect import BlockModelSelector, as_adjacency, check_attributed_graph, find_block_models, make_selector

networkx = pytest.importorskip("networkx")
igraph = pytest.importorskip("igraph")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

NAMES = ["ann", "bob", "cleo", "dan"]
LINKS = [("ann", "bob", 2.0), ("cleo", "bob", 0.5), ("dan", "ann", 1.0)]
EXPECTED = np.array([[0, 2, 0, 1], [2, 0, 0.5, 0], [0, 0.5, 0, 0], [1, 0, 0, 0]])
SHUFFLED = ["cleo", "ann", "dan", "bob"]  # the order of the features' rows
FEATURES = pd.DataFrame(np.eye(4), index=SHUFFLED, columns=list("wxyz"))
TABLE = pd.DataFrame(LINKS, columns=["source", "target", "weight"])


class Cells(SimpleNamespace):
    """Supports weak references, as an AnnData does."""


def weighted(graph):
    graph.add_nodes_from(NAMES)
    graph.add_weighted_edges_from(LINKS)
    return graph


def named_igraph():
    graph = igraph.Graph.TupleList(LINKS[::-1], weights=True)
    assert graph.vs["name"] != NAMES
    return graph


class Rustworkx(SimpleNamespace):
    """The methods of a PyGraph that are used; numbers of removed nodes are not used again."""

    def __init__(self, edges, nodes=(0, 1, 2, 3), **others):
        super().__init__(weighted_edge_list=lambda: edges, node_indices=lambda: nodes, **others)


class Networkit(SimpleNamespace):
    def __init__(self, edges, directed=False):
        super().__init__(
            iterEdgesWeights=lambda: iter(edges), iterNodes=lambda: iter(range(4)), isDirected=lambda: directed
        )


BY_NAME = {
    "libpysal, W": lambda: SimpleNamespace(sparse=sparse.csr_matrix(EXPECTED), id_order=NAMES),
    "libpysal, Graph": lambda: SimpleNamespace(sparse=sparse.csr_array(EXPECTED), unique_ids=pd.Index(NAMES)),
    "scikit-network": lambda: {"adjacency": sparse.csr_matrix(EXPECTED), "names": np.array(NAMES)},
    "networkx": lambda: weighted(networkx.Graph()),
    "networkx, directed": lambda: weighted(networkx.DiGraph()),
    "networkx, multi": lambda: weighted(networkx.MultiGraph()),
    "igraph": named_igraph,
    "pandas": lambda: TABLE,
    "polars": lambda: polars.from_pandas(TABLE),
    "polars, lazy": lambda: polars.from_pandas(TABLE).lazy(),
    "Arrow": lambda: pyarrow.Table.from_pandas(TABLE),
    "edges of networkx": lambda: weighted(networkx.Graph()).edges(data=True),
    "list with attributes": lambda: [(start, end, {"weight": weight}) for start, end, weight in LINKS],
    "AnnData": lambda: SimpleNamespace(
        X=None, obs_names=pd.Index(NAMES), var_names=[], obsp={"connectivities": sparse.csr_matrix(EXPECTED)}
    ),
}


@pytest.mark.parametrize("make", BY_NAME.values(), ids=BY_NAME.keys())
def test_nodes_with_ids_are_matched_with_the_rows_by_id(make):
    place = [NAMES.index(name) for name in SHUFFLED]
    adjacency = check_attributed_graph(FEATURES, make()).adjacency
    assert_array_equal(adjacency.toarray(), EXPECTED[np.ix_(place, place)])


PAIRS = np.array([[0, 1], [2, 1], [3, 0], [2, 3]])
NUMBERED = {
    "pairs": lambda: [tuple(pair) for pair in PAIRS.tolist()],
    "array (E, 2)": lambda: PAIRS,
    "array (2, E)": lambda: PAIRS.T,
    "networkx": lambda: networkx.from_edgelist(PAIRS[np.argsort(PAIRS[:, 0])].tolist()),
    "igraph": lambda: igraph.Graph(edges=PAIRS.tolist()),
    "PyTorch Geometric": lambda: SimpleNamespace(edge_index=PAIRS.T, num_nodes=4),
    "rustworkx": lambda: Rustworkx([(*pair, None) for pair in PAIRS.tolist()]),
    "networkit": lambda: Networkit([(*pair, 1.0) for pair in PAIRS.tolist()]),
}


@pytest.mark.parametrize("make", NUMBERED.values(), ids=NUMBERED.keys())
def test_numbered_nodes_are_the_rows(make):
    graph = make()
    if isinstance(graph, networkx.Graph):  # in the order of the rows: else it would be refused
        numbered = networkx.Graph()
        numbered.add_nodes_from(range(4))
        numbered.add_edges_from(graph.edges)
        graph = numbered
    adjacency = check_attributed_graph(np.eye(4), graph).adjacency
    assert_array_equal(np.argwhere(np.triu(adjacency.toarray())), [[0, 1], [0, 3], [1, 2], [2, 3]])


def test_edges_of_rustworkx_have_a_weight_or_attributes():
    edges = [(0, 1, 2.0), (1, 0, {"weight": 3, "strength": 7}), (2, 3, None)]
    one_way = {"successors": None}
    for others, expected in (({}, 5), (one_way, 3)):  # parallel links are added up, those of two directions are not
        graph = Rustworkx(edges, **others)
        adjacency = check_attributed_graph(np.eye(4), graph).adjacency
        assert (adjacency[0, 1], adjacency[2, 3]) == (expected, 1)
    assert as_adjacency(Rustworkx(edges[1:]), weight="strength")[0, 1] == 7
    assert as_adjacency(Rustworkx(edges), weight=False).sum() == 3
    holes = Rustworkx([(1, 4, 2.0)], nodes=(1, 4))
    assert check_attributed_graph(pd.DataFrame(np.eye(2), index=[4, 1]), holes).n_links == 1
    with pytest.raises(ValueError, match=r"2 node\(s\) are in only one"):
        check_attributed_graph(np.eye(2), holes)


def test_names_of_a_scikit_network_dataset_are_those_of_its_rows():
    dataset = {"adjacency": sparse.csr_matrix(EXPECTED), "names": np.array(NAMES)}
    assert_array_equal(check_attributed_graph(np.eye(4), dataset).adjacency.toarray(), EXPECTED)
    del dataset["names"]
    assert_array_equal(check_attributed_graph(np.eye(4), dataset).adjacency.toarray(), EXPECTED)


def test_graphs_of_installed_packages_are_read():
    karate = networkx.karate_club_graph()
    expected = networkx.to_scipy_sparse_array(karate).toarray()
    found = {}
    with suppress(ImportError):
        found["libpysal"] = import_module("libpysal.weights").W.from_networkx(karate)
    with suppress(ImportError):
        found["rustworkx"] = import_module("rustworkx").networkx_converter(karate)
    with suppress(ImportError):
        found["networkit"] = import_module("networkit").nxadapter.nx2nk(karate, weightAttr="weight")
    with suppress(ImportError):
        adjacency = import_module("sknetwork.data").from_edge_list(
            list(karate.edges(data="weight")), reindex=False, matrix_only=False
        )
        found["scikit-network"] = adjacency
    if not found:
        pytest.skip("none of libpysal, rustworkx, networkit and scikit-network is installed")
    for package, graph in found.items():
        assert_array_equal(check_attributed_graph(np.eye(34), graph).adjacency.toarray(), expected, err_msg=package)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_tensors_of_torch_are_read():
    torch = pytest.importorskip("torch")
    dense = torch.tensor(EXPECTED)
    for graph in (dense, dense.to_sparse(), dense.to_sparse_csr(), dense.clone().requires_grad_()):
        assert_array_equal(check_attributed_graph(np.eye(4), graph).adjacency.toarray(), EXPECTED)
    data = SimpleNamespace(
        edge_index=torch.tensor(PAIRS.T), num_nodes=4, edge_weight=torch.tensor([1.0, 2.0, 3.0, 4.0])
    )
    assert check_attributed_graph(FEATURES, data).adjacency[2, 3] == 4  # by row number, whatever the ids
    assert check_attributed_graph(torch.eye(4), dense).features.shape == (4, 4)


def test_parallel_edges_of_a_multigraph_add_up_in_either_direction():
    graph = networkx.MultiGraph([("a", "b"), ("b", "a"), ("a", "b")])
    assert as_adjacency(graph, nodes=["a", "b"]).toarray().tolist() == [[0, 3], [0, 0]]
    pair = igraph.Graph(edges=[(0, 1), (1, 0), (0, 1)])
    assert check_attributed_graph(np.eye(2), pair).adjacency.toarray().tolist() == [[0, 3], [3, 0]]


def test_a_weight_can_be_chosen_or_left_out():
    graph = networkx.Graph()
    graph.add_edge("a", "b", weight=2, strength=7)
    pair = igraph.Graph(edges=[(0, 1)], edge_attrs={"weight": [2], "strength": [7]})
    table = pd.DataFrame({"source": ["a"], "target": ["b"], "weight": [2], "strength": [7]})
    for one in (graph, pair, table, polars.from_pandas(table)):
        nodes = 2 if one is pair else ["a", "b"]
        found = [as_adjacency(one, nodes=nodes, weight=weight)[0, 1] for weight in (None, "strength", False)]
        assert found == [2, 7, 1]
        with pytest.raises(ValueError, match=r"weight is 'size', but .*choose"):
            as_adjacency(one, nodes=nodes, weight="size")


def test_a_square_array_of_whole_numbers_is_a_matrix():
    assert as_adjacency(np.array([[0, 1], [1, 0]])).nnz == 2
    assert as_adjacency([[0, 1, 1], [1, 0, 1], [1, 1, 0]], nodes=3).nnz == 6


def test_a_graph_may_list_its_own_nodes():
    assert as_adjacency(weighted(networkx.Graph())).shape == (4, 4)
    assert len(find_block_models(networkx.karate_club_graph(), 2, rng=np.random.default_rng(0))[0].labels) == 34
    with pytest.raises(ValueError, match=r"table of 3 edges.*as_adjacency\(edges, nodes=ids\)"):
        as_adjacency(TABLE)


CARELESS = {
    "names without ids of rows": (np.eye(4), lambda: weighted(networkx.Graph()),
        r"called \['ann', 'bob', 'cleo'\], … but the rows .* no ids.*DataFrame.*as_adjacency\(graph, nodes="),
    "numbers in another order": (np.eye(3), lambda: networkx.Graph([(2, 0), (0, 1)]), r"called \[2, 0, 1\]"),
    "other nodes": (FEATURES, lambda: networkx.Graph([("ann", "eve")]), r"4 node\(s\) are in only one.*subgraph"),
    "numbers for text": (FEATURES.set_axis(list("0123")), lambda: networkx.path_graph(4), r"1 and '1' differ"),
    "a third number": (np.eye(4), lambda: [(0, 1, 2020), (1, 2, 2021)], r"edge column 2 contains numbers but is not"),
    "a third column": (np.eye(4), lambda: np.array([[0, 1, 5]] * 4), r"edge column 2 contains numbers"),
    "rows or columns": (np.eye(4), lambda: np.array([[0, 1], [2, 3]]), r"may be two edges as rows or as columns"),
    "weight of text": (FEATURES, lambda: networkx.Graph([("ann", "bob", {"weight": "much"}), ("cleo", "dan")]),
        r"from 'ann' to 'bob', whose 'weight' is 'much'"),
    "complex weight": (FEATURES, lambda: networkx.Graph([("ann", "bob", {"weight": 1j}), ("cleo", "dan")]),
        r"Complex data|not a finite number"),
    "duplicate names": (np.eye(2), lambda: igraph.Graph(edges=[(0, 1)], vertex_attrs={"name": ["a", "a"]}),
        r"1 duplicate node id\(s\), for example \['a'\]"),
    "no graph in obsp": (FEATURES, lambda: SimpleNamespace(X=None, obs_names=NAMES, var_names=[], obsp={}),
        r"no graph obsp\['connectivities'\]; build one first: scanpy\.pp\.neighbors"),
    "a dict": (np.eye(4), lambda: {0: [1]}, r"type dict, which cannot be read as a graph.*convert it to a SciPy"),
    "links of two kinds of nodes": (np.eye(4), lambda: {"biadjacency": np.eye(4)}, r"type dict, which cannot be read"),
    "text as weight": (np.eye(4), lambda: Rustworkx([(0, 1, "much")]), r"whose 'weight' is 'much'"),
    "a path": (np.eye(4), lambda: "graph.csv", r"type str.*read_graph\(path\)"),
    "ragged": (np.eye(4), lambda: [[0, 1], [1]], r"adjacency is not a matrix .*every row the same number"),
    "neither square nor pairs": (np.eye(4), lambda: np.ones((3, 4), dtype=int), r"adjacency has shape \(3, 4\)"),
    "complex, sparse": (np.eye(4), lambda: sparse.csr_array(1j * EXPECTED), r"Complex data not supported: adjacency"),
    "one dimension, sparse": (np.eye(4), lambda: sparse.coo_array(np.ones(4)), r"adjacency has 1 dimension\(s\)"),
    "something else": (np.eye(4), object, r"type object.* a SciPy matrix, an edge table .* or a networkx graph"),
}  # fmt: skip


@pytest.mark.parametrize(("features", "make", "message"), CARELESS.values(), ids=CARELESS.keys())
def test_graphs_that_could_be_misread_are_refused(features, make, message):
    with pytest.raises(ValueError, match=message):
        check_attributed_graph(features, make())


def test_a_selector_takes_a_networkx_graph_or_a_key_of_anndata():
    graph = networkx.karate_club_graph()
    features = pd.DataFrame(np.random.default_rng(0).poisson(1, (34, 6)), index=list(graph)[::-1]).add_prefix("f")
    cells = Cells(
        X=sparse.csr_matrix(features.to_numpy()),
        obs_names=features.index,
        var_names=features.columns,
        layers={},
        obsp={"links": networkx.to_scipy_sparse_array(graph)[::-1][:, ::-1]},
    )
    settings = {"n_blocks": 2, "n_candidates": 2, "random_state": 0}
    by_graph = BlockModelSelector(2, **settings).fit(features, adjacency=graph)
    by_key = BlockModelSelector(2, **settings).fit(cells, adjacency="links")
    assert_array_equal(by_key.scores_, by_graph.scores_)
    assert by_key.get_feature_names_out().tolist() == by_graph.get_feature_names_out().tolist()
    assert by_key.transform(cells).shape == (34, 2)
    assert set(by_key.table()["feature"]) == set(features.columns)
    cells.obsp["connectivities"] = cells.obsp.pop("links")
    with pytest.warns(UserWarning, match=r"no adjacency.*this AnnData has one: adjacency='connectivities'"):
        assert BlockModelSelector(2, **settings).fit(cells).graph_source_ == "features"
    with pytest.raises(ValueError, match=r"no graph obsp\['nothing'\]; choose one of \['connectivities'\]"):
        BlockModelSelector(2, **settings).fit(cells, adjacency="nothing")


def test_an_array_of_another_library_is_a_matrix():
    class Labelled:  # as an array of another library
        def __array__(self, dtype=None, copy=None):
            return EXPECTED

    assert_array_equal(as_adjacency(Labelled()).toarray(), EXPECTED)


def test_transform_takes_only_an_anndata_of_the_same_genes():
    cells = Cells(X=np.eye(4) + 1, obs_names=pd.Index(NAMES), var_names=pd.Index(list("wxyz")), layers={}, obsp={})
    selector = make_selector("variance", 2).fit(cells)
    assert selector.transform(cells).shape == (4, 2)
    cells.var_names = pd.Index(list("abcd"))
    with pytest.raises(ValueError, match="does not have the features used in `fit`; pass the same genes"):
        selector.transform(cells)


def test_a_graph_of_an_anndata_may_be_given_by_its_key():
    cells = Cells(X=np.eye(4), obs_names=pd.Index(NAMES), var_names=pd.Index(list("wxyz")), layers={}, obsp={})
    cells.obsp["links"] = sparse.csr_matrix(EXPECTED)
    assert_array_equal(check_attributed_graph(cells, "links").adjacency.toarray(), EXPECTED)
