"""Claim: a statement of the paper with the rule that judges it. Judgement: a verdict with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd

from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.store import Row


class Verdict(StrEnum):
    """Whether a claim holds according to the rows."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A verdict with the numbers that it is based on."""

    verdict: Verdict
    summary: str  # the main numbers in one sentence
    figures: pd.DataFrame  # all numbers, formatted for reading


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, the experiment that tests it, and the rule that judges it."""

    letter: str
    statement: str
    rule: str  # in one sentence
    experiment: str
    judge: Callable[[list[Row], ExperimentConfig], Judgement]


def unmeasured(why: str) -> Judgement:
    return Judgement(Verdict.UNMEASURED, why, pd.DataFrame())


def by_share(passed: Sequence[bool] | pd.Series, *, holds: float, partly: float) -> Verdict:
    """The verdict from the share of checks that passed, compared with the thresholds `holds` and `partly`."""
    share = sum(bool(check) for check in passed) / len(passed)
    return Verdict.HOLDS if share >= holds else Verdict.PARTLY if share >= partly else Verdict.FAILS


def count(passed: Sequence[bool] | pd.Series) -> str:
    return f"{sum(bool(check) for check in passed)} of {len(passed)}"


def points(difference: float) -> str:
    """A difference of ACC or NMI in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"
