"""The page about single cells shows what its code prints, and figures of the file that the benchmark writes."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "single-cell.md").read_text(encoding="utf-8")


def test_the_table_shows_the_means_of_the_file():
    rows = [line.strip("| ").split(" | ") for line in re.findall(r"^\| .+ \| 0\.\d+ \| 0\.\d+ \|$", PAGE, re.MULTILINE)]
    means = pd.read_csv(DOCS / "quality" / "single_cells.csv").groupby("method")[["nmi", "few_shot"]].mean()
    assert len(rows) > 5
    for name, *figures in rows:
        assert figures == [f"{figure:.3f}" for figure in means.loc[name]]


def test_the_example_prints_what_the_page_shows(capsys):
    pytest.importorskip("scanpy")
    code, shown = (
        re.search(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1] for kind in ("python", "text")
    )
    exec(code, {})
    printed = capsys.readouterr().out
    assert [line.split() for line in printed.splitlines()] == [line.split() for line in shown.splitlines()]
