"""A graph that was built from the features causes a warning; other graphs do not."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from blockselect import BlockModelSelector, check_attributed_graph, discover_features, load_cora
from blockselect.inputs.neighbour_graph import nearest_neighbour_graph
from blockselect.inspection.circularity import most_similar_share, warn_if_made_from_features
from made_fits import QUICK, easy_network

LOOKS_MADE = "looks as if it was built from the features: .* p-values and q-values are meaningless"


def values(n=200, m=30):
    return np.random.default_rng(0).gamma(2.0, size=(n, m))


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("k", [3, 10])
def test_neighbours_by_the_features_are_noticed(metric, k):
    features = values()
    graph = check_attributed_graph(features, nearest_neighbour_graph(features, k, metric))
    with pytest.warns(UserWarning, match=LOOKS_MADE):
        warn_if_made_from_features(graph)


def test_pairs_above_a_correlation_are_noticed():
    features = values()
    graph = check_attributed_graph(features, (np.corrcoef(features) > 0.4).astype(float))
    with pytest.warns(UserWarning, match=LOOKS_MADE):
        warn_if_made_from_features(graph)


@pytest.mark.parametrize(("n_components", "standardised"), [(5, True), (15, False), (50, True)])
def test_neighbours_after_a_principal_component_analysis_are_noticed(n_components, standardised):
    cora = load_cora()
    rows = cora.features.toarray()
    rows = StandardScaler().fit_transform(rows) if standardised else rows
    made = kneighbors_graph(PCA(n_components, random_state=0).fit_transform(rows), 10)
    measure, share = most_similar_share(check_attributed_graph(cora.features, made.maximum(made.T)))
    assert share > 0.5
    assert "principal components" in measure
    assert ("of standardised features" in measure) == standardised


def test_neighbours_after_logarithms_and_principal_components_are_noticed_as_cells_are_often_linked():
    rng = np.random.default_rng(0)
    kinds, depth = np.exp(rng.normal(-0.5, 1, size=(5, 300))), np.exp(rng.normal(0, 0.5, size=(400, 1)))
    counts = rng.poisson(depth * kinds[np.arange(400) % 5]).astype(float)
    logs = np.log1p(counts / counts.sum(axis=1, keepdims=True) * np.median(counts.sum(axis=1)))
    made = kneighbors_graph(PCA(30, random_state=0).fit_transform(StandardScaler().fit_transform(logs)), 15)
    for features in (counts, sparse.csr_array(counts)):
        measure, share = most_similar_share(check_attributed_graph(features, made.maximum(made.T)))
        assert share > 0.6  # .5 by the counts themselves
        assert measure.endswith("principal components of standardised logarithms")


def test_neighbours_by_standardised_features_are_noticed():
    features = values(300) * np.geomspace(0.01, 100, 30)
    made = kneighbors_graph(StandardScaler().fit_transform(features), 8)
    measure, share = most_similar_share(check_attributed_graph(features, made.maximum(made.T)))
    assert share > 0.9
    assert measure == "Euclidean distance of standardised features"


def test_neighbours_in_a_plane_are_noticed():
    features = values(300)
    made = kneighbors_graph(PCA(2, random_state=0).fit_transform(features), 8)
    assert most_similar_share(check_attributed_graph(features, made.maximum(made.T)))[1] > 0.5


def test_neighbours_are_noticed_where_all_are_those_of_a_few_nodes():
    """Nodes with few features are close to all others, so nearly every link has a hub at one end."""
    presence = (np.random.default_rng(0).random((400, 150)) < 0.1).astype(float)
    made = kneighbors_graph(presence, 40)
    graph = check_attributed_graph(presence, made.maximum(made.T))
    assert (np.diff(graph.adjacency.indptr) > 200).any()
    assert most_similar_share(graph)[1] > 0.5


def test_hubs_alone_say_nothing():
    star = np.zeros((9, 9))
    star[0, 1:] = 1
    assert most_similar_share(check_attributed_graph(values(9), star))[1] < 0.5


def test_sparse_presence_is_read_too():
    cora = load_cora()
    graph = check_attributed_graph(cora.features, nearest_neighbour_graph(cora.features, 5))
    assert most_similar_share(graph)[1] > 0.9
    assert most_similar_share(check_attributed_graph(cora.features, cora.adjacency))[1] < 0.4


@pytest.mark.parametrize("adjacency", [np.ones((200, 200)), np.eye(200, k=1)], ids=["complete", "path"])
def test_graphs_that_have_nothing_to_do_with_the_features_are_left_alone(adjacency):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_made_from_features(check_attributed_graph(values(), adjacency))


def test_rows_that_are_all_alike_are_near_nobody():
    graph = check_attributed_graph(np.ones((100, 5)), sparse.csr_array(np.eye(100, k=1)))
    assert most_similar_share(graph)[1] < 0.1


def test_a_graph_of_loops_alone_says_nothing():
    assert most_similar_share(check_attributed_graph(values(20), np.eye(20)))[1] == 0


UMAP = {"n_neighbors": 10, "method": "umap", "metric": "euclidean"}
RECORDS = {
    "scanpy": ({"neighbors": {"connectivities_key": "connectivities", "params": UMAP}}, True),
    "an old file": ({"neighbors": {"params": {"n_neighbors": np.array([10]), "method": "umap"}}}, True),
    "all genes": ({"mine": {"connectivities_key": "connectivities", "params": {**UMAP, "use_rep": "X"}}}, True),
    "harmony": ({"neighbors": {"params": {**UMAP, "use_rep": "X_pca_harmony"}}}, True),
    "places": ({"neighbors": {"params": {**UMAP, "use_rep": "spatial"}}}, False),
    "squidpy": ({"neighbors": {"params": {"n_neighbors": 6, "coord_type": "generic"}}}, False),
    "another graph": ({"neighbors": {"connectivities_key": "other", "params": UMAP}}, False),
    "no record": ({"neighbors": "unknown", "colours": ["red"]}, False),
}


@pytest.mark.parametrize(("uns", "is_made"), RECORDS.values(), ids=RECORDS)
def test_a_record_of_the_graph_in_an_anndata_is_believed_without_a_threshold(uns, is_made):
    network = easy_network()
    ids = pd.Index([f"cell{i}" for i in range(200)])
    genes = pd.Index([f"gene{i}" for i in range(52)])
    cells = Cells(
        X=network.features, obs_names=ids, var_names=genes, obsp={"connectivities": network.adjacency}, uns=uns
    )
    for adjacency in ("connectivities", cells):
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            discover_features(cells, adjacency=adjacency, n_blocks=3, n_candidates=2, n_permutations=3, random_state=0)
        made = [
            str(one.message) for one in raised if "was built from the expression matrix, as uns[" in str(one.message)
        ]
        assert len(made) == is_made
    selector = BlockModelSelector(5, **QUICK).fit(cells, adjacency="connectivities")
    assert (selector.network_evidence_ is None) == is_made  # such a graph is no evidence
    selector.fit(check_attributed_graph(cells, "connectivities"))
    assert (selector.network_evidence_ is None) == is_made


class Cells(SimpleNamespace):
    """The parts of an AnnData that are read; weak references are possible."""


def test_the_test_of_features_and_auto_warn_once_and_a_number_of_features_does_not():
    features = easy_network().features
    made = nearest_neighbour_graph(features, 8)
    with pytest.warns(UserWarning, match=LOOKS_MADE) as raised:
        discover_features(features, adjacency=made, n_blocks=3, n_candidates=2, n_permutations=3, random_state=0)
    assert len(raised) == 1
    with pytest.warns(UserWarning, match=LOOKS_MADE) as raised:
        BlockModelSelector("auto", **QUICK).fit(features, adjacency=made)
    assert sum("looks as if" in str(one.message) for one in raised) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BlockModelSelector(5, **QUICK).fit(features, adjacency=made)
