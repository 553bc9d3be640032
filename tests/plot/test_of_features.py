"""Plots of features show the numbers of a selector or of arrays, with names, on the axes they are given."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from blockselect import make_selector, plot, selection_stability
from blockselect.blockmodels.markers import block_markers
from blockselect.plot.common import BLUE, GREY
from blockselect.utils.errors import ParameterError
from made_fits import easy_network, fit, fit_paper


def names(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def test_scores_are_the_best_on_top_with_names_and_selected_in_blue(selector, ax):
    assert plot.scores(selector, ax, n_shown=15) is ax
    best = np.argsort(selector.ranking_)[:15]
    assert names(ax) == [f"x{index}" for index in best]
    assert_allclose([bar.get_width() for bar in ax.patches], selector.scores_[best])
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [BLUE] * 12 + [GREY] * 3
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_scores_may_be_an_array_with_names_of_ones_own(ax):
    plot.scores([0.1, 0.9], ax, support=[False, True], feature_names=["$a$\x1b", "b"])
    assert names(ax) == ["b", r"\$a\$?"]


def test_features_by_block_show_the_lift_of_the_selected(network, selector, ax):
    plot.features_by_block(selector, ax)
    best = np.argsort(selector.ranking_)[:12]
    lift = block_markers(network.features, selector.labels_).lift[:, best].T
    assert_allclose(ax.images[0].get_array(), np.log2(np.maximum(lift, 1 / 8)))
    assert names(ax) == [f"x{index}" for index in best]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == selector.blocks_["name"].tolist()
    other = plot.features_by_block(lift, Figure().subplots(), feature_names=names(ax))
    assert_allclose(other.images[0].get_array(), ax.images[0].get_array())


def test_as_expected_is_white_and_numbers_stand_where_it_is_not(ax):
    plot.features_by_block([[1.0, 4.0, 0.0]], ax)
    colours = ax.images[0].to_rgba(ax.images[0].get_array())
    assert_allclose(colours[0, 0, :3], 1, atol=0.01)
    assert [text.get_text() for text in ax.texts] == ["4.0", "0"]


def test_among_many_blocks_only_high_lifts_have_numbers_and_among_very_many_none(ax):
    plot.features_by_block([[4.0, 0.0] + [1.0] * 15], ax)
    assert [text.get_text() for text in ax.texts] == ["4.0"]
    assert len(plot.features_by_block([[4.0] * 21], Figure().subplots()).texts) == 0


def test_stability_of_a_selector_is_estimated_and_drawn_by_rank(network, selector, ax):
    plot.stability(selector, ax, X=network.features, adjacency=network.adjacency, n_resamples=3)
    values = selection_stability(selector, network.features, adjacency=network.adjacency, n_resamples=3)
    others, selected = ax.lines
    by_rank = values[np.argsort(selector.ranking_)]
    assert_allclose(selected.get_ydata(), by_rank[:12])
    assert_allclose(others.get_ydata(), by_rank[12:24])
    assert f"mean of selected features: {by_rank[:12].mean():.2f}" in ax.get_title(loc="left")


def test_explained_takes_a_selector_a_summary_or_arrays_and_marks_the_cut(selector, ax):
    points = [{"n_features": size, "share": share, "random": 0.05} for size, share in ((1, 0.1), (3, 0.4), (4, 0.5))]
    plot.explained({"curve": points, "all": 0.8}, ax, n_selected=3)
    other = plot.explained(([1, 3, 4], [0.1, 0.4, 0.5]), Figure().subplots())
    curve, random, of_all, cut = ax.lines
    assert_allclose(curve.get_ydata(), other.lines[0].get_ydata())
    assert_allclose(random.get_ydata(), 0.05)
    assert of_all.get_ydata()[0] == 0.8
    assert cut.get_xdata()[0] == np.log2(3)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "3", "4"]
    assert ax.get_ylim()[1] == pytest.approx(1.15 * 0.8)  # fits what is shown
    assert other.get_ylim()[1] == pytest.approx(1.15 * 0.5)


@pytest.mark.parametrize("source", [[1, 2, 3], [0.1, 0.2], ([1, 2], [0.1]), ([], []), {}, {"curve": []}, None])
def test_explained_needs_a_curve(source, ax):
    with pytest.raises(ParameterError, match="source has no curve; pass a selector"):
        plot.explained(source, ax)


@pytest.mark.parametrize("make", [fit, fit_paper])
def test_explained_by_a_selector_needs_no_other_arguments(network, make, ax):
    selector = make(network)
    plot.explained(selector, ax)
    found = selector._fit_result.explained
    curve, random, of_all, cut = ax.lines
    assert_allclose(curve.get_ydata(), [point["share"] for point in found["curve"]])
    assert_allclose(random.get_ydata(), [point["random"] for point in found["curve"]])
    assert of_all.get_ydata()[0] == found["all"]
    assert cut.get_xdata()[0] == np.log2(12)


def test_without_blocks_or_with_one_there_is_nothing_to_explain(network, ax):
    with pytest.raises(ValueError, match="has only one block, so there is nothing to explain"):
        plot.explained(fit(network, n_blocks=1, n_candidates=1), ax)
    with pytest.raises(ValueError, match="has no blocks"):
        plot.explained(make_selector("variance", 5).fit(network.features), ax)
    with pytest.raises(NotFittedError):
        plot.explained(make_selector("block-model", 5), ax)


def test_without_axes_a_new_figure_is_made():
    from matplotlib import pyplot as plt

    ax = plot.scores([1.0, 2.0])
    assert ax.figure.number in plt.get_fignums()
    plt.close(ax.figure)


def test_a_method_without_blocks_shows_its_scores_and_stability_alone(network, ax):
    method = make_selector("morans-i", 5).fit(network.features, adjacency=network.adjacency)
    assert len(plot.scores(method, ax).patches) == 20
    with pytest.raises(ValueError, match="has no blocks"):
        plot.features_by_block(method, ax)
    with pytest.raises(ValueError, match="X is missing; pass the fitted network"):
        plot.stability(pickle.loads(pickle.dumps(method)), ax)
    plot.stability(method, ax, X=network.features, adjacency=network.adjacency, n_resamples=3)
    assert "mean of selected features" in ax.get_title(loc="left")


def test_names_of_lifts_may_be_an_array(ax):
    plot.features_by_block([[2.0, 0.5]], ax, feature_names=np.array(["a"]))
    assert names(ax) == ["a"]


def test_a_plot_leaves_the_selector_as_it_was():
    network = easy_network()
    selector = fit(network)
    before = dict(vars(selector))
    plot.features_by_block(selector)
    assert vars(selector).keys() == before.keys()
