"""What run.json records of a run so that it can be repeated: hashes of the input, settings and versions."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from blockselect import __version__

RECORDED_VERSIONS = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def file_record(path: Path) -> dict[str, str]:
    """The name of a file and its hash. Folders are left out, because they are private."""
    with path.open("rb") as stream:
        return {"file": path.name, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def settings_record(estimator: Any) -> dict[str, Any]:
    """The class of an estimator and its parameters; a solver among them has a record of its own."""
    parameters = estimator.get_params(deep=False)
    if not isinstance(parameters.get("block_model"), str | None):
        parameters["block_model"] = "labels"  # the input names their file
    if "solver" in parameters and hasattr(estimator, "_solver"):
        parameters["solver"] = settings_record(estimator._solver())  # None stands for the default solver
    return {"class": type(estimator).__name__, **parameters}


def versions(device: str = "cpu") -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on."""
    packages = RECORDED_VERSIONS if device == "cpu" else (*RECORDED_VERSIONS, "torch")
    return {
        "blockselect": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def json_bytes(record: dict[str, Any]) -> bytes:
    """The record as the content of a file."""
    return (json.dumps(record, indent=2, allow_nan=False) + "\n").encode()
