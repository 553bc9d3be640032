"""Scores become a ranking and a selection."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from blockselect import BlockModel, find_block_models, make_attributed_blocks
from blockselect.base import ScoreSelector
from blockselect.baselines.by_features.ndfs import NDFS
from blockselect.baselines.by_features.variance import VarianceScore
from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.utils.arrays import best_first
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_generator, generator_from


class Given(ScoreSelector):
    """Selects by scores it is given."""

    def __init__(self, n_features_to_select=None, scores=None):
        self.n_features_to_select = n_features_to_select
        self.scores = scores

    def fit(self, X, y=None):
        self._select(np.asarray(self.scores, dtype=float), why_fewer="so it was given.")
        return self


def fitted(n_features_to_select, scores):
    return Given(n_features_to_select, scores).fit(None)


def test_the_largest_scores_are_selected_and_ranked_first():
    selector = fitted(2, [0.1, 0.9, 0.0, 0.5])
    assert_array_equal(selector.get_support(), [False, True, False, True])
    assert_array_equal(selector.ranking_, [3, 1, 4, 2])


def test_among_equal_scores_the_lower_index_comes_first():
    selector = fitted(2, [0.5, 0.7, 0.5, 0.5])
    assert_array_equal(selector.get_support(indices=True), [0, 1])
    assert_array_equal(selector.ranking_, [2, 1, 3, 4])


def test_a_score_next_to_zero_comes_before_a_zero_that_cannot_be_selected():
    selector = fitted(2, [0.0, 1.0, 1e-20])
    assert_array_equal(selector.get_support(indices=True), [1, 2])
    assert_array_equal(selector.ranking_, [3, 1, 2])


def test_a_zero_score_is_never_selected_and_that_is_said():
    with pytest.warns(ConvergenceWarning, match=r"only 1 of the 3 requested features.*so it was given"):
        selector = fitted(3, [0.0, 0.2, 0.0, 0.0])
    assert_array_equal(selector.get_support(indices=True), [1])
    assert selector.n_features_ == 1


@pytest.mark.parametrize(("wanted", "selected"), [(None, 5), (1, 1), (10, 10), (0.3, 3), (0.01, 1)])
def test_how_many_may_be_a_number_a_share_or_half(wanted, selected):
    assert fitted(wanted, np.arange(1, 11)).n_features_ == selected


def test_more_features_than_there_are_is_an_error():
    with pytest.raises(ParameterError, match="is 11 but there are 10 features; choose 1 to 10") as raised:
        fitted(11, np.arange(1, 11))
    assert raised.value.parameter == "n_features_to_select"


def test_before_fit_there_is_no_selection():
    with pytest.raises(NotFittedError):
        Given(2).get_support()


def test_scores_that_differ_by_rounding_alone_are_equal():
    assert_array_equal(best_first(np.array([0.1 + 0.2, 0.3, 1.0])), [2, 0, 1])
    assert_array_equal(best_first(np.array([-np.inf, 0.0, -np.inf])), [1, 0, 2])


class TooLarge(VarianceScore):
    """Needs more memory than there is."""

    def _score(self, features, affinity):
        raise MemoryError


def test_running_out_of_memory_says_in_what_and_what_to_do():
    with pytest.raises(MemoryError, match=r"not enough memory to fit TooLarge \(no size given\); drop features"):
        TooLarge(1).fit(np.eye(3))


def test_a_warning_points_at_the_line_that_fits():
    features = np.random.default_rng(0).random((30, 6))
    with pytest.warns(ConvergenceWarning, match="max_iter=1") as caught:
        NDFS(2, n_blocks=2, max_iter=1, random_state=0).fit(features)
    assert [Path(warning.filename).name for warning in caught] == ["test_base.py"]


def test_a_generator_or_a_seed_draws():
    rng = np.random.default_rng(0)
    assert as_generator(rng) is rng
    assert as_generator(0).random() == np.random.default_rng(0).random()
    for wrong in ("a", -1, 0.5):
        with pytest.raises((TypeError, ValueError), match=r"expect"):
            as_generator(wrong)
    for wrong in ("a", rng):
        with pytest.raises(ValueError, match="cannot be used to seed"):
            generator_from(wrong)


def test_wherever_a_generator_is_asked_for_a_seed_is_taken():
    planted = make_attributed_blocks(60, 3, random_state=0)
    calls = [
        lambda rng: find_block_models(planted.adjacency, 3, n_candidates=2, rng=rng)[0].labels,
        lambda rng: count_blocks(planted.adjacency, rng=rng).noise,
        lambda rng: (
            BlockModel.from_labels(planted.adjacency, planted.blocks)
            .perturb(planted.adjacency, 0.2, keep_density=True, rng=rng)
            .labels
        ),
    ]
    for call in calls:
        assert_array_equal(call(0), call(np.random.default_rng(0)))
        with pytest.raises((TypeError, ValueError)):
            call("a")
