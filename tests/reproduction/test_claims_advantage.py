"""Claims (a) and (b), judged from artificial rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blockselect.reproduction.claims import Verdict, judge_claims
from blockselect.reproduction.config import read_config
from blockselect.reproduction.experiments import ALL, GRID
from references.experiment_rows import judged, row

NAME = "effectiveness"
CONFIG = replace(read_config("paper"), datasets=("blogcatalog",))


def judge(letter, rows):
    return judge_claims({NAME: rows}, CONFIG)[letter]


def bmgufs(accuracy, *, candidate=0, sparsity=0.0, **columns):
    columns = {"dataset": "blogcatalog", "block_models": "published", "top": 16, **columns}
    return judged(NAME, accuracy=accuracy, method=GRID, candidate=candidate, sparsity=sparsity, **columns)


def baseline(accuracy, method="variance", top=16, dataset="blogcatalog", **columns):
    return judged(NAME, accuracy=accuracy, method=method, dataset=dataset, top=top, **columns)


def everything(accuracy=0.40, dataset="blogcatalog"):
    return baseline(accuracy, method=ALL, top=8189, dataset=dataset)


@pytest.mark.parametrize(
    ("without_labels", "with_labels", "verdict"),
    [
        (0.52, 0.60, Verdict.HOLDS),
        (0.51, 0.60, Verdict.PARTLY),  # eleven points are not more than eleven
        (0.45, 0.52, Verdict.PARTLY),
        (0.45, 0.50, Verdict.FAILS),
    ],
)
def test_few_features_beat_all(without_labels, with_labels, verdict):
    rows = everything() + bmgufs(without_labels) + bmgufs(with_labels, candidate=3)
    found = judge("a", rows)
    assert found.verdict == verdict
    assert list(found.figures["candidate"]) == ["", "1", "4", "1"]


def test_the_strongest_sparsity_that_leaves_enough_speaks_without_labels():
    assert judge("a", everything() + bmgufs(0.6, sparsity=0.0) + bmgufs(0.4, sparsity=2.0)).verdict == Verdict.PARTLY
    assert judge("a", everything() + bmgufs(0.4, sparsity=0.0) + bmgufs(0.6, sparsity=2.0)).verdict == Verdict.HOLDS


def test_few_against_all_is_not_measured_elsewhere_or_with_other_block_models():
    elsewhere = everything(dataset="cora") + bmgufs(0.6, dataset="cora")
    assert judge("a", elsewhere).verdict == Verdict.UNMEASURED
    own = judge("a", everything() + bmgufs(0.6, block_models="own"))
    assert own.verdict == Verdict.UNMEASURED
    assert "BLOCKSELECT_GOLDEN" in own.summary


def cells(ours, theirs, method="variance"):
    """One cell of ACC and one of NMI for each number; NMI is half of ACC."""
    rows = []
    for top, (our, their) in enumerate(zip(ours, theirs, strict=True), start=1):
        rows += bmgufs(our, top=top) + baseline(their, method, top=top)
    return rows


@pytest.mark.parametrize(
    ("won", "verdict"), [(4, Verdict.HOLDS), (3, Verdict.HOLDS), (2, Verdict.FAILS), (0, Verdict.FAILS)]
)
def test_a_baseline_is_beaten_by_the_share_of_cells(won, verdict):
    found = judge("b*", cells([0.5] * 4, [0.4] * won + [0.6] * (4 - won)))
    assert found.verdict == verdict
    assert found.summary.startswith(f"{2 * won} of 8 cells won")


def test_half_of_the_baselines_beaten_is_in_part():
    rows = cells([0.5] * 4, [0.4] * 4) + [
        each for top in (1, 2, 3, 4) for each in baseline(0.6, "laplacian-score", top=top)
    ]
    assert judge("b*", rows).verdict == Verdict.PARTLY
    rows += [each for top in (1, 2, 3, 4) for each in baseline(0.6, "mmpop", top=top)]
    assert judge("b*", rows).verdict == Verdict.FAILS


def test_an_equal_cell_is_not_won():
    found = judge("b*", cells([0.5] * 4, [0.5] * 4))
    assert found.verdict == Verdict.FAILS
    assert list(found.figures["equal"]) == ["8"]


def test_labels_are_judged_apart():
    rows = cells([0.5] * 4, [0.55] * 4)
    for top in (1, 2, 3, 4):
        rows += bmgufs(0.6, candidate=1, top=top)
    assert judge("b*", rows).verdict == Verdict.FAILS
    assert judge("bˢ", rows).verdict == Verdict.HOLDS


def test_all_features_are_a_baseline_too():
    rows = bmgufs(0.5) + everything(0.6)
    found = judge("b*", rows)
    assert (found.verdict, list(found.figures["baseline"])) == (Verdict.FAILS, [ALL])


def test_a_baseline_that_failed_takes_no_part():
    failed = row(NAME, dataset="blogcatalog", method="netfs") | {"error": "MemoryError: no"}
    assert judge("b*", [*cells([0.5], [0.4]), failed]).verdict == Verdict.HOLDS
    assert judge("b*", [failed]).verdict == Verdict.UNMEASURED
    assert judge("b*", bmgufs(0.5)).verdict == Verdict.UNMEASURED
