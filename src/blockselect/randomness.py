"""Scikit-learn's `random_state` as a NumPy generator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def generator_from(random_state: Any) -> np.random.Generator:
    """The generator that an int, a RandomState or None stands for; a RandomState moves on by one draw."""
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
