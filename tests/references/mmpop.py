"""MMPOP written directly from its objective: a loop over all triples of nodes."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

LOSSES = {"hinge": lambda z: max(0.0, 1 - z), "logistic": lambda z: np.log(1 + np.exp(-z))}


def triples(A):
    """(i, j, k, weight) for each link i–j in both directions and each node k not linked to i; weights sum to 1."""
    n = len(A)
    found = []
    for i in range(n):
        others = [k for k in range(n) if k != i and A[i, k] == 0]
        found += [(i, j, k, 1 / len(others)) for j in range(n) if j != i and A[i, j] != 0 for k in others]
    total = sum(weight for *_, weight in found)
    return [(i, j, k, weight / total) for i, j, k, weight in found]


def objective(X, A, w, loss, sparsity):
    total = sparsity * np.abs(w).sum()
    for i, j, k, weight in triples(A):
        total += weight * LOSSES[loss](w @ (X[i] * (X[j] - X[k])))
    return total


def hinge_optimum(X, A, sparsity):
    """The smallest objective, as a linear program: slack ξ ≥ 1 − wᵀ(x_i ∘ (x_j − x_k)), ξ ≥ 0."""
    found = triples(A)
    D = np.array([X[i] * (X[j] - X[k]) for i, j, k, _ in found])
    cost = np.concatenate([np.full(X.shape[1], sparsity), [weight for *_, weight in found]])
    bounds = [(0, 1)] * X.shape[1] + [(0, None)] * len(found)
    return linprog(cost, A_ub=-np.hstack([D, np.eye(len(found))]), b_ub=-np.ones(len(found)), bounds=bounds).fun


def mean_difference(X, A):
    """Mean of x_il x_jl over links minus the mean over non-links, in a loop over pairs."""
    links, others = [], []
    for i in range(len(A)):
        for j in range(i):
            (links if A[i, j] != 0 else others).append(X[i] * X[j])
    return np.mean(links, axis=0) - np.mean(others, axis=0)
