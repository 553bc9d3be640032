"""The table at the top of the quality page shows the means of the file that the benchmark writes."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

DOCS = Path(__file__).parents[2] / "docs"


def test_the_means_of_single_cells_are_those_of_the_file():
    page = (
        (DOCS / "quality.md")
        .read_text(encoding="utf-8")
        .partition("## Where the network is built from the features")[2]
    )
    rows = [line.strip("| ").split(" | ") for line in re.findall(r"^\| .+ \|$", page, flags=re.MULTILINE)]
    stored = pd.read_csv(DOCS / "quality" / "single_cells.csv")
    means = stored.groupby("method", sort=False)[["accuracy", "nmi", "few_shot"]].mean()
    assert [row[0] for row in rows[2:]] == means.index.tolist()
    for name, *figures in rows[2:]:
        assert figures == [f"{figure:.3f}" for figure in means.loc[name]]


def test_the_means_on_the_page_are_those_of_the_file():
    page = (DOCS / "quality.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in re.findall(r"^\| .+ \|$", page, flags=re.MULTILINE)[:7]]
    header, _, *rows = lines
    stored = pd.read_csv(DOCS / "quality" / "use_protocols.csv")
    stored["features"] = stored["features"].str.partition(":")[0]  # without the name of the rival
    means = stored.pivot_table(index="features", columns="measure", values="mean")
    assert [row[0] for row in rows] == stored["features"].unique().tolist()
    for name, *figures in rows:
        assert figures == [f"{means.at[name, title]:.3f}" for title in header[1:]]
