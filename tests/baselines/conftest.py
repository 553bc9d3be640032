"""Small networks that the tests of several baselines use."""

import pytest

from made_fits import easy_network
from references.problems import make_problem


@pytest.fixture(params=range(4))
def problem(request):
    return make_problem(request.param)


@pytest.fixture(scope="session")
def network():
    return easy_network()
