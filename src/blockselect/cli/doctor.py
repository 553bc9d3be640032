"""`blockselect doctor`: show what is installed and what this machine has, before a long run or for a bug report."""

from __future__ import annotations

import json
import os
import platform
import re
from importlib import metadata
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from blockselect import __version__
from blockselect.cli.failure import begin_work

CORE = ("numpy", "scipy", "scikit-learn", "pandas", "joblib", "numba")
# Extras that users do not need.
FOR_DEVELOPERS = ("dev", "docs", "bench", "release", "torch-cpu", "test-single-cell", "fuzz")

app = typer.Typer(add_completion=False)


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")] = False,
) -> None:
    """\b
    Examples:
      blockselect doctor
      blockselect doctor --json
    """
    found = examine()
    if as_json:
        typer.echo(json.dumps(found))
        return
    typer.echo(f"blockselect {found['blockselect']}, Python {found['python']}, {found['system']}")
    typer.echo(f"packages:  {', '.join(f'{name} {version}' for name, version in found['packages'].items())}")
    for extra, missing in found["extras"].items():
        state = "installed" if not missing else f"lacks {', '.join(missing)}: pip install 'blockselect[{extra}]'"
        typer.echo(f"extra {extra}: {state}")
    typer.echo(f"GPU:       {found['gpu']}")
    threads = ", ".join(f"{name} {value}" for name, value in found["threads"].items())
    typer.echo(f"threads:   {found['cores']} cores; {threads or 'no pool of threads is loaded'}")
    if found["cache"] is None:
        typer.echo("data:      no downloads: pooch is not installed (pip install 'blockselect[datasets]')")
    else:
        typer.echo(f"data:      downloads are kept in {found['cache']}")


def examine() -> dict[str, Any]:
    """Everything that the command shows, as plain data."""
    import numpy  # noqa: F401  (loads the pool of threads that is shown)
    from joblib import cpu_count
    from threadpoolctl import threadpool_info

    from blockselect.datasets.download import cache_folder

    begin_work()
    try:
        cache = str(cache_folder())
    except ImportError:  # nothing can be downloaded
        cache = None
    return {
        "blockselect": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: metadata.version(name) for name in CORE},
        "extras": extras(),
        "gpu": gpu(),
        "cores": cpu_count(),
        "threads": {
            **{pool["internal_api"]: pool["num_threads"] for pool in threadpool_info()},
            **{name: os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") if name in os.environ},
        },
        "cache": cache,
    }


def extras() -> dict[str, list[str]]:
    """Each extra that a user may want → its packages that are missing."""
    missing: dict[str, list[str]] = {}
    for line in metadata.requires("blockselect") or []:
        found = re.match(r"""([\w.-]+).*;.*extra == ['"]([\w-]+)['"]""", line)
        if found is None or found[2] in FOR_DEVELOPERS or found[1] == "blockselect":
            continue
        lacking = missing.setdefault(found[2], [])
        if not any(metadata.distributions(name=found[1])):
            lacking.append(found[1])
    return missing


def gpu() -> str:
    """The GPUs that PyTorch can use, or why there is none."""
    if find_spec("torch") is None:
        return "not used: PyTorch is not installed (pip install 'blockselect[torch]')"
    import torch

    if not torch.cuda.is_available():
        return f"none that PyTorch {torch.__version__} can use"
    names = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return f"{', '.join(names)} (PyTorch {torch.__version__}); use --device cuda"
