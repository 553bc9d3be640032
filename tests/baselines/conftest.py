"""Small networks for the solvers of the baselines."""

import pytest

from references.problems import make_problem


@pytest.fixture(params=range(4))
def problem(request):
    return make_problem(request.param)
