"""Properties of several methods: planted features are found; order, precision and storage do not matter; settings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from blockselect import make_attributed_blocks
from blockselect.baselines.by_features.laplacian import LaplacianScore, NetworkLaplacianScore
from blockselect.baselines.by_features.mcfs import MCFS
from blockselect.baselines.by_features.ndfs import NDFS
from blockselect.baselines.by_features.spec import SPEC
from blockselect.baselines.by_features.udfs import UDFS
from blockselect.baselines.by_features.variance import VarianceScore
from blockselect.baselines.by_network.adapt import ADAPT
from blockselect.baselines.by_network.gfs import GFS
from blockselect.baselines.by_network.hotspot import Hotspot
from blockselect.baselines.by_network.lufs import LUFS
from blockselect.baselines.by_network.mmpop import MMPOP
from blockselect.baselines.by_network.moran import MoransI
from blockselect.baselines.by_network.netfs import NetFS
from blockselect.baselines.by_network.partial_order import PartialOrder
from blockselect.baselines.criterion import FeatureGuidedSelector
from references.laplacian import draw_network

pytestmark = pytest.mark.slow
STYLES, MODELS = ("phi1", "phi2", "phi3"), ("bernoulli", "danb", "normal")


def fit(selector, X, A):
    graph = {"affinity" if isinstance(selector, FeatureGuidedSelector) else "adjacency": A}
    return clone(selector).fit(X, **graph)


NEAR = {"n_nodes": 400, "signal": 8, "frequency": (0.05, 0.1)}
FREQUENT = {"n_nodes": 300, "signal": 8, "frequency": (0.1, 0.1)}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("selector", "network", "least"),
    [
        (LaplacianScore(15, width="mean"), NEAR, 0.75),
        (LaplacianScore(15, weights="cosine"), NEAR, 0.75),
        (LaplacianScore(15, weights="binary"), NEAR, 0.75),
        *((SPEC(15, style=style, n_eigenvectors=3, width="mean", random_state=0), NEAR, 0.75) for style in STYLES),
        (MCFS(15, n_blocks=3), FREQUENT, 0.6),
        (MCFS(15, n_blocks=3, weights="binary"), FREQUENT, 0.6),
        (NDFS(15, n_blocks=3, random_state=0), FREQUENT, 0.8),
        (UDFS(15, n_blocks=3), FREQUENT, 0.5),
    ],
)
def test_planted_features_are_found_from_the_features(selector, network, least, seed):
    planted = make_attributed_blocks(
        n_blocks=3, n_informative=15, n_redundant=0, n_noise=85, random_state=seed, **network
    )
    X = planted.features
    if isinstance(selector, UDFS):  # a feature of small variance would have a high score
        X = StandardScaler().fit_transform(X.toarray())
    if isinstance(selector, SPEC) and selector.style == "phi1":  # a large mean would count as smoothness
        X = X.toarray() - X.mean(axis=0)
    assert planted.is_informative[selector.fit(X).get_support()].mean() >= least  # chance: 0.15


@pytest.mark.parametrize(
    ("selector", "network", "over_seeds", "least"),
    [
        (NetworkLaplacianScore(15), {}, np.min, 0.7),
        (MoransI(15), {}, np.min, 0.7),
        (Hotspot(15), {}, np.min, 0.7),
        (PartialOrder(15), {}, np.mean, 0.6),
        (PartialOrder(15), {"values": "counts"}, np.mean, 0.6),
        (ADAPT(15, random_state=0), {}, np.mean, 0.6),
        (ADAPT(15, non_links_per_link=3, random_state=0), {}, np.mean, 0.6),
        (GFS(15, random_state=0), {}, np.mean, 0.6),
        (GFS(15, non_links_per_link=3, random_state=0), {}, np.mean, 0.6),
        (MMPOP(15, random_state=0), {"n_nodes": 300, "mean_degree": 30}, np.mean, 0.6),
        (MMPOP(15, loss="logistic", random_state=0), {"n_nodes": 300, "mean_degree": 30}, np.mean, 0.6),
        (LUFS(20, n_blocks=4, random_state=0), {"n_nodes": 300, "n_blocks": 4, "n_informative": 20}, np.min, 0.5),
        (
            NetFS(20, n_blocks=4, sparsity=1, network_weight=1, random_state=0),
            {"n_nodes": 300, "n_blocks": 4, "n_informative": 20},
            np.min,
            0.6,
        ),
    ],
)
def test_planted_features_are_found_from_the_network(selector, network, over_seeds, least):
    options = {"n_nodes": 400, "n_blocks": 3, "mean_degree": 40, "n_informative": 15, "n_redundant": 0, **network}
    found = []
    for seed in range(2):
        planted = make_attributed_blocks(n_noise=100 - options["n_informative"], random_state=seed, **options)
        selector.fit(planted.features, adjacency=planted.adjacency)
        found.append(planted.is_informative[selector.get_support()].mean())
    assert over_seeds(found) >= least  # chance: 0.15 or 0.2


CLOSED_FORMS = [
    LaplacianScore(3),
    NetworkLaplacianScore(3),
    MoransI(3),
    PartialOrder(3),
    *(Hotspot(3, model=model) for model in MODELS),
    *(SPEC(3, style=style, n_eigenvectors=4, random_state=0) for style in STYLES),
]
closed_form = pytest.mark.parametrize("selector", CLOSED_FORMS, ids=str)


def draw(selector, seed):
    """Features with some zeros and a weighted graph; for Hotspot, counts of nodes with different depths."""
    X, A = draw_network(seed)
    if isinstance(selector, Hotspot):
        X = np.random.default_rng(seed).poisson(2, X.shape).astype(float)
        X[0] = 0
        X[1:3] = [[0], [3]]  # no feature is constant
    return X, A


@closed_form
@given(seed=st.integers(0, 10**6))
def test_scores_do_not_depend_on_the_order_of_nodes_and_features(selector, seed):
    X, A = draw(selector, seed)
    rng = np.random.default_rng(seed)
    nodes, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    scores = fit(selector, X, A).scores_
    reordered = fit(selector, X[np.ix_(nodes, columns)], A[np.ix_(nodes, nodes)]).scores_
    if isinstance(selector, Hotspot | SPEC):  # a fitted null model, eigenvectors
        assert_allclose(reordered, scores[columns], rtol=1e-8, atol=1e-10)
    else:
        assert_allclose(reordered, scores[columns], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("selector", CLOSED_FORMS[:3], ids=str)
@given(seed=st.integers(0, 10**6), shift=st.floats(-1e3, 1e3), factor=st.floats(0.01, 100))
def test_scores_do_not_depend_on_the_units_of_features_and_links(selector, seed, shift, factor):
    X, A = draw_network(seed)
    scores = fit(selector, X, A).scores_
    near_zero = {"rtol": 1e-7, "atol": 1e-9} if isinstance(selector, MoransI) else {"rtol": 1e-8}
    assert_allclose(fit(selector, X * factor + shift, A * factor).scores_, scores, **near_zero)


@closed_form
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_constant_feature_scores_worst_and_is_never_selected(selector, kind):
    X, A = draw(selector, 1)
    X[:, 2], X[:, 4] = (1 if isinstance(selector, Hotspot) else 0.1), 0
    selector = fit(clone(selector).set_params(n_features_to_select=5), kind(X), A)
    assert_array_equal(np.flatnonzero(np.isnan(selector.criterion_)), [2, 4])
    assert_array_equal(np.flatnonzero(selector.scores_ == -np.inf), [2, 4])
    assert not selector.get_support()[[2, 4]].any()


@pytest.mark.parametrize("selector", [*CLOSED_FORMS, VarianceScore(3)], ids=str)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_float32_features_have_the_scores_of_float64_features(selector, kind):
    X, A = draw(selector, 3)
    single = X.astype(np.float32)
    criterion = fit(selector, kind(single), A).criterion_
    assert criterion.dtype == np.float64
    assert_allclose(criterion, fit(selector, single.astype(np.float64), A).criterion_, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", [NDFS, UDFS, LUFS, NetFS])
def test_an_objective_that_does_not_converge_raises_a_warning(network, kind):
    selector = kind(8, n_blocks=3, max_iter=2, tol=1e-7)
    with pytest.warns(ConvergenceWarning, match=r"within max_iter=2; increase max_iter or tol \(now 1e-07\)"):
        fit(selector, network.features, network.adjacency)


@pytest.mark.parametrize("kind", [NDFS, LUFS, NetFS])
def test_constant_and_empty_features_have_a_criterion_and_are_never_selected(network, kind):
    X = network.features.toarray()
    X[:, 4], X[:, 7] = 0, 1
    selector = kind(52, n_blocks=3, random_state=0)
    if kind is NetFS:
        selector.set_params(network_weight=1)
    for features in (X, sparse.csr_array(X)):
        with pytest.warns(ConvergenceWarning, match="only 50 of the 52"):
            selector = fit(selector, features, network.adjacency)
        assert_array_equal(np.flatnonzero(np.isneginf(selector.scores_)), [4, 7])
        assert np.isfinite(selector.criterion_).all()
        assert not selector.support_[[4, 7]].any()


@pytest.mark.parametrize(
    ("selector", "starts", "atol", "dense_atol"),
    [
        (MCFS(8, n_blocks=3), False, 1e-7, 1e-9),
        (NDFS(8, max_iter=50, tol=0), True, 1e-10, 1e-10),
        (UDFS(8, n_blocks=3), False, 1e-8, 1e-8),
        (LUFS(8, n_blocks=3, random_state=0), False, 1e-8, 1e-8),
        (NetFS(8, sparsity=1, network_weight=1), True, 1e-7, 1e-8),
    ],
    ids=str,
)
def test_scores_do_not_depend_on_the_order_of_nodes_or_on_storage(network, selector, starts, atol, dense_atol):
    def scores(X, nodes):
        clusters = np.random.default_rng(1).random((200, 3)) / np.sqrt(200)
        start = {"initial_clusters": clusters[nodes]} if starts else {}
        chosen = clone(selector).set_params(**start)
        return fit(chosen, X[nodes], network.adjacency[nodes][:, nodes]).scores_

    here = scores(network.features, np.arange(200))
    moved = scores(network.features, np.random.default_rng(2).permutation(200))
    assert_allclose(moved, here, rtol=0, atol=atol * min(here.max(), 1))
    dense = scores(network.features.toarray(), np.arange(200))
    assert_allclose(dense, here, rtol=0, atol=dense_atol * min(here.max(), 1))


@pytest.mark.parametrize(("kind", "options"), [(LUFS, {}), (NetFS, {"sparsity": 1, "network_weight": 1})])
def test_single_precision_selects_the_same(network, kind, options):
    selector = kind(8, n_blocks=3, random_state=0, **options)
    double = fit(selector, network.features, network.adjacency).support_
    assert_array_equal(fit(selector, network.features.astype(np.float32), network.adjacency).support_, double)


@pytest.mark.parametrize(
    ("kind", "options"), [(LUFS, {"max_iter": 100}), (NetFS, {"network_weight": 1, "max_iter": 200})]
)
def test_more_sparsity_uses_fewer_features(network, kind, options):
    def n_used(sparsity):
        selector = kind(8, n_blocks=3, sparsity=sparsity, random_state=0, **options)
        scores = fit(selector, network.features, network.adjacency).scores_
        return np.count_nonzero(scores > 1e-3 * scores.max())

    assert n_used(20.0) < n_used(0.1)


@pytest.mark.parametrize("kind", [NDFS, NetFS])
@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (np.ones((7, 3)), r"initial_clusters has shape \(7, 3\); expected one row for each of the 200 nodes"),
        (np.ones(200), r"initial_clusters has shape \(200,\)"),
        (np.zeros((200, 3)), "zero everywhere"),
        (np.full((200, 3), -1.0), "negative or not finite"),
        (np.full((200, 3), np.nan), "finite"),
    ],
)
def test_invalid_initial_clusters_are_an_error(network, kind, clusters, message):
    with pytest.raises(ValueError, match=message):
        fit(kind(initial_clusters=clusters), network.features, network.adjacency)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (ADAPT, {"evenness": 0}),
        (ADAPT, {"neighborhood": -1}),
        (ADAPT, {"exact": "no"}),
        (GFS, {"n_components": 0}),
        (GFS, {"reconstruction": -1}),
        (GFS, {"non_links_per_link": 0}),
        (GFS, {"ridge": 0}),
        (GFS, {"sparsity": -1}),
        (LUFS, {"ridge": 0}),
        (LUFS, {"social_weight": -1}),
        (LUFS, {"sparsity": 0}),
        (MMPOP, {"initial_score": 2}),
        (MMPOP, {"loss": "squared"}),
        (MMPOP, {"sparsity": -1}),
        (NDFS, {"tol": -1}),
        (NetFS, {"network_weight": -1}),
        (NetFS, {"sparsity": 0}),
        (PartialOrder, {"binarize": 1.5}),
        (SPEC, {"n_eigenvectors": 1}),
        (SPEC, {"n_neighbors": 0}),
        (UDFS, {"max_iter": 0}),
        (UDFS, {"ridge": 0}),
    ],
)
def test_errors_name_invalid_settings(network, kind, options):
    (name,) = options
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {kind.__name__} must be"):
        fit(kind(**options), network.features, network.adjacency)
