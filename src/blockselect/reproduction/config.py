"""ExperimentConfig: all that the numbers of a reproduction depend on, read from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from blockselect.bmgufs.losses import Gradient
from blockselect.datasets.catalogue import find_dataset
from blockselect.registry import find_method


@dataclass(frozen=True, slots=True)
class ExperimentConfig:
    """Settings of every experiment; `paper` and `quick` lie in `experiments/configs`."""

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


Check: TypeAlias = Callable[[Any], Any]  # a value from a file → the value as it is kept, or ValueError


def whole(lowest: int) -> Check:
    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
            raise ValueError(f"expected a whole number from {lowest}.")
        return value

    return check


def number(lowest: float, highest: float = float("inf")) -> Check:
    def check(value: Any) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not lowest <= value <= highest:
            raise ValueError(f"expected a number from {lowest:g} to {highest:g}.")
        return float(value)

    return check


def numbers(check: Check) -> Check:
    def check_all(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list) or not values:
            raise ValueError("expected a list of at least one number.")
        return tuple(sorted({check(value) for value in values}))

    return check_all


def names(find: Callable[[str], object], *, at_least: int = 0) -> Check:
    def check(values: Any) -> tuple[str, ...]:
        if not isinstance(values, list) or len(values) < at_least or not all(isinstance(v, str) for v in values):
            raise ValueError(f"expected a list of at least {at_least} names.")
        for name in values:
            find(name)
        return tuple(dict.fromkeys(values))

    return check


def _gradient(value: Any) -> str:
    if value not in ("paper", "exact"):
        raise ValueError("expected 'paper' or 'exact'.")
    return str(value)


CHECKS: dict[str, Check] = {
    "seed": whole(0),
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
    return ExperimentConfig(**check_settings(read_toml(name_or_path, "blockselect.reproduction"), CHECKS, name_or_path))


def read_toml(name_or_path: str, package: str) -> dict[str, Any]:
    """The settings of a file: of the package's folder `configs` by name, or of one's own by its path."""
    path = Path(name_or_path)
    if path.suffix == ".toml":
        content = path.read_text(encoding="utf-8")
    else:
        found = resources.files(package) / "configs" / f"{name_or_path}.toml"
        if not found.is_file():
            raise ValueError(f"no configuration {name_or_path!r}; expected 'paper', 'quick' or a .toml file.")
        content = found.read_text(encoding="utf-8")
    try:
        return tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name_or_path} is not TOML: {error}") from error


def check_settings(values: Mapping[str, Any], checks: Mapping[str, Check], origin: str) -> dict[str, Any]:
    """Every setting that is to be checked, as it is kept, and no other."""
    missing, unknown = [name for name in checks if name not in values], sorted(values.keys() - checks.keys())
    if missing or unknown:
        raise ValueError(
            f"{origin}: missing settings {missing}, unknown settings {unknown}; a configuration has every setting of "
            "paper.toml and no other."
        )
    kept = {}
    for name, check in checks.items():
        try:
            kept[name] = check(values[name])
        except ValueError as error:
            raise ValueError(f"{origin}: {name} is {values[name]!r}; {error}") from error
    return kept
