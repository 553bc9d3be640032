"""What run.json holds of any run, so that it can be repeated: hashes of what came in, versions, settings."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from blockselect import __version__
from blockselect.arrays import Features

RECORDED_VERSIONS = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def file_record(path: Path) -> dict[str, str]:
    """The name without its folder: the hash says which file it was, and folders are private."""
    with path.open("rb") as stream:
        return {"file": path.name, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def hash_matrix(matrix: Features) -> str:
    """SHA-256 of the shape and the non-zero entries, the same on every machine and for dense and sparse."""
    csr = sparse.csr_array(matrix)
    digest = hashlib.sha256(np.array(csr.shape, dtype="<i8").tobytes())
    for part, kind in ((csr.indptr, "<i8"), (csr.indices, "<i8"), (csr.data, "<f8")):
        digest.update(part.astype(kind).tobytes())
    return digest.hexdigest()


def settings_record(estimator: BaseEstimator) -> dict[str, Any]:
    """The class of an estimator and its parameters; a solver among them as such a record of its own."""
    parameters = estimator.get_params(deep=False)
    if "solver" in parameters and hasattr(estimator, "_solver"):
        parameters["solver"] = estimator._solver()  # the one that None stands for
    return {
        "class": type(estimator).__name__,
        **{
            name: settings_record(each) if isinstance(each, BaseEstimator) else each
            for name, each in parameters.items()
        },
    }


def versions(device: str = "cpu") -> dict[str, str]:
    """Of Python and the packages that numbers depend on."""
    packages = RECORDED_VERSIONS if device == "cpu" else (*RECORDED_VERSIONS, "torch")
    return {
        "blockselect": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def json_bytes(record: dict[str, Any]) -> bytes:
    """The record as the content of run.json."""
    return (json.dumps(record, indent=2, allow_nan=False) + "\n").encode()
