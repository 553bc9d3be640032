"""The code can be read: short stories in `fit`, one name for one module."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import Counter
from pathlib import Path

import pytest

import blockselect
from blockselect import BMGUFS, BlockModelSelector

SOURCE = Path(blockselect.__file__).parent


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
def test_fit_is_a_story_of_fewer_than_thirty_lines(kind):
    assert lines_of_code(kind.fit) < 30


def lines_of_code(function):
    """Lines after the docstring, but for empty ones and comments."""
    code = textwrap.dedent(inspect.getsource(function))
    docstring = ast.parse(code).body[0].body[0]
    assert isinstance(docstring.value, ast.Constant)
    lines = code.splitlines()[docstring.end_lineno :]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


SHARED_NAMES = {
    "__init__.py",
    "estimator.py",  # one of each product
}


def test_no_two_modules_share_a_name():
    """A name says which module is meant, in a traceback, in an editor's tabs and in talk."""
    counts = Counter(path.name for path in SOURCE.rglob("*.py"))
    assert {name for name, count in counts.items() if count > 1} <= SHARED_NAMES
