"""A small planted network under a name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from blockselect.reproduction.config import ExperimentConfig
from references.planted_experiment import planted_experiment


@pytest.fixture
def planted() -> Iterator[ExperimentConfig]:
    with planted_experiment() as config:
        yield config
