"""Fixtures of small problems."""

import pytest

from references.problems import make_problem


@pytest.fixture(params=range(4))
def problem(request):
    return make_problem(request.param)


@pytest.fixture
def mixed_problem():
    """Three block models with different numbers of blocks."""
    return make_problem(7, n=25, m=12, blocks=(2, 5, 3))
