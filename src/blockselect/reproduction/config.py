"""ExperimentConfig: everything that the numbers of a reproduction depend on, read from a TOML file."""

from __future__ import annotations

import ast
import hashlib
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

import blockselect
from blockselect.bmgufs.losses import Gradient
from blockselect.datasets.catalogue import find_dataset
from blockselect.errors import ParameterError
from blockselect.parameters import check_real, check_seed, check_whole
from blockselect.registry import find_method

Check: TypeAlias = Callable[[str, Any], Any]  # the name and the value of a setting → the converted value

PUBLISHED_VARIABLE = "BLOCKSELECT_GOLDEN"
PUBLISHED_FILES = {"blogcatalog": "blogcatalog_block_models.npz"}  # block models published with the paper

NOT_DECIDING = ("cli", "report", "plot", "reproduction/claims")
"""Folders whose code only reads rows or writes files."""


@dataclass(frozen=True, slots=True)
class ExperimentConfig:
    """Settings of every experiment. The configurations `paper` and `quick` are in `reproduction/configs`."""

    seed: int
    datasets: tuple[str, ...]
    tops: tuple[int, ...]  # numbers of features to keep (paper: d)
    methods: tuple[str, ...]  # baselines, by their names in SELECTORS
    kmeans_runs: int
    kmeans_init: int
    n_candidates: int  # block models per network
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
        """Everything that rows depend on besides their trials. A store holds rows of one set of marks."""
        return {
            **asdict(self),
            "published block models": [name for name in self.networks if published_block_models(name) is not None],
            "version": blockselect.__version__,
            "code": code_hash(),
        }


def published_block_models(name: str) -> Path | None:
    """The file of the block models published with the paper, if the folder BLOCKSELECT_GOLDEN has it."""
    folder = os.environ.get(PUBLISHED_VARIABLE)
    path = Path(folder, PUBLISHED_FILES[name]) if folder and name in PUBLISHED_FILES else None
    return path if path is not None and path.is_file() else None


def whole(least: int, most: int | None = None) -> Check:
    return lambda name, value: check_whole(name, value, least, most)


def number(low: float, high: float = float("inf")) -> Check:
    return lambda name, value: check_real(name, value, low, high)


def numbers(check: Check) -> Check:
    """A list of numbers, converted to a sorted tuple without duplicates."""

    def check_all(name: str, values: Any) -> tuple[Any, ...]:
        if not isinstance(values, list) or not values:
            raise ParameterError(name, f"is {values!r}; expected a list of at least one number.")
        return tuple(sorted({check(name, value) for value in values}))

    return check_all


def names(find: Callable[[str], object], *, at_least: int = 0) -> Check:
    """A list of names, each of which `find` must know."""

    def check(name: str, values: Any) -> tuple[str, ...]:
        if not isinstance(values, list) or len(values) < at_least or not all(isinstance(v, str) for v in values):
            raise ParameterError(name, f"is {values!r}; expected a list of at least {at_least} names.")
        for value in values:
            find(value)
        return tuple(dict.fromkeys(values))

    return check


def _gradient(name: str, value: Any) -> str:
    if value not in ("paper", "exact"):
        raise ParameterError(name, f"is {value!r}; expected 'paper' or 'exact'.")
    return str(value)


CHECKS: dict[str, Check] = {
    "seed": check_seed,
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
    """Read a configuration of the package by its name, or a TOML file by its path.

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
        available = find_dataset(name).counts.features
        if top > available:
            raise ValueError(
                f"{name_or_path}: {setting} is {top} but {name} has {available} features; choose a smaller number."
            )
    return config


def read_toml(name_or_path: str, package: str) -> dict[str, Any]:
    """The settings in a TOML file: a path that ends in .toml, or a name in the folder `configs` of the package."""
    path = Path(name_or_path)
    found = path if path.suffix == ".toml" else resources.files(package) / "configs" / f"{name_or_path}.toml"
    if not found.is_file() and (found is not path or path.exists()):  # reading reports a missing file of the user's
        raise ValueError(f"no configuration {name_or_path!r}; expected 'paper', 'quick' or a .toml file.")
    try:
        return tomllib.loads(found.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name_or_path} is not TOML ({error}); correct it, starting from paper.toml.") from error


def check_settings(values: Mapping[str, Any], checks: Mapping[str, Check], origin: str) -> dict[str, Any]:
    """Check and convert the settings; none may be missing or unknown."""
    missing, unknown = [name for name in checks if name not in values], sorted(values.keys() - checks.keys())
    if missing or unknown:
        raise ValueError(
            f"{origin}: missing settings {missing}, unknown settings {unknown}; a configuration has every setting of "
            "paper.toml and no other."
        )
    try:
        return {name: check(name, values[name]) for name, check in checks.items()}
    except ValueError as error:
        raise ValueError(f"{origin}: {error}") from error


@cache
def code_hash(root: Path = Path(blockselect.__file__).parent) -> str:
    """Hash of all code that rows may depend on, so that a change is detected even within the same version.

    Comments, docstrings and layout do not count.
    """
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(tuple(f"{folder}/" for folder in NOT_DECIDING)):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(body := getattr(node, "body", None), list):
                    node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
            digest.update(f"{name}\0{ast.dump(tree)}\0".encode())
    return digest.hexdigest()[:16]


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
