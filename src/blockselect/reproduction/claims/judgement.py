"""Claim: a sentence of the paper and the rule by which it is judged; Judgement: the verdict and its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import pandas as pd

from blockselect.reproduction.experiment_config import ExperimentConfig
from blockselect.reproduction.trial import Row


class Verdict(StrEnum):
    """Whether a claim holds by the rows."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A verdict with the figures that it rests on."""

    verdict: Verdict
    summary: str  # the main figures in a sentence
    figures: pd.DataFrame  # all of them, for people


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, the experiment it is about, and how it is judged."""

    letter: str
    statement: str
    rule: str  # in one sentence
    experiment: str
    judge: Callable[[list[Row], ExperimentConfig], Judgement]


def unmeasured(why: str) -> Judgement:
    return Judgement(Verdict.UNMEASURED, why, pd.DataFrame())


def by_share(passed: Sequence[bool] | pd.Series, *, holds: float, partly: float) -> Verdict:
    """A verdict from the share of checks that passed: at least `holds`, at least `partly`, or fewer."""
    share = sum(bool(check) for check in passed) / len(passed)
    return Verdict.HOLDS if share >= holds else Verdict.PARTLY if share >= partly else Verdict.FAILS


def count(passed: Sequence[bool] | pd.Series) -> str:
    return f"{sum(bool(check) for check in passed)} of {len(passed)}"


def points(difference: float) -> str:
    """A difference of ACC or NMI in points, signed."""
    return f"{100 * difference:+.1f}"
