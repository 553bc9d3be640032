"""The package as a whole: what importing it costs, what it promises, and what must stand in no file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import blockselect
from blockselect.datasets.download import CACHE_VARIABLE, cache_folder
from conftest import SLOW, SMOKE

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "blockselect"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TEXT = {".cff", ".cfg", ".html", ".ini", ".j2", ".md", ".py", ".rst", ".toml", ".txt", ".yaml", ".yml"}
HIDDEN = {".ci", ".github", ".pre-commit-config.yaml"}  # what else begins with a dot is not ours
BUILT = {"build", "dist", "htmlcov", "blockselect-demo", "__pycache__", "_build", "gallery", "generated"}

HOSTS = re.compile(r"\b(?:pypi\.org|pythonhosted\.org|anaconda\.org|download\.pytorch\.org)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.~$/-])/(?:work|root|opt|home/\w+|Users/\w+)/|\b[A-Z]:\\Users\\")


def text_files() -> Iterator[Path]:
    for top in ROOT.iterdir():
        if top.name in BUILT or (top.name.startswith(".") and top.name not in HIDDEN):
            continue
        for path in [top] if top.is_file() else top.rglob("*"):
            plain = path.suffix in TEXT or path.name in {"Makefile", "run"}
            if plain and path.is_file() and not BUILT.intersection(path.parts):
                yield path


def modules_after(code: str) -> set[str]:
    """Top-level modules that a new Python holds after running code."""
    ask = f"import sys\n{code}\nprint('modules', *sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_importing_the_package_imports_nothing_heavy():
    heavy = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "typer", "rich", "torch", "numba"}
    assert not modules_after("import blockselect") & heavy


def test_the_help_of_the_command_needs_neither_scikit_learn_nor_pandas_nor_matplotlib():
    code = """
import runpy
sys.argv = ["blockselect", "--help"]
try:
    runpy.run_module("blockselect.cli.main", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
"""
    assert not modules_after(code) & {"sklearn", "pandas", "matplotlib", "torch"}


def test_the_package_runs_as_the_command():
    ask = [sys.executable, "-m", "blockselect", "select"]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no output is requested; name a folder with --out")


@pytest.mark.parametrize("name", blockselect.__all__)
def test_a_public_name_is_there(name):
    assert getattr(blockselect, name) is not None
    assert name in dir(blockselect)


def test_dir_shows_public_names_alone():
    shown = [name for name in dir(blockselect) if not name.startswith("__")]
    assert shown == sorted(blockselect.__all__)
    assert {"__version__", "__doc__"} <= set(dir(blockselect))


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = blockselect.Nothing


def test_only_one_file_imports_private_names_of_scikit_learn():
    """They change without notice: src/blockselect/utils/_sklearn.py is the one place to mend."""
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in text_files()
        if path.suffix == ".py" and path != SOURCE / "utils/_sklearn.py"
        for line in private_sklearn_imports(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def private_sklearn_imports(code: str) -> list[int]:
    lines = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        if any(re.match(r"sklearn\b.*\._(?!_version__)", name) for name in names):
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize("forbidden", [HOSTS, MACHINE_PATHS], ids=["package hosts", "paths of one machine"])
def test_no_file_depends_on_where_it_was_written(forbidden):
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in text_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if forbidden.search(line)
    ]
    assert found == []


def test_every_extra_that_a_message_or_a_page_names_exists():
    extras = set(PYPROJECT["project"]["optional-dependencies"])
    named = {
        extra.strip()
        for path in text_files()
        for group in re.findall(r"(?:blockselect|'\.)\[([a-z, -]+)\]", path.read_text(encoding="utf-8"))
        for extra in group.split(",")
    }
    assert named
    assert named <= extras


def test_a_download_without_pooch_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    with pytest.raises(ImportError, match=r"pip install 'blockselect\[datasets\]'"):
        cache_folder()


def test_the_citation_has_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE) == [blockselect.__version__]


def test_what_the_fast_lane_leaves_out_or_takes_in_exists():
    for place in (*SLOW, *SMOKE):
        path, _, beginning = place.partition("::")
        assert (ROOT / path).exists(), place
        assert not beginning or f"\ndef {beginning}" in (ROOT / path).read_text(encoding="utf-8"), place


@pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="not a checkout")
def test_the_lowest_versions_that_are_tested_are_those_that_are_allowed():
    lowest = dict(re.findall(r"^([\w-]+)==([\d.]+?)(?:\.\*)?$", (ROOT / ".github" / "lowest.txt").read_text(), re.M))
    project = PYPROJECT["project"]
    users = [project["optional-dependencies"][extra] for extra in ("cli", "datasets", "dask", "parquet")]
    allowed = dict(
        match.groups()
        for requirement in sum(users, project["dependencies"])
        if (match := re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", requirement))
    )
    assert allowed.items() <= lowest.items()
