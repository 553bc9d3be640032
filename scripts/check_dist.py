"""Try what a release would upload: install the wheel and the sdist, and run the README's tests with each.

    python scripts/check_dist.py dist

Both run the tests of the unpacked sdist, far from the checkout, in an environment that has the package, its command and
pytest, and nothing else. `make dist` builds the files first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

TOOLS = ["pytest", "hypothesis"]
TESTS = ["README.md", "tests/test_readme.py", "tests/test_package.py"]


def main(folder: Path) -> None:
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    check_contents(wheel)
    for archive in (wheel, sdist):
        print(f"== {archive.name}", flush=True)
        with tempfile.TemporaryDirectory() as place:
            run_tests(python_with(archive, Path(place) / "venv"), unpack(sdist, Path(place)))


def check_contents(wheel: Path) -> None:
    """A wheel holds the package and its metadata: what else it holds would land beside other packages."""
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
    strangers = {name for name in folders if name != "blockselect" and not name.endswith(".dist-info")}
    if strangers:
        raise SystemExit(f"{wheel.name} holds {', '.join(sorted(strangers))} besides the package; see pyproject.toml.")


def python_with(archive: Path, environment: Path) -> Path:
    """The Python of a new environment that has the package and its command from this file."""
    venv.create(environment, with_pip=True)
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, f"{archive.resolve()}[cli]", *TOOLS], check=True)
    return python


def unpack(sdist: Path, place: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    return place / sdist.name.removesuffix(".tar.gz")


def run_tests(python: Path, checkout: Path) -> None:
    subprocess.run([python, "-m", "pytest", *TESTS], cwd=checkout, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
