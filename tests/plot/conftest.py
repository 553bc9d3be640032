"""A network whose blocks are plain to see, a selector fitted to it, and axes to draw on."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from made_fits import easy_network, fit


@pytest.fixture(scope="session")
def network():
    return easy_network()


@pytest.fixture(scope="session")
def selector(network):
    return fit(network)


@pytest.fixture
def ax():
    return Figure().subplots()
