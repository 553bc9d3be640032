"""What it takes to repeat a run: versions, settings, and the Python that does it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from numbers import Number
from typing import Any

from sklearn.base import BaseEstimator

from blockselect import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba", "matplotlib")
_LONG = 60  # letters from which a value is not written into code


def python_to_repeat(selector: BaseEstimator) -> str:
    """The Python that makes and fits this selector; large values, such as labels, go by their names."""
    name = type(selector).__name__
    imports, named, given = [name], list[str](), list[str]()
    for parameter, value in changed_settings(selector).items():
        text = repr(value)
        if isinstance(value, BaseEstimator):
            imports.append(type(value).__name__)
        if len(text) > _LONG or "\n" in text:
            named.append(f"{parameter} = ...  # {type(value).__name__}: your own")
            text = parameter
        first = not given and parameter == "n_features_to_select"
        given.append(text if first else f"{parameter}={text}")
    lines = [
        f"from blockselect import {', '.join(imports)}",
        "",
        *named,
        f"selector = {name}({', '.join(given)})",
        "selector.fit(X, adjacency=adjacency)  # your features and your graph",
        'selector.report("report.html")',
    ]
    return "\n".join(lines)


def changed_settings(estimator: BaseEstimator) -> dict[str, Any]:
    """Parameters that are not at their defaults, in the order of the signature."""
    defaults = signature(type(estimator)).parameters
    values = estimator.get_params(deep=False)
    return {
        name: values[name] for name, each in defaults.items() if name in values and _differs(values[name], each.default)
    }


def settings_table(estimator: BaseEstimator) -> list[dict[str, Any]]:
    """Each parameter with its value as text and whether it is another than the default."""
    changed = changed_settings(estimator)
    return [
        {"name": name, "value": _shown(value), "changed": name in changed}
        for name, value in estimator.get_params(deep=False).items()
    ]


def package_versions() -> dict[str, str]:
    """Of blockselect, Python and the packages that numbers and pictures depend on."""
    found = {"blockselect": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an extra that is not installed
            continue
    return found


def _differs(value: Any, default: Any) -> bool:
    plain = value is None or isinstance(value, (str, Number))
    return bool(value != default) if plain else value is not default


def _shown(value: Any) -> str:
    text = repr(value)
    if len(text) <= _LONG and "\n" not in text:
        return text
    return f"{type(value).__name__} of length {len(value):,}" if hasattr(value, "__len__") else type(value).__name__
