"""ExperimentConfig: everything that the numbers of a reproduction depend on, read from a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from blockselect import __version__
from blockselect.bmgufs.losses import Gradient
from blockselect.datasets.catalogue import find_dataset
from blockselect.registry import find_method
from blockselect.reproduction.code_hash import code_hash
from blockselect.reproduction.network_data import published_block_models
from blockselect.reproduction.settings_file import Check, check_settings, names, number, numbers, read_toml, whole


@dataclass(frozen=True, slots=True)
class ExperimentConfig:
    """Settings of every experiment; `paper` and `quick` are in `reproduction/configs`."""

    seed: int
    datasets: tuple[str, ...]
    tops: tuple[int, ...]  # numbers of features to keep (paper: d)
    methods: tuple[str, ...]  # baselines, by their names in SELECTORS
    kmeans_runs: int
    kmeans_init: int
    n_candidates: int  # block models of each network
    profile_ratio: float  # (paper: β̄)
    max_iter: int
    gradient: Gradient
    sparsities: tuple[float, ...]  # grid (paper: γ)
    surface_datasets: tuple[str, ...]  # networks of the parameter study
    surface_ratios: tuple[float, ...]
    surface_top: int
    perturbed_shares: tuple[float, ...]
    perturbation_repeats: int
    convergence_ratios: tuple[float, ...]
    convergence_sparsity: float

    @property
    def networks(self) -> tuple[str, ...]:
        """Every network that any experiment reads."""
        return tuple(dict.fromkeys((*self.datasets, *self.surface_datasets)))

    @property
    def marks(self) -> dict[str, Any]:
        """All that rows depend on besides their trials: a store is for these alone."""
        published = [name for name in self.networks if published_block_models(name) is not None]
        return {
            **asdict(self),
            "published block models": published,
            "version": __version__,
            "code": code_hash(),
        }


def _gradient(value: Any) -> str:
    if value not in ("paper", "exact"):
        raise ValueError("expected 'paper' or 'exact'.")
    return str(value)


CHECKS: dict[str, Check] = {
    "seed": whole(0, 2**32 - 1),
    "datasets": names(find_dataset, at_least=1),
    "tops": numbers(whole(1)),
    "methods": names(find_method),
    "kmeans_runs": whole(1),
    "kmeans_init": whole(1),
    "n_candidates": whole(1),
    "profile_ratio": number(0, 1),
    "max_iter": whole(1),
    "gradient": _gradient,
    "sparsities": numbers(number(0)),
    "surface_datasets": names(find_dataset, at_least=1),
    "surface_ratios": numbers(number(0, 1)),
    "surface_top": whole(1),
    "perturbed_shares": numbers(number(0, 1)),
    "perturbation_repeats": whole(1),
    "convergence_ratios": numbers(number(0, 1)),
    "convergence_sparsity": number(0),
}


def read_config(name_or_path: str) -> ExperimentConfig:
    """A configuration of the package by name, or a TOML file of one's own.

    Raises
    ------
    ValueError
        With the file, the setting and what was expected of it.
    """
    config = ExperimentConfig(
        **check_settings(read_toml(name_or_path, "blockselect.reproduction"), CHECKS, name_or_path)
    )
    for name in config.datasets:
        _check_top("tops", config.tops[0], name, name_or_path)
    for name in config.surface_datasets:
        _check_top("surface_top", config.surface_top, name, name_or_path)
    return config


def _check_top(setting: str, top: int, dataset: str, origin: str) -> None:
    there_are = find_dataset(dataset).counts.features
    if top > there_are:
        raise ValueError(f"{origin}: {setting} is {top} but {dataset} has {there_are} features; ask for fewer.")
