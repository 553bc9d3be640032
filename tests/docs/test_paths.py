"""The three paths in CONTRIBUTING.md: each function is there, and they run in this order."""

from __future__ import annotations

import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from runpy import run_path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from blockselect import BMGUFS, BlockModelSelector, make_attributed_blocks

ROOT = Path(__file__).parents[2]
functions_entered = run_path(str(ROOT / "scripts" / "count_code.py"))["functions_entered"]
NETWORK = make_attributed_blocks(60, 3, n_informative=8, n_noise=22, mean_degree=8, random_state=2).graph


def paths() -> dict[str, list[tuple[str, str]]]:
    """Heading → (file, function) in the order of the table below it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.search(r"^## Three paths.*?(?=^## )", text, re.DOTALL | re.MULTILINE)[0]
    found = {}
    for part in section.split("\n### ")[1:]:
        heading, _, table = part.partition("\n")
        rows = re.findall(r"^\| `([\w/]+\.py)` \| (.+?) \|", table, re.MULTILINE)
        found[heading] = [(file, name) for file, names in rows for name in re.findall(r"`([\w.]+)`", names)]
    return found


def is_compiled(file: str, name: str) -> bool:
    """Whether Numba runs the function; not every version of Python reports such calls."""
    module = import_module(f"blockselect.{file.removesuffix('.py').replace('/', '.')}")
    return hasattr(attrgetter(name)(module), "py_func")


def select(folder: Path) -> None:
    from blockselect.cli.commands import app

    names = [f"n{node}" for node in range(NETWORK.n_nodes)]
    pd.DataFrame(NETWORK.features.toarray(), index=pd.Index(names, name="id")).add_prefix("f").to_csv(folder / "f.csv")
    links = np.argwhere(np.triu(NETWORK.adjacency.toarray()))
    pd.DataFrame(links, columns=["source", "target"]).map(lambda node: names[node]).to_csv(
        folder / "e.csv", index=False
    )
    options = ["--features", folder / "f.csv", "--graph", folder / "e.csv", "--top", 8, "--resamples", 3]
    result = CliRunner().invoke(app, ["select", *map(str, options), "--out", str(folder / "results")])
    assert result.exit_code == 0, result.output


CALLS = {
    "BMGUFS.fit": lambda _: BMGUFS(8, n_blocks=3, random_state=0).fit(NETWORK),
    "BlockModelSelector.fit": lambda _: BlockModelSelector(8, random_state=0).fit(NETWORK),
    "blockselect select": select,
}


def test_every_path_is_traced():
    assert list(paths()) == list(CALLS)


@pytest.mark.parametrize(
    "heading",
    ["BMGUFS.fit", "BlockModelSelector.fit", pytest.param("blockselect select", marks=pytest.mark.slow)],
)
def test_the_functions_of_a_path_run_in_this_order(heading, tmp_path):
    path, entered = paths()[heading], functions_entered(lambda: CALLS[heading](tmp_path))
    path = [one for one in path if not is_compiled(*one)]
    assert len(path) > 10
    assert [one for one in path if one not in entered] == []
    assert path == sorted(path, key=entered.index)


def test_every_file_that_contributing_names_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`([\w./-]+(?:\.(?:py|md|rst|toml)|/))`", text) if "NAME" not in name}
    source = ROOT / "src" / "blockselect"
    folders = (ROOT, ROOT / "scripts", source, *(path for path in source.iterdir() if path.is_dir()))
    assert len(named) > 50
    assert [name for name in sorted(named) if not any((folder / name).exists() for folder in folders)] == []
