"""Examples of the gallery: each has a place, words and a picture. `make docs` runs them."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ORDER = runpy.run_path(str(ROOT / "docs" / "extensions" / "gallery_order.py"))["ORDER"]


def test_there_are_examples_and_each_has_its_place():
    assert len(EXAMPLES) >= 10
    assert sorted(ORDER) == [path.name for path in EXAMPLES]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_words_and_a_picture(path):
    source = path.read_text(encoding="utf-8")
    lines = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    assert lines[1] == "=" * len(lines[0])
    assert len(" ".join(lines[2:])) > 150  # what it is about, for one who knows nothing yet
    assert source.count("\n# %%\n") >= 3
    assert "plt.show()" in source


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_needs_no_network(path):
    source = path.read_text(encoding="utf-8")
    assert "fetch_" not in source
    assert "http" not in source
