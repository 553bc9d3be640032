"""show_versions: installed packages and available hardware, for a bug report or before a long run."""

from __future__ import annotations

import platform
from importlib import metadata
from importlib.util import find_spec

CORE = ("numpy", "scipy", "scikit-learn", "pandas", "joblib", "numba", "array-api-compat", "threadpoolctl")
OPTIONAL = (
    *("matplotlib", "jinja2", "typer", "rich", "pooch", "torch", "dask"),
    *("anndata", "networkx", "igraph", "pyarrow", "polars", "narwhals"),
)


def show_versions() -> None:
    """Print the versions of Python and of the packages, the GPU that PyTorch can use, and the threads.

    The command prints the same for ``blockselect --version --verbose``.
    """
    import numpy  # noqa: F401  (loads the thread pool shown below)
    from joblib import cpu_count
    from threadpoolctl import threadpool_info

    lines = {"python": platform.python_version(), "machine": f"{platform.platform()}, {cpu_count()} cores"}
    lines |= {name: _version(name) for name in (*CORE, *OPTIONAL)}
    lines["GPU"] = _gpu()
    lines["threads"] = ", ".join(f"{pool['internal_api']} {pool['num_threads']}" for pool in threadpool_info())
    print(f"blockselect {metadata.version('blockselect')}\n")
    for name, found in lines.items():
        print(f"{name:>16}: {found}")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _gpu() -> str:
    if find_spec("torch") is None:
        return "not used, because PyTorch is not installed (pip install 'blockselect[torch]')"
    import torch

    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return ", ".join(names) or "none that PyTorch can use"
