"""A fitted selector, and axes to draw on."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def selector(fitted):
    return fitted


@pytest.fixture
def ax():
    return Figure().subplots()
