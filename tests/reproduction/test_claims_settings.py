"""Claims (f), (g) and (h), judged from artificial rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blockselect.reproduction.claims import CLAIMS, Verdict, highest_rise, judge_claims, settles
from blockselect.reproduction.config import read_config
from references.experiment_rows import judged, row, too_few

CONFIG = read_config("paper")


def judge(letter, experiment, rows, config=CONFIG):
    return judge_claims({experiment: rows}, config)[letter]


def surface(by_ratio, *, dataset="cora"):
    """Rows with ACC = NMI, one value per ratio and sparsity; None means that too few features are left."""
    rows = []
    for ratio, values in by_ratio.items():
        for sparsity, value in enumerate(values):
            columns = {"dataset": dataset, "profile_ratio": ratio, "sparsity": float(sparsity), "top": 16}
            if value is None:
                rows.append(too_few("parameters", **columns))
            else:
                rows += judged("parameters", accuracy=value, nmi=value, **columns)
    return rows


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        ((0.2, 0.2, 0.35, 0.4, 0.4, 0.4), Verdict.HOLDS),
        ((0.2, 0.2, 0.35, 0.4, 0.5, 0.4), Verdict.PARTLY),  # a cliff, but not stable after it
        ((0.4, 0.4, 0.4, 0.4, 0.4, 0.4), Verdict.PARTLY),  # stable, but there is no cliff
        ((0.1, 0.36, 0.38, 0.4, 0.4, 0.4), Verdict.PARTLY),  # it rises, but earlier
        ((0.4, 0.4, 0.3, 0.2, 0.3, 0.2), Verdict.FAILS),  # falls there, and is unstable
    ],
)
def test_a_cliff_near_one_half_and_stable_after_it(line, verdict):
    ratios = (0.0, 0.4, 0.5, 0.6, 0.8, 1.0)
    assert judge("f", "parameters", surface({r: [v] for r, v in zip(ratios, line, strict=True)})).verdict == verdict


def test_settings_that_leave_too_few_features_do_not_make_a_cliff():
    rows = surface({0.0: [0.4, None], 0.4: [0.4, None], 0.6: [0.4, 0.4], 1.0: [0.4, 0.4]})
    assert judge("f", "parameters", rows).verdict == Verdict.PARTLY


def test_a_ratio_where_nothing_leaves_enough_features_counts_zero():
    rows = surface({0.0: [None, None], 0.4: [None, None], 0.6: [0.4, 0.4], 1.0: [0.4, 0.4]})
    assert judge("f", "parameters", rows).verdict == Verdict.HOLDS


def test_a_cliff_needs_ratios_on_both_sides():
    assert judge("f", "parameters", surface({0.6: [0.4], 1.0: [0.4]})).verdict == Verdict.UNMEASURED


@pytest.mark.parametrize(
    ("n_wide", "verdict"), [(0, Verdict.HOLDS), (1, Verdict.HOLDS), (3, Verdict.PARTLY), (6, Verdict.FAILS)]
)
def test_sparsity_matters_by_its_range_where_enough_features_are_left(n_wide, verdict):
    ratios = [i / 10 for i in range(10)]
    rows = surface({r: [0.4, 0.3 if i < n_wide else 0.38, None] for i, r in enumerate(ratios)})
    found = judge("g", "parameters", rows)
    assert found.verdict == verdict
    assert f"{20 - 2 * n_wide} of 20" in found.summary


def test_sparsities_of_which_one_leaves_enough_measure_nothing():
    assert judge("g", "parameters", surface({0.4: [0.4, None], 0.6: [0.4, None]})).verdict == Verdict.UNMEASURED


FALLING = np.exp(-np.arange(201) / 20)


def curves(*lines, ratio=0.6, gradient="paper"):
    """L_m by iteration, one network per line; L_b is constant, so that the sum has the same shape."""
    return [
        row(
            "convergence",
            dataset=f"network {i}",
            gradient=gradient,
            profile_ratio=ratio,
            iteration=iteration,
            reconstruction_loss=0.5,
            profile_loss=float(value),
        )
        for i, line in enumerate(lines)
        for iteration, value in enumerate(line)
    ]


RISING_LATE = np.where(np.arange(201) > 100, FALLING + np.linspace(-0.5, 0.5, 201) * 0.1, FALLING)
STRAIGHT = np.linspace(1, 0, 201)
WAVES = np.sin(np.arange(201))


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ([FALLING, FALLING], Verdict.HOLDS),
        ([FALLING, STRAIGHT], Verdict.PARTLY),
        ([STRAIGHT], Verdict.PARTLY),  # falls, never settles
        ([FALLING, WAVES, WAVES], Verdict.FAILS),
    ],
)
def test_losses_fall_and_settle(lines, verdict):
    assert judge("h", "convergence", curves(*lines)).verdict == verdict


def test_a_slow_rise_at_the_end_is_not_monotone():
    assert highest_rise(RISING_LATE) > 0.03
    assert highest_rise(FALLING) == 0


def test_a_curve_settles_when_its_last_tenth_stands_still():
    assert settles(FALLING)
    assert not settles(STRAIGHT)


def test_ratios_below_and_the_other_gradient_do_not_count():
    rows = curves(FALLING) + curves(WAVES, ratio=0.4) + curves(WAVES, gradient="exact")
    found = judge("h", "convergence", rows)
    assert found.verdict == Verdict.HOLDS
    assert "exact" in set(found.figures["gradient"])


def test_fewer_iterations_than_claimed_measure_nothing():
    assert judge("h", "convergence", curves(FALLING), replace(CONFIG, max_iter=100)).verdict == Verdict.UNMEASURED


def test_every_claim_is_unmeasured_without_rows_and_survives_failed_ones():
    nothing = judge_claims({}, CONFIG)
    assert {judgement.verdict for judgement in nothing.values()} == {Verdict.UNMEASURED}
    for claim in CLAIMS:
        failed = row(claim.experiment, dataset="cora") | {"error": "ValueError: no"}
        assert judge(claim.letter, claim.experiment, [failed]).verdict == Verdict.UNMEASURED


def test_every_claim_is_judged_on_real_rows(run):
    found = judge_claims(run.rows, run.config)
    assert {letter for letter, judgement in found.items() if judgement.verdict == Verdict.UNMEASURED} == {"a"}
    assert all(len(judgement.figures) for letter, judgement in found.items() if letter != "a")
