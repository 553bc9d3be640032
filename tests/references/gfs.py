"""GFS written directly from its objective: a loop over all pairs of nodes, and a full m × m map."""

from __future__ import annotations

import numpy as np


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def link_loss(X, A, s, b):
    """−Σ [A log σ + (1 − A) log(1 − σ)] over pairs of different nodes, divided by the number of links."""
    total, n_links = 0.0, 0
    for i in range(len(A)):
        for j in range(i):
            σ = sigmoid(X[i] @ np.diag(s) @ X[j] + b)
            linked = A[i, j] != 0
            n_links += linked
            total -= np.log(σ) if linked else np.log(1 - σ)
    return total / n_links


def reconstruction(X, s, V, alpha, ridge):
    rho = ridge * np.linalg.norm(X) ** 2 / X.shape[1]
    error = np.linalg.norm(X - X @ np.diag(s) @ V) ** 2 + rho * np.linalg.norm(V) ** 2
    return alpha * error / np.linalg.norm(X) ** 2


def best_map(X, s, ridge):
    rho = ridge * np.linalg.norm(X) ** 2 / X.shape[1]
    XS = X @ np.diag(s)
    return np.linalg.solve(XS.T @ XS + rho * np.eye(X.shape[1]), XS.T @ X)


def objective(X, A, s, b, V, *, alpha, ridge, sparsity):
    n_links = np.count_nonzero(np.triu(A, 1))
    return link_loss(X, A, s, b) + reconstruction(X, s, V, alpha, ridge) + sparsity * s.sum() / n_links
