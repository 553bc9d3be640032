"""Counts read as present or absent."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from blockselect.arrays import Features
from blockselect.errors import ParameterError
from blockselect.graphs.column_statistics import constant_columns


def are_sparse_counts(features: Features) -> bool:
    """Whether the features count something seldom: whole numbers, some above one, and more zeros than not."""
    values = features.data if sparse.issparse(features) else features
    if np.count_nonzero(values) * 2 >= np.prod(features.shape):
        return False
    counts = (values == np.floor(values)).all() and values.max(initial=0) > 1
    return bool(counts and not constant_columns(_present(features)).all())


def presence(features: Features) -> Features:
    """1 where a node has a feature, else 0, in the features' own float type and form."""
    present = _present(features)
    if constant_columns(present).all():
        raise ParameterError(
            "binarize",
            "is True, which leaves every feature constant: none is zero for some nodes and not for others; "
            "set binarize=False.",
        )
    return present


def _present(features: Features) -> Features:
    return (features != 0).astype(features.dtype)
