"""Logistic regression in batches: the coefficients of scikit-learn, whatever the other sets of the batch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

torch = pytest.importorskip("torch")

from benchmarks.quality.use.device_logistic import fit_logistic  # noqa: E402 - after the check for torch


@pytest.mark.parametrize(("n_classes", "n_columns"), [(3, 5), (4, 60)])
def test_coefficients_are_those_of_scikit_learn(n_classes, n_columns):
    rng = np.random.default_rng(0)
    targets = np.tile(np.repeat(np.arange(n_classes), 10), (3, 1))
    rows = rng.normal(size=(3, targets.shape[1], n_columns)) * [[[1.0]], [[0.1]], [[5.0]]]
    rows[..., 0] += targets
    found = fit_logistic(torch.as_tensor(rows), torch.as_tensor(targets), n_classes).numpy()
    for each, of_set, wanted in zip(found, rows, targets, strict=True):
        model = LogisticRegression(max_iter=10_000, tol=1e-8).fit(of_set, wanted)
        assert_allclose(each[:-1].T, model.coef_, atol=2e-3)
        shares = np.exp(of_set @ each[:-1] + each[-1])
        assert_allclose(shares / shares.sum(axis=1, keepdims=True), model.predict_proba(of_set), atol=2e-3)


def test_rows_without_any_value_leave_the_shares_of_the_classes():
    targets = np.array([[0, 0, 0, 1]])
    found = fit_logistic(torch.zeros((1, 4, 2), dtype=torch.float64), torch.as_tensor(targets), 2)[0].numpy()
    assert_allclose(found[:2], 0, atol=1e-12)
    assert found[2, 0] - found[2, 1] == pytest.approx(np.log(3), abs=1e-3)


def test_a_set_that_is_done_early_stays_as_it_is_while_others_go_on():
    """Its residual is rounding alone, which must not be followed: all intercepts may rise alike at no cost."""
    rng = np.random.default_rng(0)
    targets = np.tile([0, 0, 0, 0, 1, 1, 1, 1], (2, 1))
    rows = rng.random((2, 8, 2))
    rows[1] *= 30
    rows[0] = rng.random((8, 2)) * 0.01
    together = fit_logistic(torch.as_tensor(rows), torch.as_tensor(targets), 2)
    alone = fit_logistic(torch.as_tensor(rows[:1]), torch.as_tensor(targets[:1]), 2)
    assert_allclose(together[0], alone[0], atol=1e-3)
