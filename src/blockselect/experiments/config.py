"""ExperimentConfig: all that the numbers of a reproduction depend on, read from a file."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any


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
    gradient: str  # "paper" or "exact"
    sparsities: tuple[float, ...]  # grid (paper: γ)
    surface_datasets: tuple[str, ...]  # networks of the parameter study
    surface_ratios: tuple[float, ...]
    surface_top: int
    perturbed_shares: tuple[float, ...]
    perturbation_repeats: int
    convergence_ratios: tuple[float, ...]
    convergence_sparsity: float

    @property
    def text(self) -> str:
        """The same for the same settings: what a store is marked with."""
        return json.dumps(asdict(self), sort_keys=True)


def read_config(name_or_path: str) -> ExperimentConfig:
    """A configuration of the package by name, or a TOML file of one's own."""
    path = Path(name_or_path)
    if path.suffix == ".toml":
        content, origin = path.read_text(encoding="utf-8"), str(path)
    else:
        found = resources.files("blockselect.experiments") / "configs" / f"{name_or_path}.toml"
        if not found.is_file():
            raise ValueError(f"no configuration {name_or_path!r}; expected 'paper', 'quick' or a .toml file.")
        content, origin = found.read_text(encoding="utf-8"), name_or_path
    try:
        values = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{origin} is not TOML: {error}") from error
    return _checked(values, origin)


def _checked(values: dict[str, Any], origin: str) -> ExperimentConfig:
    expected = {field.name for field in fields(ExperimentConfig)}
    missing, unknown = expected - values.keys(), values.keys() - expected
    if missing or unknown:
        raise ValueError(
            f"{origin}: missing settings {sorted(missing)}, unknown settings {sorted(unknown)}; a configuration has every "
            "setting of experiments/configs/paper.toml and no other."
        )
    return ExperimentConfig(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})
