"""Moran's I as sums over pairs of nodes, dense and literal."""

from __future__ import annotations

import numpy as np


def morans_i(X, A):
    n = len(A)
    values = []
    for f in X.T:
        z = f - sum(f) / n
        pairs = sum(A[i, j] * z[i] * z[j] for i in range(n) for j in range(n))
        values.append(n / sum(sum(A)) * pairs / sum(z**2))
    return np.array(values)
