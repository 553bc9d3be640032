"""ExperimentConfig: all settings of a reproduction, read from a TOML file."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

from blockselect import __version__
from blockselect.bmgufs.losses import Gradient
from blockselect.datasets.catalogue import find_dataset
from blockselect.registry import find_method
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_real, check_seed, check_whole

Check: TypeAlias = Callable[[str, Any], Any]  # from the name and value of a setting to its converted value

PUBLISHED_VARIABLE = "BLOCKSELECT_GOLDEN"
PUBLISHED_FILES = {"blogcatalog": "blogcatalog_block_models.npz"}  # block models published with the paper


def whole(least: int) -> Check:
    return lambda name, value: check_whole(name, value, least)


def number(low: float, high: float = float("inf")) -> Check:
    return lambda name, value: check_real(name, value, low, high)


def numbers(check: Check) -> Check:
    """A list of numbers, converted to a sorted tuple without duplicates."""
    return lambda name, values: tuple(sorted({check(name, value) for value in _listed(name, values, 1)}))


def names(find: Callable[[str], object], *, at_least: int = 0) -> Check:
    """A list of names, converted to a tuple without duplicates; `find` raises an error for an unknown name."""

    def check(name: str, values: Any) -> tuple[str, ...]:
        for value in _listed(name, values, at_least):
            find(value)
        return tuple(dict.fromkeys(values))

    return check


def _listed(name: str, values: Any, at_least: int) -> list[Any]:
    if not isinstance(values, list) or len(values) < at_least:
        raise ParameterError(name, f"is {values!r}; expected a list of at least {at_least} value(s).")
    return values


def _gradient(name: str, value: Any) -> Any:
    if value not in ("paper", "exact"):
        raise ParameterError(name, f"is {value!r}; expected 'paper' or 'exact'.")
    return value


Count: TypeAlias = Annotated[int, whole(1)]
Share: TypeAlias = Annotated[float, number(0, 1)]
Shares: TypeAlias = Annotated[tuple[float, ...], numbers(number(0, 1))]
Datasets: TypeAlias = Annotated[tuple[str, ...], names(find_dataset, at_least=1)]


@dataclass(frozen=True, slots=True)
class ExperimentConfig:
    """The settings of all experiments, each annotated with its check; `configs` contains `paper` and `quick`."""

    seed: Annotated[int, check_seed]
    datasets: Datasets
    tops: Annotated[tuple[int, ...], numbers(whole(1))]  # numbers of features to keep (paper: d)
    methods: Annotated[tuple[str, ...], names(find_method)]  # baselines, by their names in SELECTORS
    kmeans_runs: Count
    kmeans_init: Count
    n_candidates: Count  # block models per network
    profile_ratio: Share  # (paper: β̄)
    max_iter: Count
    gradient: Annotated[Gradient, _gradient]
    sparsities: Annotated[tuple[float, ...], numbers(number(0))]  # grid (paper: γ)
    surface_datasets: Datasets  # networks used in the parameter study
    surface_ratios: Shares
    surface_top: Count
    perturbed_shares: Shares
    perturbation_repeats: Count
    convergence_ratios: Shares
    convergence_sparsity: Annotated[float, number(0)]

    @property
    def networks(self) -> tuple[str, ...]:
        """Every network that any experiment reads."""
        return tuple(dict.fromkeys((*self.datasets, *self.surface_datasets)))

    @property
    def marks(self) -> dict[str, Any]:
        """Everything besides the trial that determines its rows. All rows of a store have the same marks."""
        return {
            **asdict(self),
            "published block models": [name for name in self.networks if published_block_models(name) is not None],
            "version": __version__,
        }


CHECKS: dict[str, Check] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(ExperimentConfig, include_extras=True).items()
}


def published_block_models(name: str) -> Path | None:
    """Path of the block models published with the paper, if the folder BLOCKSELECT_GOLDEN contains them."""
    folder = os.environ.get(PUBLISHED_VARIABLE)
    path = Path(folder, PUBLISHED_FILES[name]) if folder and name in PUBLISHED_FILES else None
    return path if path is not None and path.is_file() else None


def read_config(name_or_path: str) -> ExperimentConfig:
    """Read a configuration that comes with the package, by its name, or a TOML file, by its path.

    Raises
    ------
    ValueError
        The message names the file, the setting and the expected values.
    """
    values = read_toml(name_or_path, "blockselect.reproduction")
    config = ExperimentConfig(**check_settings(values, CHECKS, name_or_path))
    wanted = [("tops", config.tops[0], name) for name in config.datasets]
    wanted += [("surface_top", config.surface_top, name) for name in config.surface_datasets]
    for setting, top, name in wanted:
        if top > (available := find_dataset(name).counts.features):
            raise ValueError(
                f"{name_or_path}: {setting} is {top} but {name} has {available} features; choose a smaller number."
            )
    return config


def read_toml(name_or_path: str, package: str) -> dict[str, Any]:
    """The settings in a TOML file: a path that ends in .toml, or a name in the folder `configs` of the package."""
    path = Path(name_or_path)
    found = path if path.suffix == ".toml" else resources.files(package) / "configs" / f"{name_or_path}.toml"
    if not found.is_file() and (found is not path or path.exists()):  # read_text below reports a missing .toml file
        raise ValueError(f"no configuration {name_or_path!r}; expected 'paper', 'quick' or a .toml file.")
    try:
        return tomllib.loads(found.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{name_or_path} is not valid TOML ({error}); correct it, or start from a copy of paper.toml."
        ) from error


def check_settings(values: Mapping[str, Any], checks: Mapping[str, Check], origin: str) -> dict[str, Any]:
    """Check and convert the settings; none may be missing or unknown."""
    missing, unknown = [name for name in checks if name not in values], sorted(values.keys() - checks.keys())
    if missing or unknown:
        raise ValueError(
            f"{origin}: missing settings {missing}, unknown settings {unknown}; a configuration must have exactly "
            "the settings of paper.toml."
        )
    try:
        return {name: check(name, values[name]) for name, check in checks.items()}
    except ValueError as error:
        raise ValueError(f"{origin}: {error}") from error
