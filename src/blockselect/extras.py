"""Packages that only some users need: imported when used, and a missing one is named with the extra that brings it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_EXTRAS = {  # package → the extra of blockselect that installs it
    "anndata": "anndata",
    "h5py": "anndata",
    "igraph": "graphs",
    "jinja2": "cli",
    "matplotlib": "cli",
    "networkx": "graphs",
    "narwhals": "polars",
    "polars": "polars",
    "pyarrow": "parquet",
    "zstandard": "zstd",
}


def needed(module: str, what: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Such as "pyarrow.parquet".
    what : str
        What needs it, as it begins a sentence: "a .parquet file".
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {package}; install it with: pip install 'blockselect[{_EXTRAS[package]}]'"
        ) from error


def lazy_member(package: str, homes: Mapping[str, str], name: str, *, what: str) -> Any:
    """A public name of a package, from a module that is imported when the name is first used (PEP 562).

    Parameters
    ----------
    package : str
        Such as "blockselect.plot".
    homes : mapping
        Public name → the module within the package that defines it.
    name : str
    what : str
        What these names are, as it begins a sentence: "plots".
    """
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{package}.{homes[name]}"), name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRAS:
            raise
        message = f"{what} need {missing}; install it with: pip install 'blockselect[{_EXTRAS[missing]}]'."
        raise ImportError(message, name=missing) from error


def comes_from(thing: Any, *packages: str) -> bool:
    """Whether a thing is of a type that one of these packages defines, or derived from one, without importing any."""
    return any(kind.__module__.partition(".")[0] in packages for kind in type(thing).__mro__)
