"""Check the files of a release: install the wheel and the sdist, and run the tests of the README with each.

    python scripts/check_dist.py dist

The tests come from the unpacked sdist. They run outside the checkout, in an environment that contains only the
package, its command and the test tools. `make dist` builds the files first.
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
    """Check that a wheel contains only the package and its metadata; anything else would be installed next to it."""
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
    strangers = {name for name in folders if name != "blockselect" and not name.endswith(".dist-info")}
    if strangers:
        raise SystemExit(
            f"{wheel.name} contains {', '.join(sorted(strangers))} besides the package; see pyproject.toml."
        )


def python_with(archive: Path, environment: Path) -> Path:
    """Install a wheel or sdist with the cli extra in a new environment; return its Python interpreter."""
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
