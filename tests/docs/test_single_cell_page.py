"""The page about single cells shows what its code prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "single-cell.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_shows(capsys):
    pytest.importorskip("scanpy")
    code, shown = (
        re.search(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1] for kind in ("python", "text")
    )
    exec(code, {})
    printed = capsys.readouterr().out
    assert [line.split() for line in printed.splitlines()] == [line.split() for line in shown.splitlines()]
