"""Counts read as present or absent."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import Features


def are_sparse_counts(features: Features) -> bool:
    """Whether the features count something seldom: whole numbers, some above one, and more zeros than not."""
    values = features.data if sparse.issparse(features) else features
    if np.count_nonzero(values) * 2 >= np.prod(features.shape):
        return False
    return bool((values == np.floor(values)).all() and values.max(initial=0) > 1)


def presence(features: Features) -> Features:
    """1 where a node has a feature, else 0, in the features' own float type and form."""
    return (features != 0).astype(features.dtype)
