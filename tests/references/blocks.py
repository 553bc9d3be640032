"""Families of block models, with dense matrices and literal formulas."""

import numpy as np


def normalized_graph(A):
    degrees = A.sum(axis=1)
    scale = np.diag((degrees + degrees.mean()) ** -0.5)
    return scale @ A @ scale


def smoothed_features(A, X):
    """Rarity weights, unit rows, then twice the mean over a node and its neighbours."""
    n = len(A)
    weighted = X * np.log(1 + n / np.count_nonzero(X, axis=0))
    lengths = np.linalg.norm(weighted, axis=1, keepdims=True)
    unit = np.where(lengths > 0, weighted / np.where(lengths > 0, lengths, 1), 0)
    steps = A + np.eye(n) * A[A > 0].mean()
    walk = steps / steps.sum(axis=1, keepdims=True)
    return walk @ walk @ unit
