"""CLAIMS: the claims of the paper, and the rules that judge them from the results of an experiment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.experiments import ALL, GRID, LOWEST, OTHER, SUPERVISED, results
from blockselect.reproduction.figures import LOSSES, rank_correlation, title_of
from blockselect.reproduction.selections import MEASURES, rows_with
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import FloatArray

__all__ = ["CLAIMS", "Claim", "Judgement", "Verdict", "judge_claims"]

FEW = 16  # features
ENOUGH = 5  # fewest candidates for a meaningful rank correlation


class Verdict(StrEnum):
    """Whether the results support a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    UNMEASURED = "not measured"


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A verdict with the numbers on which it is based."""

    verdict: Verdict
    summary: str  # one or two sentences with the main numbers
    figures: pd.DataFrame  # all numbers, formatted for reading


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, the experiment that tests it, and the rule that judges it."""

    letter: str
    statement: str
    rule: str
    experiment: str
    judge: Callable[[pd.DataFrame, ExperimentConfig], Judgement]  # from the table of the experiment, not empty


CLAIMS: list[Claim] = []
"""All claims, in the order of their letters."""


def claim(letter: str, experiment: str, statement: str, **settings: Any) -> Callable[[Any], Any]:
    """Register a function that judges a claim from an experiment's table; the page shows its docstring as the rule."""

    def add(judge: Any) -> Any:
        rule = " ".join((judge.__doc__ or "").split())
        CLAIMS.append(Claim(letter, statement, rule, experiment, partial(judge, **settings)))
        return judge

    return add


def judge_claims(rows: Mapping[str, list[Row]], config: ExperimentConfig) -> dict[str, Judgement]:
    """Judge every claim; the judgements are keyed by the letters of the claims.

    Parameters
    ----------
    rows : mapping
        All rows of each experiment that was run; claims about other experiments are not measured.
    config : ExperimentConfig
        The configuration with which the rows were computed.
    """
    tables = {name: results(name, of_experiment) for name, of_experiment in rows.items()}
    judgements = {}
    for claim in CLAIMS:
        if (table := tables.get(claim.experiment)) is None:
            judgements[claim.letter] = unmeasured(f"the experiment {claim.experiment} was not run.")
        elif table.empty:
            judgements[claim.letter] = unmeasured("every trial of the experiment failed.")
        else:
            judgements[claim.letter] = claim.judge(table, config)
    return judgements


@claim(
    "a",
    "effectiveness",
    "With the published block models, 16 features beat all features by more than 11 points in ACC on BlogCatalog.",
)
def few_beat_all(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """Holds if BMGUFS*, which sees no labels, gains more than 11 points; in part if only BMGUFSˢ, whose candidate and
    sparsity are chosen with the labels, does.
    """
    table = rows_with(table, dataset="blogcatalog", top=FEW)
    found = {row["method"]: row for row in table.to_dict("records")}
    if not {ALL, LOWEST, SUPERVISED} <= found.keys():
        return unmeasured(f"there are no rows for BlogCatalog with {FEW} features.")
    if found[LOWEST]["block_models"] != "published":
        return unmeasured("the published block models were not available; set BLOCKSELECT_GOLDEN to their folder.")
    mean = {method: row["accuracy"] for method, row in found.items()}
    accuracy = {method: f"{row['accuracy']:.3f} ± {row['accuracy_sd']:.3f}" for method, row in found.items()}
    gain = {method: mean[method] - mean[ALL] for method in (LOWEST, SUPERVISED)}
    lines = [(ALL, accuracy[ALL], "", "", "")]
    for method in (LOWEST, SUPERVISED):
        candidate, sparsity = str(found[method]["candidate"] + 1), f"{found[method]['sparsity']:g}"
        lines.append((f"{FEW} of {method}", accuracy[method], points(gain[method]), candidate, sparsity))
    grid = rows_with(table, method=GRID, candidate=0)
    low, high = grid["accuracy"].min(), grid["accuracy"].max()
    lines.append(
        (
            f"{FEW} of the candidate with the lowest error, any γ",
            f"{low:.3f} to {high:.3f}",
            f"{points(low - mean[ALL])} to {points(high - mean[ALL])}",
            "1",
            f"{grid['sparsity'].min():g} to {grid['sparsity'].max():g}",
        )
    )
    figures = pd.DataFrame(lines, columns=["features", "ACC", "gain, points", "candidate", "γ"])
    summary = f"{points(gain[LOWEST])} points without labels, {points(gain[SUPERVISED])} with labels."
    return Judgement(graded(gain[LOWEST] > 0.11, gain[SUPERVISED] > 0.11), summary, figures)


@claim(
    "bˢ", "effectiveness", "BMGUFSˢ, chosen with labels that no baseline uses, beats every baseline.", ours=SUPERVISED
)
@claim("b*", "effectiveness", "BMGUFS*, without labels, beats every baseline.", ours=LOWEST)
def beats_each(table: pd.DataFrame, config: ExperimentConfig, ours: str) -> Judgement:
    """Holds if the method has the higher mean in at least three quarters of the cells (network × d × measure) against
    every baseline; in part if it does in more than half of the cells against at least half of the baselines.
    """
    long = table.melt(["dataset", "top", "method"], list(MEASURES), "measure", "mean").dropna(subset="mean")
    baselines = long[~long["method"].isin([GRID, LOWEST, SUPERVISED])]
    contests = baselines.merge(
        long[long["method"] == ours], on=["dataset", "top", "measure"], suffixes=("_baseline", "_ours")
    )
    if contests.empty:
        return unmeasured("BMGUFS has no cell in common with any baseline.")
    contests["difference"] = contests["mean_ours"] - contests["mean_baseline"]
    contests["won"], contests["equal"] = contests["difference"] > 0, contests["difference"] == 0
    wins = contests.groupby("method_baseline", sort=False).agg(
        cells=("won", "size"), won=("won", "sum"), equal=("equal", "sum"), mean=("difference", "mean")
    )
    share = wins["won"] / wins["cells"]
    figures = pd.DataFrame(
        {
            "baseline": wins.index.map(title_of),
            "cells": wins["cells"].map(str),
            "won": [f"{won} ({part:.0%})" for won, part in zip(wins["won"], share, strict=True)],
            "equal": wins["equal"].map(str),
            "mean difference, points": wins["mean"].map(points),
        }
    )
    summary = (
        f"{wins['won'].sum()} of {wins['cells'].sum()} cells won; the hardest baseline is {title_of(share.idxmin())} "
        f"({share.min():.0%} won)."
    )
    return Judgement(graded(all(share >= 0.75), bool(np.mean(share > 0.5) >= 0.5)), summary, figures)


@claim("c", "perturbation", "Small perturbations of the blocks hardly change r.")
def small_changes_matter_little(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """A median cosine distance is small if it is at most 0.05 and at most half the median distance between the r of
    different candidates. Holds if the median is small for every network, share of reassigned nodes and kind of
    densities; in part if it is for at least half.
    """
    is_other = table["densities"] == OTHER
    if is_other.all() or not is_other.any():
        return unmeasured("there are no rows with reassigned nodes, or no rows with other candidates for comparison.")
    groups = table[~is_other].groupby(["dataset", "share", "densities"], as_index=False, sort=False)["distance"]
    medians = groups.agg(repeats="size", median="median", largest="max")
    scale = medians["dataset"].map(table[is_other].groupby("dataset")["distance"].median())
    passed = (medians["median"] <= 0.05) & (medians["median"] <= 0.5 * scale)
    figures = pd.DataFrame(
        {
            "network": medians["dataset"].map(title_of),
            "nodes reassigned": medians["share"].map("{:.0%}".format),
            "densities": medians["densities"],
            "repeats": medians["repeats"].map(str),
            "median distance": medians["median"].map("{:.4f}".format),
            "largest": medians["largest"].map("{:.4f}".format),
            "median of other candidates": scale.map("{:.4f}".format),
        }
    )
    worst = (medians["median"] / scale).max()
    summary = (
        f"{count(passed)} median distances are small. The largest is {medians['median'].max():.4f}; relative to "
        f"the median distance between candidates, the largest is {worst:.0%}."
    )
    return Judgement(by_share(passed), summary, figures)


@claim("d", "block-models", "Candidates differ substantially, and the one with the lowest error is competitive.")
def candidates_differ(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """Two checks: in more than half of the cells (network × d × measure), the best and the worst candidate differ by at
    least 5 points; and in more than half of the cells, the candidate with the lowest error reaches the median. Holds if
    both checks pass; in part if one does.
    """
    notable, competitive, figures = [], [], []
    for cell, part, measure in _cells(table, config):
        values = part[measure]
        span, lowest, median = values.max() - values.min(), values.iloc[0], values.median()
        notable.append(span >= 0.05)
        competitive.append(lowest >= median)
        shown = {"lowest error": lowest, "median": median, "best": values.max()}
        formatted = {name: f"{value:.3f}" for name, value in shown.items()}
        figures.append({**cell, "best − worst, points": points(span), **formatted})
    if not figures:
        return unmeasured("no network has rows for several candidates.")
    summary = (
        f"{count(notable)} cells differ by 5 points or more; in {count(competitive)} the candidate with "
        "the lowest error reaches the median."
    )
    in_most = [np.mean(notable) > 0.5, np.mean(competitive) > 0.5]
    return Judgement(by_share(in_most), summary, pd.DataFrame(figures))


@claim("e", "block-models", "The accuracy of the blocks themselves does not predict the quality of the features.")
def blocks_do_not_predict(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """The accuracy is predictive for a network if Spearman's ρ across the candidates has a median of at least 0.5 over
    the cells (d × measure). The claim holds if the accuracy is predictive for no network; in part if it is for some but
    not all networks.
    """
    cells = pd.DataFrame(
        [
            {
                **cell,
                "blocks": rank_correlation(part, f"blocks_{measure}", measure),
                "error": rank_correlation(part, "relative_error", measure),
            }
            for cell, part, measure in _cells(table, config)
            if len(part) >= ENOUGH
        ],
        columns=["network", "d", "measure", "blocks", "error"],
    )
    medians = cells.groupby("network", sort=False)["blocks"].median().dropna()
    if medians.empty:
        return unmeasured(f"no network has {ENOUGH} distinct candidates.")
    predicted = medians >= 0.5
    figures = cells.assign(blocks=cells["blocks"].map("{:+.2f}".format), error=cells["error"].map("{:+.2f}".format))
    figures = figures.rename(columns={"blocks": "ρ with the accuracy of F", "error": "ρ with the error of F"})
    summary = "; ".join(f"{name}: median ρ = {median:+.2f}" for name, median in medians.items()) + "."
    return Judgement(graded(not predicted.any(), not predicted.all()), summary, figures)


def _cells(table: pd.DataFrame, config: ExperimentConfig) -> Iterator[tuple[dict[str, object], pd.DataFrame, str]]:
    """Yield the name, the rows (by error) and the measure of each cell that has at least two candidates."""
    table = rows_with(table, gradient=config.gradient).sort_values("candidate", kind="stable")
    for (dataset, top), part in table.groupby(["dataset", "top"], sort=False):
        if len(part) > 1 and part["candidate"].iloc[0] == 0:
            for measure in MEASURES:
                yield {"network": title_of(dataset), "d": f"{top:g}", "measure": title_of(measure)}, part, measure


@claim("f", "parameters", "Quality rises sharply near β̄ = 0.5 and is stable for β̄ ≥ 0.6.")
def cliff_then_stable(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """Two checks for each surface, on means over the sparsities that leave enough features: the largest step between
    adjacent β̄ lies between 0.4 and 0.6, and the mean for β̄ ≥ 0.6 is at least 5 points above the mean for β̄ ≤ 0.4;
    and the range over β̄ ≥ 0.6 is at most 5 points. Holds if all checks pass; in part if at least half do.
    """
    if not {0.4, 0.6} <= set(table["profile_ratio"]):
        return unmeasured("there are no rows for the ratios 0.4 and 0.6.")
    cliff, stable, lines = [], [], []
    for dataset, part in table.groupby("dataset", sort=False):
        for measure in MEASURES:
            line = mean_by_ratio(part, measure)
            before, after = line[line.index <= 0.4], line[line.index >= 0.6]
            rise, span = after.mean() - before.mean(), after.max() - after.min()
            step_to: Any = line.diff().abs().idxmax()
            cliff.append(rise >= 0.05 and 0.4 < step_to <= 0.6)
            stable.append(span <= 0.05)
            lines.append((title_of(dataset), title_of(measure), points(rise), f"{step_to:g}", points(span)))
    rise_title, step_title = "mean at β̄ ≥ 0.6 minus mean at β̄ ≤ 0.4, points", "β̄ after the largest step"
    figures = pd.DataFrame(lines, columns=["network", "measure", rise_title, step_title, "range over β̄ ≥ 0.6, points"])
    summary = f"{count(cliff)} surfaces rise sharply there; {count(stable)} are stable for β̄ ≥ 0.6."
    return Judgement(by_share([*cliff, *stable]), summary, figures)


def mean_by_ratio(table: pd.DataFrame, measure: str) -> pd.Series:
    """Mean over the sparsities that leave enough features, by ratio; zero if no sparsity does."""
    means = table[table["enough"]].groupby("profile_ratio")[measure].mean()
    return means.reindex(sorted(table["profile_ratio"].unique()), fill_value=0.0)


@claim("g", "parameters", "γ matters little as long as nnz(r) ≥ d.")
def sparsity_matters_little(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """A cell (network × measure × β̄) passes if the range over the sparsities that leave enough features is at most 5
    points. Holds if at least nine tenths of the cells pass; in part if at least half do.
    """
    little, lines = [], []
    for (dataset, ratio), part in table[table["enough"]].groupby(["dataset", "profile_ratio"], sort=False):
        for measure in MEASURES if len(part) > 1 else ():
            span = part[measure].max() - part[measure].min()
            little.append(span <= 0.05)
            lines.append((title_of(dataset), title_of(measure), f"{ratio:g}", str(len(part)), points(span)))
    if not lines:
        return unmeasured("no cell has two sparsities that leave enough features.")
    figures = pd.DataFrame(
        lines, columns=["network", "measure", "β̄", "sparsities that leave enough", "range over γ, points"]
    )
    summary = f"the range over γ is at most 5 points in {count(little)} cells."
    return Judgement(by_share(little, holds=0.9), summary, figures)


@claim("h", "convergence", "For β̄ ≥ 0.6 both losses fall monotonically and settle within 200 iterations.")
def losses_fall_and_settle(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """A curve falls if it never rises more than 1 % of its range above an earlier value, and settles if it varies by at
    most 1 % of its range over the last tenth of the iterations. Holds if every curve of L_m and L_b + L_m falls and
    settles; in part if at least half of these checks pass.
    """
    table = table[table["profile_ratio"] >= 0.6]
    if table.empty or config.max_iter < 200:
        return unmeasured("there are no rows with 200 iterations and a ratio of at least 0.6.")
    found = []
    for (dataset, gradient, ratio), part in table.groupby(["dataset", "gradient", "profile_ratio"], sort=False):
        for loss in LOSSES:
            curve = part.sort_values("iteration")[loss].to_numpy()[:201]
            found.append(
                {
                    "network": title_of(dataset),
                    "gradient": gradient,
                    "β̄": f"{ratio:g}",
                    "loss": title_of(loss).replace("$", ""),
                    "first": f"{curve[0]:.3f}",
                    "last": f"{curve[-1]:.3f}",
                    "largest rise, share of range": f"{highest_rise(curve):.1%}",
                    "falls": "yes" if highest_rise(curve) <= 0.01 else "no",
                    "settles": "yes" if settles(curve) else "no",
                }
            )
    figures = pd.DataFrame(found)
    ours = figures[figures["gradient"] == config.gradient]
    falling, settled = ours["falls"] == "yes", ours["settles"] == "yes"
    summary = f"{count(falling)} curves fall monotonically, {count(settled)} settle ({config.gradient} gradient)."
    return Judgement(by_share([*falling, *settled]), summary, figures)


def highest_rise(curve: FloatArray) -> float:
    """The largest rise above an earlier value, as a share of the range of the curve."""
    span = np.ptp(curve)
    return float(np.max(curve - np.minimum.accumulate(curve)) / span) if span else 0.0


def settles(curve: FloatArray) -> bool:
    """Whether the range over the last tenth of the iterations is at most 1 % of the range of the curve."""
    last = curve[-(len(curve) // 10) :]
    return bool(np.ptp(last) <= 0.01 * np.ptp(curve))


@claim(
    "i",
    "block-models",
    "Not in the paper: its gradient, which is not the derivative of its loss, selects almost the same features.",
)
def published_gradient_changes_little(table: pd.DataFrame, config: ExperimentConfig) -> Judgement:
    """Two checks over networks × candidates × d: the median overlap of the selections with the two gradients is at
    least 90 %, and the median change in ACC is at most 2 points. Holds if both checks pass; in part if one does.
    """
    exact, paper = (rows_with(table, gradient=gradient) for gradient in ("exact", "paper"))
    both = exact.merge(paper, on=["dataset", "candidate", "top"])
    if both.empty:
        return unmeasured("no candidate has rows for both gradients.")
    chosen = [both[column].map(json.loads).map(set) for column in ("selected_x", "selected_y")]
    both = both.assign(
        overlap=[len(one & other) for one, other in zip(*chosen, strict=True)] / both["top"],
        accuracy=both["accuracy_x"] - both["accuracy_y"],
        nmi=both["nmi_x"] - both["nmi_y"],
    )
    overlap, change = both["overlap"].median(), both["accuracy"].abs().median()
    summary = (
        f"the median overlap of the selections is {overlap:.0%}; the median change in ACC is {100 * change:.1f} "
        f"points, and the exact gradient gains {points(both['accuracy'].mean())} on average."
    )
    cells = both.groupby(["dataset", "top"], as_index=False, sort=False).agg(
        candidates=("overlap", "size"),
        overlap=("overlap", "median"),
        least=("overlap", "min"),
        accuracy=("accuracy", "mean"),
        nmi=("nmi", "mean"),
    )
    figures = pd.DataFrame(
        {
            "network": cells["dataset"].map(title_of),
            "d": cells["top"].map("{:g}".format),
            "candidates": cells["candidates"].map(str),
            "median overlap": cells["overlap"].map("{:.0%}".format),
            "lowest overlap": cells["least"].map("{:.0%}".format),
            "ACC, exact minus paper, points": cells["accuracy"].map(points),
            "NMI, exact minus paper, points": cells["nmi"].map(points),
        }
    )
    return Judgement(by_share([overlap >= 0.9, change <= 0.02]), summary, figures)


def unmeasured(why: str) -> Judgement:
    return Judgement(Verdict.UNMEASURED, why, pd.DataFrame())


def graded(holds: bool, partly: bool) -> Verdict:
    return Verdict.HOLDS if holds else Verdict.PARTLY if partly else Verdict.FAILS


def by_share(passed: Sequence[bool] | pd.Series, *, holds: float = 1.0) -> Verdict:
    """Holds if the share of passed checks is at least `holds`; in part if it is at least one half."""
    share = sum(passed) / len(passed)
    return graded(share >= holds, share >= 0.5)


def count(passed: Sequence[bool] | pd.Series) -> str:
    return f"{sum(passed)} of {len(passed)}"


def points(difference: float) -> str:
    """A difference of ACC or NMI in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"
