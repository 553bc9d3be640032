"""Optional packages: imported when needed, with errors that name the extra that installs a missing one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_EXTRAS = {  # package → the extra of blockselect that installs it
    "anndata": "anndata",
    "dask": "dask",
    "h5py": "anndata",
    "igraph": "graphs",
    "jinja2": "report",
    "matplotlib": "report",
    "networkx": "graphs",
    "narwhals": "polars",
    "polars": "polars",
    "openpyxl": "excel",
    "pooch": "datasets",
    "pyarrow": "parquet",
    "rich": "cli",
    "typer": "cli",
}


def on_request(module: str) -> Any:
    """Import a module of blockselect from a package above the caller's, such as the report of a selector.

    Only these calls deviate from the import order of the packages; they run when a user requests the result.
    """
    return import_module(f"blockselect.{module}")


def needed(module: str, what: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Name of the module, such as "pyarrow.parquet".
    what : str
        The subject of the error message if the package is missing: "a .parquet file".
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"{what} needs {_installed_with(package)}") from error


def install_advice(error: ImportError, who: str = "the command needs") -> str | None:
    """Say what to install if a package of an extra is missing; None for every other import error.

    Parameters
    ----------
    error : ImportError
    who : str
        The beginning of the sentence.
    """
    package = (error.name or "").partition(".")[0]
    return f"{who} {_installed_with(package)}." if package in _EXTRAS else None


def comes_from(thing: Any, *packages: str) -> bool:
    """Whether the type of an object or one of its base types is from one of these packages, without importing them."""
    return any(kind.__module__.partition(".")[0] in packages for kind in type(thing).__mro__)


def _installed_with(package: str) -> str:
    return f"{package}; install it with: pip install 'blockselect[{_EXTRAS[package]}]'"
