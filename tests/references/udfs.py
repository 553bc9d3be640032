"""UDFS written directly from its objective: one selection matrix per node, the complete M, all eigenvectors."""

import numpy as np


def nearest(X, k):
    """Each node, followed by its k nearest nodes."""
    return [np.argsort([np.sum((x - y) ** 2) for y in X], kind="stable")[: k + 1] for x in X]


def scatter(X, neighbourhoods, ridge):
    n = len(X)
    B = np.zeros((n, n))
    for members in neighbourhoods:
        size = len(members)
        S = np.eye(n)[:, members]
        H = np.eye(size) - np.ones((size, size)) / size
        centred = H @ S.T @ X
        B += S @ H @ np.linalg.inv(centred @ centred.T + ridge * np.eye(size)) @ H @ S.T
    return B


def objective(X, B, Z, gamma):
    return np.trace(Z.T @ X.T @ B @ X @ Z) + gamma * sum(np.linalg.norm(row) for row in Z)


def solve(X, B, count, gamma, n_iter):
    delta = np.eye(X.shape[1])
    for _ in range(n_iter):
        Z = np.linalg.eigh(X.T @ B @ X + gamma * delta)[1][:, :count]
        delta = np.diag([1 / (2 * np.linalg.norm(row)) for row in Z])
    return Z
