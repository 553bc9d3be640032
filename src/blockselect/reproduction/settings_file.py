"""Settings from a TOML file: each is checked, none is missing and none is unknown."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[Any], Any]  # a value from a file → the value as it is kept, or ValueError


def whole(lowest: int, highest: int | None = None) -> Check:
    def check(value: Any) -> int:
        too_high = isinstance(value, int) and highest is not None and value > highest
        if not isinstance(value, int) or isinstance(value, bool) or value < lowest or too_high:
            raise ValueError(f"expected a whole number from {lowest}{'' if highest is None else f' to {highest}'}.")
        return value

    return check


def number(lowest: float, highest: float = float("inf")) -> Check:
    def check(value: Any) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not lowest <= value <= highest:
            raise ValueError(f"expected a number from {lowest:g} to {highest:g}.")
        if value > sys.float_info.max:  # a whole number of TOML may be as long as it likes
            raise ValueError("expected a finite number.")
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


def read_toml(name_or_path: str, package: str) -> dict[str, Any]:
    """The settings of a file: of the package's folder `configs` by name, or of one's own by its path."""
    path = Path(name_or_path)
    found = path if path.suffix == ".toml" else resources.files(package) / "configs" / f"{name_or_path}.toml"
    if not found.is_file() and (found is not path or path.exists()):  # a pipe is no file, and what is missing says so
        raise ValueError(f"no configuration {name_or_path!r}; expected 'paper', 'quick' or a .toml file.")
    try:
        return tomllib.loads(found.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name_or_path} is not TOML ({error}); correct it, beginning from paper.toml.") from error


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
