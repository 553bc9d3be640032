"""CLAIMS: the claims of the paper, each judged from the rows by a stated rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd

from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.experiments import LOWEST, SUPERVISED, results
from blockselect.reproduction.judgement import (
    Judgement,
    Verdict,
    beats_each,
    blocks_do_not_predict,
    candidates_differ,
    cliff_then_stable,
    few_beat_all,
    losses_fall_and_settle,
    published_gradient_changes_little,
    small_changes_matter_little,
    sparsity_matters_little,
    unmeasured,
)
from blockselect.reproduction.store import Row

__all__ = ["CLAIMS", "Claim", "Judgement", "Verdict", "judge_claims"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement, the experiment that tests it, and the rule that judges it."""

    letter: str
    statement: str
    rule: str  # in one sentence
    experiment: str
    judge: Callable[[pd.DataFrame, ExperimentConfig], Judgement]  # from the table of the experiment, not empty


_CELLS = (
    "Holds if it has the higher mean in at least three quarters of the cells (network × d × measure) against every "
    "baseline, in part if in more than half of the cells against at least half of the baselines."
)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "a",
        "With the published block models, 16 features beat all features by more than 11 points of ACC on BlogCatalog.",
        "Holds if BMGUFS*, which sees no labels, gains more than 11 points; in part if BMGUFSˢ alone, whose candidate "
        "and sparsity the labels chose, does.",
        "effectiveness",
        few_beat_all,
    ),
    Claim(
        "b*", "BMGUFS*, without labels, beats each baseline.", _CELLS, "effectiveness", partial(beats_each, ours=LOWEST)
    ),
    Claim(
        "bˢ",
        "BMGUFSˢ, chosen by labels that no baseline sees, beats each baseline.",
        _CELLS,
        "effectiveness",
        partial(beats_each, ours=SUPERVISED),
    ),
    Claim(
        "c",
        "Small perturbations of the blocks change r little.",
        "A median cosine distance is small if it is at most 0.05 and at most half of the median distance between r of "
        "different candidates; holds if it is so for every network, share of nodes and kind of densities, in part if "
        "for at least half of them.",
        "perturbation",
        small_changes_matter_little,
    ),
    Claim(
        "d",
        "Candidates differ notably, and the one of lowest error is competitive.",
        "Holds if in more than half of the cells (network × d × measure) the best and the worst candidate differ by at "
        "least 5 points, and in more than half the one of lowest error reaches the median; in part if one of the two.",
        "block-models",
        candidates_differ,
    ),
    Claim(
        "e",
        "The accuracy of the blocks themselves does not predict the quality of the features.",
        "It predicts in a network if the median over cells (d × measure) of Spearman's ρ over candidates is at least "
        "0.5; the claim holds if it predicts in no network, in part if in some but not all.",
        "block-models",
        blocks_do_not_predict,
    ),
    Claim(
        "f",
        "There is a cliff near β̄ = 0.5, and quality is stable from 0.6.",
        "Two checks for each surface, on means over the sparsities that leave enough features: the largest step "
        "between neighbouring β̄ lies within 0.4 to 0.6 with a rise of at least 5 points across, and the range from 0.6 "
        "is at most 5 points; holds if all pass, in part if at least half.",
        "parameters",
        cliff_then_stable,
    ),
    Claim(
        "g",
        "γ matters little while nnz(r) ≥ d.",
        "A cell (network × measure × β̄) passes if ACC or NMI ranges over at most 5 points among the sparsities that "
        "leave enough features; holds if at least nine tenths pass, in part if at least half.",
        "parameters",
        sparsity_matters_little,
    ),
    Claim(
        "h",
        "For β̄ ≥ 0.6 both losses fall monotonically and settle within 200 iterations.",
        "A curve falls if it never lies more than 1 % of its range above a value that it had before, and settles if "
        "its last tenth moves by at most 1 % of its range; holds if every curve of L_m and L_b + L_m does both, in "
        "part if at least half of these checks pass.",
        "convergence",
        losses_fall_and_settle,
    ),
    Claim(
        "i",
        "Not of the paper: its published gradient, which is not the derivative of its loss, selects about the same.",
        "Two checks over networks × candidates × d: the median overlap of the selections by both gradients is at least "
        "90 %, and the median change of ACC is at most 2 points; holds if both pass, in part if one.",
        "block-models",
        published_gradient_changes_little,
    ),
)


def judge_claims(rows: Mapping[str, list[Row]], config: ExperimentConfig) -> dict[str, Judgement]:
    """Judge every claim; the judgements are keyed by the letters of the claims.

    Parameters
    ----------
    rows : mapping
        All rows of each experiment that was run; claims about other experiments are not measured.
    config : ExperimentConfig
        The configuration that made the rows.
    """
    tables = {name: results(name, of_experiment) for name, of_experiment in rows.items()}
    return {claim.letter: _judge(claim, tables.get(claim.experiment), config) for claim in CLAIMS}


def _judge(claim: Claim, table: pd.DataFrame | None, config: ExperimentConfig) -> Judgement:
    if table is None:
        return unmeasured(f"the experiment {claim.experiment} was not run.")
    if table.empty:
        return unmeasured("every trial of the experiment failed.")
    return claim.judge(table, config)
