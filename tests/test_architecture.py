"""The code can be read: short stories in `fit`, few files on the way to a score, one name for one module."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

import blockselect
from blockselect import BMGUFS, BlockModelSelector, make_attributed_blocks
from blockselect.bmgufs.losses import evaluate_losses

SOURCE = Path(blockselect.__file__).parent
BOTH = {
    "paper": BMGUFS(5, n_blocks=3, random_state=0),
    "default": BlockModelSelector(5, random_state=0),
}


@pytest.mark.parametrize("name", BOTH)
def test_fit_is_a_story_of_fewer_than_thirty_lines(name):
    assert lines_of_code(type(BOTH[name]).fit) < 30


def lines_of_code(function):
    """Lines after the docstring, but for empty ones and comments."""
    code = textwrap.dedent(inspect.getsource(function))
    docstring = ast.parse(code).body[0].body[0]
    assert isinstance(docstring.value, ast.Constant)
    lines = code.splitlines()[docstring.end_lineno :]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


class Way:
    """Files of the package that a fit is inside of when the first gradient is there."""

    def __init__(self):
        self.inside = []

    def trace(self, frame, event, value):
        if not self.inside and event == "return" and frame.f_code is evaluate_losses.__code__:
            while frame is not None:
                if (file := file_of(frame)) and file not in self.inside:
                    self.inside.append(file)
                frame = frame.f_back


def file_of(frame):
    path = Path(frame.f_code.co_filename)
    return path.relative_to(SOURCE).as_posix() if path.is_relative_to(SOURCE) else None


@pytest.fixture(scope="module", params=BOTH)
def way(request):
    network = make_attributed_blocks(60, 3, random_state=0)
    features, adjacency = network.features, network.adjacency
    way, before = Way(), sys.getprofile()
    sys.setprofile(way.trace)
    try:
        BOTH[request.param].fit(features, adjacency=adjacency)
    finally:
        sys.setprofile(before)
    return request.param, way


def test_from_fit_to_the_gradient_is_a_short_way_down(way):
    """Who steps into the solver from `fit` passes through these files and no others; around it is its context."""
    name, found = way
    first = {"paper": "bmgufs/estimator.py", "default": "consensus/estimator.py"}[name]
    assert found.inside == ["bmgufs/losses.py", "bmgufs/descent.py", "bmgufs/selector.py", first, "_sklearn.py"]


SHARED_NAMES = {
    "__init__.py",
    "estimator.py",  # one of each product
}


def test_no_two_modules_share_a_name():
    """A name says which module is meant, in a traceback, in an editor's tabs and in talk."""
    counts = Counter(path.name for path in SOURCE.rglob("*.py"))
    assert {name for name, count in counts.items() if count > 1} <= SHARED_NAMES
