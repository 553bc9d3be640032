"""Claims (c), (d), (e) and (i), judged from artificial rows."""

from __future__ import annotations

import pytest

from blockselect.reproduction.claims import Verdict, judge_claims
from blockselect.reproduction.config import read_config
from references.experiment_rows import judged, row

CONFIG = read_config("paper")


def judge(letter, experiment, rows):
    return judge_claims({experiment: rows}, CONFIG)[letter]


def moved(*distances, share=0.05, densities="kept", dataset="cora"):
    return [
        row("perturbation", dataset=dataset, share=share, densities=densities, repeat=i, distance=distance)
        for i, distance in enumerate(distances)
    ]


def others(*distances, dataset="cora"):
    return moved(*distances, share=None, densities="other candidate", dataset=dataset)


@pytest.mark.parametrize(
    ("kept", "recomputed", "verdict"),
    [
        (0.01, 0.02, Verdict.HOLDS),
        (0.01, 0.06, Verdict.PARTLY),  # above 0.05
        (0.06, 0.06, Verdict.FAILS),
    ],
)
def test_small_changes_by_the_median_distance(kept, recomputed, verdict):
    rows = moved(0.0, kept, 0.9) + moved(recomputed, densities="recomputed") + others(0.5, 0.5)
    assert judge("c", "perturbation", rows).verdict == verdict


def test_a_small_distance_is_not_small_where_other_blocks_are_no_farther():
    rows = moved(0.002) + others(0.003, 0.003, 0.9)
    assert judge("c", "perturbation", rows).verdict == Verdict.FAILS
    assert judge("c", "perturbation", moved(0.001) + others(0.003, 0.003, 0.9)).verdict == Verdict.HOLDS


def test_changes_without_other_candidates_are_not_measured():
    assert judge("c", "perturbation", moved(0.001)).verdict == Verdict.UNMEASURED


def candidates(accuracies, *, blocks=None, errors=None, dataset="cora", gradient="paper"):
    """Candidates of one network, lowest error first, at d = 16; NMI is half of ACC."""
    rows = []
    for i, accuracy in enumerate(accuracies):
        blocks_accuracy = 0.3 if blocks is None else blocks[i]
        rows += judged(
            "block-models",
            accuracy=accuracy,
            dataset=dataset,
            gradient=gradient,
            candidate=i,
            top=16,
            relative_error=0.9 + i / 100 if errors is None else errors[i],
            blocks_accuracy=blocks_accuracy,
            blocks_nmi=blocks_accuracy,
        )
    return rows


@pytest.mark.parametrize(
    ("accuracies", "verdict"),
    [
        ((0.5, 0.3, 0.4), Verdict.HOLDS),  # NMI differs by 0.1 too
        ((0.3, 0.5, 0.4), Verdict.PARTLY),  # they differ, but the lowest error is the worst
        ((0.43, 0.41, 0.42), Verdict.PARTLY),  # almost equal, and the lowest error is the best
        ((0.41, 0.43, 0.42), Verdict.FAILS),
    ],
)
def test_candidates_differ_and_the_lowest_error_is_competitive(accuracies, verdict):
    assert judge("d", "block-models", candidates(accuracies)).verdict == verdict


def test_one_candidate_alone_measures_nothing():
    assert judge("d", "block-models", candidates([0.5])).verdict == Verdict.UNMEASURED


def test_rows_of_the_other_gradient_are_not_taken_for_candidates():
    rows = candidates((0.41, 0.42, 0.43)) + candidates((0.9, 0.1, 0.2), gradient="exact")
    assert judge("d", "block-models", rows).verdict == Verdict.FAILS


RISING = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
MIXED = (0.4, 0.1, 0.6, 0.2, 0.5, 0.3)


@pytest.mark.parametrize(
    ("cora", "citeseer", "verdict"),
    [
        (MIXED, MIXED, Verdict.HOLDS),
        (RISING, MIXED, Verdict.PARTLY),
        (RISING, RISING, Verdict.FAILS),
        (RISING[::-1], RISING[::-1], Verdict.HOLDS),
    ],
)
def test_accuracy_of_the_blocks_predicts_by_rank_correlation(cora, citeseer, verdict):
    rows = candidates(RISING, blocks=cora) + candidates(RISING, blocks=citeseer, dataset="citeseer")
    assert judge("e", "block-models", rows).verdict == verdict


def test_few_candidates_or_equal_ones_measure_no_correlation():
    assert judge("e", "block-models", candidates(RISING[:4], blocks=RISING[:4])).verdict == Verdict.UNMEASURED
    assert judge("e", "block-models", candidates(RISING)).verdict == Verdict.UNMEASURED


def by_gradient(exact, paper, selected):
    columns = {"dataset": "cora", "candidate": 0, "top": 10, "relative_error": 0.9}
    columns |= {"blocks_accuracy": 0.3, "blocks_nmi": 0.3}
    ten = list(range(10))
    return judged("block-models", gradient="paper", accuracy=paper, selected=ten, **columns) + judged(
        "block-models", gradient="exact", accuracy=exact, selected=selected, **columns
    )


@pytest.mark.parametrize(
    ("exact", "n_common", "verdict"),
    [
        (0.51, 9, Verdict.HOLDS),
        (0.55, 9, Verdict.PARTLY),
        (0.51, 8, Verdict.PARTLY),
        (0.45, 8, Verdict.FAILS),
    ],
)
def test_what_the_published_gradient_changes(exact, n_common, verdict):
    rows = by_gradient(exact, 0.5, [*range(n_common), *range(50, 60 - n_common)])
    found = judge("i", "block-models", rows)
    assert found.verdict == verdict
    assert found.summary.startswith(f"the median overlap of the selections is {n_common}0%")


def test_one_gradient_alone_measures_nothing():
    assert judge("i", "block-models", candidates([0.5, 0.4])).verdict == Verdict.UNMEASURED
