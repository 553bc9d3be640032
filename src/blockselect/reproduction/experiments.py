"""The experiments of the paper: the trials of each, and the table made from their rows.

BMGUFS* uses no labels: it takes the candidate with the lowest error and the strongest sparsity that leaves enough
features. BMGUFSˢ takes the candidate and the sparsity with the highest accuracy; like the paper, it therefore uses the
classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import pandas as pd

from blockselect.blockmodels.model import BlockModel
from blockselect.datasets.catalogue import NetworkCounts
from blockselect.evaluation.metrics import clustering_accuracy, normalized_mutual_information
from blockselect.registry import make_selector
from blockselect.reproduction.config import ExperimentConfig
from blockselect.reproduction.engine import Trial
from blockselect.reproduction.networks import classes, n_classes, network, network_trial, solve
from blockselect.reproduction.selections import (
    MEASURES,
    clustering_trials,
    good_rows,
    ranked_features,
    selection_row,
)
from blockselect.reproduction.store import Row
from blockselect.utils.arrays import FloatArray

LOWEST, SUPERVISED, ALL = "BMGUFS*", "BMGUFSˢ (sees labels)", "all features"
GRID = "bmgufs-grid"  # all candidates and sparsities of BMGUFS; BMGUFS* and BMGUFSˢ are chosen from them
KEPT, RECOMPUTED, OTHER = "kept", "recomputed", "other candidate"  # densities of perturbed block models


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of the paper."""

    title: str
    trials: Callable[[ExperimentConfig, list[Row]], list[Trial]]  # from the configuration and the rows so far
    table: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table  # computed from the rows that did not fail


def results(experiment: str, rows: list[Row]) -> pd.DataFrame:
    """The table of an experiment, from its rows and those of its clusterings; empty if every trial failed."""
    table = good_rows(rows, experiment)
    return table if table.empty else EXPERIMENTS[experiment].table(table)


def dataset_trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    return [Trial("datasets", {"dataset": name}, partial(count_network, name)) for name in config.networks]


def count_network(name: str) -> list[Row]:
    graph = network(name)
    return [{**asdict(NetworkCounts.of(graph)), "self_loops": graph.n_self_loops, "isolated": graph.n_isolated}]


def effectiveness_trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    """Does BMGUFS select better features than the baselines?"""
    found = []
    for name in config.datasets:
        found.append(network_trial("effectiveness", name, rank_candidates, config, method=GRID))
        for method in config.methods:
            run = partial(rank_by_method, name, method, config)
            found.append(Trial("effectiveness", {"dataset": name, "method": method}, run))
        found.append(Trial("effectiveness", {"dataset": name, "method": ALL}, partial(take_all, name)))
    return found + clustering_trials(rows, config)


def rank_candidates(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Rank the features with every candidate and every sparsity, in one descent."""
    scores = solve(name, models, config, sparsity=list(config.sparsities)).scores
    return [
        selection_row(
            ranked_features(scores[i, j]), top, candidate=i, relative_error=model.relative_error, sparsity=sparsity
        )
        for i, model in enumerate(models)
        for j, sparsity in enumerate(config.sparsities)
        for top in feasible_tops(name, config)
    ]


def rank_by_method(name: str, method: str, config: ExperimentConfig) -> list[Row]:
    tops = feasible_tops(name, config)
    selector = make_selector(method, max(tops), n_blocks=n_classes(name), random_state=config.seed)
    selector.fit(network(name).features, adjacency=network(name).adjacency)
    ranked = np.argsort(selector.ranking_)[: selector.n_features_]
    return [selection_row(ranked, top) for top in tops]


def take_all(name: str) -> list[Row]:
    n_features = network(name).n_features
    return [selection_row(np.arange(n_features), n_features)]


def feasible_tops(name: str, config: ExperimentConfig) -> list[int]:
    """The numbers of features to keep, up to the number of features of the network."""
    return [top for top in config.tops if top <= network(name).n_features]


def effectiveness_table(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of all features (repeated for every d), the baselines, the grid, BMGUFS* and BMGUFSˢ."""
    table = with_selection(table).drop(columns=["error", "warning"])
    is_all, grid = table["method"] == ALL, table[table["method"] == GRID]
    cells = table.loc[~is_all, ["dataset", "top"]].drop_duplicates()
    parts = [table[is_all].drop(columns="top").merge(cells, on="dataset"), table[~is_all]]
    if len(grid):  # all of its trials may have failed
        parts += [lowest_error_rows(grid), best_rows(grid)]
    return pd.concat([part for part in parts if len(part)], ignore_index=True) if len(table) else table


def lowest_error_rows(grid: pd.DataFrame) -> pd.DataFrame:
    """BMGUFS*: the candidate with the lowest error and the strongest sparsity that leaves enough features."""
    ours = grid[grid["candidate"] == 0].sort_values("sparsity", kind="stable")
    return ours.groupby(["dataset", "top"]).tail(1).assign(method=LOWEST)


def best_rows(grid: pd.DataFrame) -> pd.DataFrame:
    """BMGUFSˢ: the candidate and the sparsity with the highest accuracy, chosen with the labels."""
    ordered = grid.sort_values(["accuracy", "candidate", "sparsity"], ascending=[False, True, True], kind="stable")
    return ordered.groupby(["dataset", "top"]).head(1).assign(method=SUPERVISED)


def with_selection(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose settings left enough features for a selection."""
    return table[table["selection"].notna()]


def perturbation_trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    """Do small changes of the blocks change the scores?"""
    return [network_trial("perturbation", name, compare_perturbed, config) for name in config.datasets]


def compare_perturbed(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Compare the lowest-error model with its perturbations and with the other candidates, in one descent."""
    adjacency = network(name).adjacency
    rng = np.random.default_rng([config.seed, 1])
    guide, others = models[0], models[1:]
    kinds: list[Row] = [
        {"share": share, "densities": densities, "repeat": repeat}
        for share in config.perturbed_shares
        for densities in (KEPT, RECOMPUTED)
        for repeat in range(config.perturbation_repeats)
    ]
    perturbed = [
        guide.perturb(adjacency, kind["share"], keep_density=kind["densities"] == KEPT, rng=rng) for kind in kinds
    ]
    kinds += [{"share": None, "densities": OTHER, "repeat": candidate} for candidate in range(len(others))]
    scores = solve(name, [guide, *perturbed, *others], config).scores[:, 0]
    distances = cosine_distances(scores[0], scores[1:])
    return [{**kind, "distance": float(distance)} for kind, distance in zip(kinds, distances, strict=True)]


def cosine_distances(one: FloatArray, others: FloatArray) -> FloatArray:
    """Cosine distance between one vector (m,) and each of the others (b, m).

    It is computed as half the squared distance of unit vectors, which is accurate for small angles.
    """
    units = others / np.linalg.norm(others, axis=1, keepdims=True)
    return np.asarray(np.sum((units - one / np.linalg.norm(one)) ** 2, axis=1) / 2)


def block_model_trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    """Do good blocks give good features?"""
    solves = [network_trial("block-models", name, rank_by_gradients, config) for name in config.datasets]
    return solves + clustering_trials(rows, config)


def rank_by_gradients(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Rank the features with every candidate, without a sparsity penalty, in one descent per gradient."""
    known = classes(name)
    figures = [
        {
            "candidate": i,
            "relative_error": model.relative_error,
            "blocks_accuracy": clustering_accuracy(known, model.labels),
            "blocks_nmi": normalized_mutual_information(known, model.labels),
        }
        for i, model in enumerate(models)
    ]
    rows = []
    for gradient in ("paper", "exact"):
        scores = solve(name, models, config, gradient=gradient).scores[:, 0]
        rows += [
            selection_row(ranked_features(of_model), top, gradient=gradient, **of_candidate)
            for of_model, of_candidate in zip(scores, figures, strict=True)
            for top in feasible_tops(name, config)
        ]
    return rows


def parameter_trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    """How much do β̄ and γ matter?"""
    solves = [network_trial("parameters", name, rank_by_settings, config) for name in config.surface_datasets]
    return solves + clustering_trials(rows, config)


def rank_by_settings(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Rank the features with the lowest-error model and every pair of settings, in one descent."""
    pairs = [(ratio, sparsity) for ratio in config.surface_ratios for sparsity in config.sparsities]
    ratios, sparsities = map(list, zip(*pairs, strict=True))
    scores = solve(name, models[:1], config, profile_ratio=ratios, sparsity=sparsities).scores[0]
    return [
        selection_row(ranked_features(of_pair), config.surface_top, profile_ratio=ratio, sparsity=sparsity)
        for of_pair, (ratio, sparsity) in zip(scores, pairs, strict=True)
    ]


def parameter_table(table: pd.DataFrame) -> pd.DataFrame:
    """The grid, with zero for settings that leave too few features, as in the paper; `enough` marks the rest."""
    enough = table["selection"].notna()
    return table.assign(enough=enough, **{measure: table[measure].where(enough, 0.0) for measure in MEASURES})


def convergence_trials(config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
    """Does the descent converge?"""
    return [network_trial("convergence", name, record_losses, config) for name in config.datasets]


def record_losses(name: str, models: list[BlockModel], config: ExperimentConfig) -> list[Row]:
    """Record the losses of the lowest-error model for every ratio, in one descent per gradient."""
    ratios, sparsity = list(config.convergence_ratios), config.convergence_sparsity
    rows = []
    for gradient in ("paper", "exact"):
        result = solve(name, models[:1], config, profile_ratio=ratios, sparsity=sparsity, gradient=gradient)
        rows += [
            {
                "gradient": gradient,
                "profile_ratio": ratio,
                "iteration": iteration,
                "reconstruction_loss": float(result.reconstruction_loss[0, i, iteration]),
                "profile_loss": float(result.profile_loss[0, i, iteration]),
            }
            for i, ratio in enumerate(ratios)
            for iteration in range(config.max_iter + 1)
        ]
    return rows


def convergence_table(table: pd.DataFrame) -> pd.DataFrame:
    """Both losses and their sum by iteration."""
    return table.assign(both_losses=table["reconstruction_loss"] + table["profile_loss"])


EXPERIMENTS: dict[str, Experiment] = {
    "datasets": Experiment("The networks", dataset_trials),
    "effectiveness": Experiment("ACC and NMI by number of features", effectiveness_trials, effectiveness_table),
    "perturbation": Experiment("Change in the scores when nodes are reassigned at random", perturbation_trials),
    "block-models": Experiment("Features of each candidate block model", block_model_trials, with_selection),
    "parameters": Experiment("Quality by profile ratio and sparsity", parameter_trials, parameter_table),
    "convergence": Experiment("Losses by iteration", convergence_trials, convergence_table),
}
"""All experiments by name, in the order of the paper."""
