"""The contract of all methods in the registry: results and errors."""

from __future__ import annotations

import inspect
import pkgutil
import re
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import blockselect
from blockselect import check_attributed_graph, make_attributed_blocks
from blockselect.base import ScoreSelector
from blockselect.registry import SELECTORS, find_method, make_selector
from scripts.make_methods_table import methods_table

PAGE = Path(__file__).parents[1] / "docs" / "methods.md"
GUIDED_BY_FEATURES = [name for name, method in SELECTORS.items() if method.guidance == "features"]
GUIDED_BY_NETWORK = [name for name, method in SELECTORS.items() if method.guidance == "network"]
WITH_BLOCKS = [name for name, method in SELECTORS.items() if "n_blocks" in method.selector().get_params()]
every_method = pytest.mark.parametrize("name", list(SELECTORS))
either_form = pytest.mark.parametrize("form", ["dense", "sparse"])


@pytest.fixture(scope="module")
def planted():
    """Values differ, because dense and sparse forms would break ties between nearest neighbours differently."""
    made = make_attributed_blocks(80, 3, n_informative=12, n_redundant=0, n_noise=18, random_state=3)
    made.features.data *= np.random.default_rng(0).uniform(0.5, 1.5, made.features.nnz)
    return made


@pytest.fixture(scope="module")
def fitted(planted):
    """Each method fitted to each form of the features, once."""
    done = {}

    def fit(name, form):
        if (name, form) not in done:
            features = planted.features if form == "sparse" else planted.features.toarray()
            graph = check_attributed_graph(features, planted.adjacency)
            selector = make_selector(name, 6, n_blocks=3, random_state=0)
            with warnings.catch_warnings():
                if name == "ndfs-published":  # its steps may increase the objective
                    warnings.filterwarnings("ignore", message="the objective did not converge")
                done[name, form] = selector.fit(graph.features, adjacency=graph.adjacency)
        return done[name, form]

    return fit


@every_method
@either_form
def test_every_method_scores_ranks_and_selects(fitted, name, form):
    selector = fitted(name, form)
    assert selector.scores_.shape == selector.ranking_.shape == (30,)
    assert not np.isnan(selector.scores_).any()
    assert_array_equal(np.sort(selector.ranking_), np.arange(1, 31))
    in_order = selector.scores_[np.argsort(selector.ranking_)]
    if name == "block-model":  # the selected features are in order of entry, the others in order of score
        assert (in_order[:6] > 0).all()
        in_order = in_order[6:]
    assert (np.diff(in_order) <= 1e-11 * np.abs(in_order).max()).all()  # up to rounding
    assert selector.support_.sum() == selector.n_features_ == 6
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(np.argsort(selector.ranking_)[:6]))


@pytest.mark.parametrize("name", [name for name, method in SELECTORS.items() if method.guidance != "blocks"])
@either_form
def test_every_baseline_keeps_its_own_criterion(fitted, name, form):
    assert fitted(name, form).criterion_.shape == (30,)


@every_method
def test_dense_and_sparse_features_score_alike(fitted, name):
    dense, sparse = fitted(name, "dense"), fitted(name, "sparse")
    scale = np.abs(dense.scores_[np.isfinite(dense.scores_)]).max()
    assert_allclose(sparse.scores_, dense.scores_, rtol=1e-6, atol=1e-6 * scale)


@every_method
def test_the_same_seed_gives_the_same_scores(planted, fitted, name):
    first = fitted(name, "sparse")
    with warnings.catch_warnings():
        if name == "ndfs-published":
            warnings.filterwarnings("ignore", message="the objective did not converge")
        again = clone(first).fit(planted.features, adjacency=planted.adjacency)
    assert_array_equal(again.scores_, first.scores_)


@pytest.mark.parametrize("name", GUIDED_BY_NETWORK)
def test_a_missing_adjacency_is_an_error_where_the_network_guides(planted, name):
    with pytest.raises(ValueError, match="adjacency is missing"):
        make_selector(name, 5, n_blocks=3).fit(planted.features)


@pytest.mark.parametrize("name", [name for name in SELECTORS if SELECTORS[name].guidance in ("network", "blocks")])
def test_an_adjacency_of_other_nodes_is_an_error(planted, name):
    with pytest.raises(ValueError, match=r"adjacency has .*79"):
        make_selector(name, 5, n_blocks=3).fit(planted.features, adjacency=planted.adjacency[:79, :79])


@pytest.mark.parametrize("name", [name for name in SELECTORS if SELECTORS[name].guidance in ("features", "none")])
def test_a_method_that_reads_no_graph_ignores_it(planted, fitted, name):
    alone = clone(fitted(name, "sparse"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if name == "ndfs-published":
            warnings.filterwarnings("ignore", message="the objective did not converge")
        alone.fit(planted.features)
    assert_array_equal(alone.scores_, fitted(name, "sparse").scores_)


@pytest.mark.parametrize("name", GUIDED_BY_FEATURES)
def test_an_affinity_of_the_wrong_shape_or_sign_is_an_error(planted, name):
    selector = make_selector(name, 5, n_blocks=3)
    with pytest.raises(ValueError, match=r"affinity has .*79"):
        selector.fit(planted.features, affinity=np.ones((79, 79)))
    with pytest.raises(ValueError, match="affinity has a negative weight"):
        selector.fit(planted.features, affinity=-np.ones((80, 80)))


@pytest.mark.parametrize("name", WITH_BLOCKS)
def test_more_clusters_than_nodes_is_an_error(planted, name):
    with pytest.raises(ValueError, match=r"n_blocks is 81 but .*; choose 1 to \d+( blocks)?\."):
        make_selector(name, 5, n_blocks=81).fit(planted.features, adjacency=planted.adjacency)


@pytest.mark.parametrize("name", [name for name, method in SELECTORS.items() if method.guidance != "blocks"])
@either_form
def test_features_that_are_all_constant_are_an_error(planted, name, form):
    ones = np.ones((80, 4))
    graph = check_attributed_graph(ones if form == "dense" else planted.features.__class__(ones), planted.adjacency)
    with pytest.raises(ValueError, match="all 4 features are constant"):
        make_selector(name, 2, n_blocks=3).fit(graph.features, adjacency=graph.adjacency)


@pytest.mark.parametrize("name", [name for name in SELECTORS if name != "ndfs-published"])
@either_form
def test_a_column_of_ones_is_never_selected(planted, name, form):
    features = np.column_stack([planted.features.toarray(), np.ones(80)])
    graph = check_attributed_graph(
        features if form == "dense" else planted.features.__class__(features), planted.adjacency
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"only \d+ of the 31 requested features can be selected")
        selector = make_selector(name, 31, n_blocks=3, random_state=0)
        selector.fit(graph.features, adjacency=graph.adjacency)
    assert not selector.support_[30]


@pytest.mark.parametrize("name", GUIDED_BY_FEATURES)
def test_a_labelled_affinity_follows_the_index_of_the_features(planted, name):
    ids = [f"node {node}" for node in range(80)]
    X = pd.DataFrame(planted.features.toarray(), index=ids)
    affinity = pd.DataFrame(planted.adjacency.toarray(), index=ids, columns=ids)
    order = np.random.default_rng(0).permutation(80)
    here, there = (
        make_selector(name, 5, n_blocks=3, random_state=0).fit(X, affinity=labelled).scores_
        for labelled in (affinity, affinity.iloc[order, order])
    )
    assert_array_equal(there, here)


@every_method
def test_more_features_than_there_are_is_an_error(planted, name):
    with pytest.raises(ValueError, match="n_features_to_select is 31 but there are 30 features"):
        make_selector(name, 31, n_blocks=3).fit(planted.features, adjacency=planted.adjacency)


@every_method
def test_a_selector_is_made_with_what_its_class_takes_and_the_settings_of_its_name(name):
    selector = make_selector(name, 7, n_blocks=4, random_state=9)
    settings = selector.get_params()
    assert settings["n_features_to_select"] == 7
    assert settings.get("n_blocks", 4) == 4
    assert settings.get("random_state", 9) == 9
    assert {key: settings[key] for key in SELECTORS[name].settings} == SELECTORS[name].settings


def test_names_with_published_switches_rank_otherwise(fitted):
    assert (fitted("spec", "dense").ranking_ != fitted("spec-published", "dense").ranking_).any()
    assert (fitted("ndfs", "dense").scores_ != fitted("ndfs-published", "dense").scores_).any()


def test_an_unknown_name_is_an_error_with_the_known_and_a_guess():
    with pytest.raises(
        ValueError, match=r"no method is called 'Laplacian_score'; choose one of: block-model, .*\. Did you"
    ):
        find_method("Laplacian_score")
    with pytest.raises(ValueError, match=r"hotspot\.$"):
        make_selector("random forest", 3, n_blocks=2)


@pytest.mark.parametrize("name", [name for name, method in SELECTORS.items() if method.guidance != "blocks"])
def test_the_docstring_says_the_same_of_the_formula(name):
    method = SELECTORS[name]
    said = {
        "checked": "Checked against published code|The formula is standard",
        "recalled": "Objective recalled",
        "reconstructed": "Reconstructed, with no claim of fidelity",
    }
    assert re.search(said[method.certainty], " ".join(inspect.getdoc(method.selector).split()))


# Selectors outside these packages wrap others, so they are not methods.
PRODUCTS = tuple(f"blockselect.{part}." for part in ("baselines", "blockmodels", "bmgufs", "consensus"))


def leaves(base):
    """All subclasses in PRODUCTS that have no subclasses themselves."""
    below = [kind for kind in base.__subclasses__() if kind.__module__.startswith(PRODUCTS)]
    return [leaf for kind in below for leaf in leaves(kind)] or [base]


def test_every_selector_of_the_package_is_registered():
    for module in pkgutil.walk_packages(blockselect.__path__, "blockselect."):
        if module.name.startswith(PRODUCTS):
            import_module(module.name)
    assert {method.selector for method in SELECTORS.values()} == set(leaves(ScoreSelector))


@pytest.mark.skipif(not PAGE.parent.is_dir(), reason="the documentation is not here")
def test_the_page_of_methods_is_up_to_date():
    assert methods_table() in PAGE.read_text(encoding="utf-8"), "run scripts/make_methods_table.py"
