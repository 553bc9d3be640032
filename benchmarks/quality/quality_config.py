"""QualityConfig: the networks, rivals, variants and seeds of a measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.quality.regimes import REGIMES, PlantedSizes, find_regime
from benchmarks.quality.variants import DEFAULT, VARIANTS, find_variant
from blockselect import __version__
from blockselect.registry import SELECTORS, find_method
from blockselect.reproduction.config import (
    CHECKS,
    Check,
    ExperimentConfig,
    check_settings,
    names,
    numbers,
    published_block_models,
    read_toml,
    whole,
)
from blockselect.utils.errors import ParameterError

OURS = "block-model"  # the name of BlockModelSelector in the registry
RIVALS = tuple(name for name in SELECTORS if name != OURS)


@dataclass(frozen=True, slots=True)
class QualityConfig:
    """The settings of a measurement. The folder `configs` contains `paper` and `quick`."""

    protocol: ExperimentConfig  # networks, numbers of features, K-means and the paper's grid, as in the reproduction
    candidate_seeds: tuple[int, ...]  # seeds of the selectors
    methods: tuple[str, ...]  # rivals, by their names in SELECTORS
    variants: tuple[str, ...]  # names in VARIANTS, including the default
    regimes: tuple[str, ...]  # names in REGIMES
    planted_seeds: int  # number of networks per regime
    planted: PlantedSizes

    @property
    def marks(self) -> dict[str, Any]:
        """Everything that determines rows besides their trials, which specify method, variant, network and seed."""
        protocol = {
            name: value for name, value in asdict(self.protocol).items() if name not in ("datasets", "surface_datasets")
        }
        published = [name for name in self.protocol.datasets if published_block_models(name) is not None]
        return {**protocol, **asdict(self.planted), "published block models": published, "version": __version__}


def read_quality_config(name_or_path: str) -> QualityConfig:
    """Read a configuration by its name, or a TOML file by its path.

    Raises
    ------
    ValueError
        The message names the file, the setting and the expected values.
    """
    values = read_toml(name_or_path, "benchmarks.quality")
    return QualityConfig(**check_settings(values, _CHECKS, name_or_path))


def with_variants(config: QualityConfig, wanted: Sequence[str]) -> QualityConfig:
    """The same configuration with only these variants and the default."""
    for name in wanted:
        find_variant(name)
    return replace(config, variants=tuple(name for name in VARIANTS if name in wanted or name == DEFAULT))


def _all_or_names(every: Sequence[str], find: Callable[[str], object]) -> Check:
    def check(name: str, values: Any) -> tuple[str, ...]:
        return tuple(every) if values == "all" else tuple(names(find, at_least=1)(name, values))

    return check


def _protocol(name: str, values: Any) -> ExperimentConfig:
    """A configuration of the reproduction with some settings changed."""
    if not isinstance(values, dict) or not isinstance(values.get("base"), str):
        raise ParameterError(
            name, f"is {values!r}; expected a table with a base, the name of a configuration of the reproduction."
        )
    base = values["base"]
    changed = {name: value for name, value in values.items() if name != "base"}
    settings = check_settings({**read_toml(base, "blockselect.reproduction"), **changed}, CHECKS, base)
    return ExperimentConfig(**{**settings, "surface_datasets": settings["datasets"]})


def _planted(name: str, values: Any) -> PlantedSizes:
    if not isinstance(values, dict):
        raise ParameterError(name, f"is {values!r}; expected a table of sizes.")
    lowest = {"n_nodes": 8, "n_blocks": 2, "n_informative": 1, "n_redundant": 0, "n_noise": 0, "n_decoys": 0}
    return PlantedSizes(**check_settings(values, {name: whole(least) for name, least in lowest.items()}, "planted"))


def _rival(name: str) -> object:
    if name == OURS:
        raise ValueError(f"{OURS!r} is the method to evaluate; choose other methods as rivals.")
    return find_method(name)


_CHECKS: dict[str, Check] = {
    "protocol": _protocol,
    "candidate_seeds": numbers(whole(0)),
    "methods": _all_or_names(RIVALS, _rival),
    "variants": _all_or_names(list(VARIANTS), find_variant),
    "regimes": _all_or_names(list(REGIMES), find_regime),
    "planted_seeds": whole(2),
    "planted": _planted,
}
