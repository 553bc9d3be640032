"""NDFS written directly from its objective: dense, n × n, with explicit inverses."""

import numpy as np


def objective(X, W, F, Z, alpha, beta, gamma):
    L = np.diag(W.sum(axis=1)) - W
    fit = np.sum((X @ Z - F) ** 2) + beta * sum(np.linalg.norm(row) for row in Z)
    return np.trace(F.T @ L @ F) + alpha * fit + gamma / 2 * np.sum((F.T @ F - np.eye(F.shape[1])) ** 2)


def solve(X, W, F, alpha, beta, gamma, n_iter, published=False):
    """Z and F after `n_iter` steps from F."""
    n, m = X.shape
    degrees = W.sum(axis=1)
    L = degrees - W if published else np.diag(degrees) - W  # as published: dⱼ − Wᵢⱼ by broadcasting
    ridge = 1e-6 if published else 0.0
    delta = np.eye(m)
    for _ in range(n_iter):
        T = np.linalg.inv(X.T @ X + beta * delta + ridge * np.eye(m))
        Z = T @ X.T @ F
        delta = np.diag([1 / (2 * np.linalg.norm(row)) for row in Z])
        M = L + alpha * (np.eye(n) - X @ T @ X.T)
        MF = (M + M.T) / 2 @ F
        above, below = (0, MF) if published else (np.clip(-MF, 0, None), np.clip(MF, 0, None))
        F = F * (gamma * F + above) / (below + gamma * F @ F.T @ F)
        F = F / np.linalg.norm(F, axis=0)
    return Z, F
