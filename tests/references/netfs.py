"""NetFS written directly from its objective, with dense n × n matrices."""

import numpy as np


def objective(X, A, Z, U, alpha, beta):
    penalty = sum(np.linalg.norm(row) for row in Z)
    return np.sum((X @ Z - U) ** 2) + alpha * penalty + beta / 2 * np.sum((A - U @ U.T) ** 2)


def gradient(X, A, Z, U, beta):
    """Gradient with respect to U."""
    return 2 * (U - X @ Z) - 2 * beta * (A @ U - U @ U.T @ U)


def solve(X, A, U, alpha, beta, n_iter):
    """Z and U after `n_iter` iterations, each with one update of Z and ten steps of U with Armijo's rule."""
    delta = np.eye(X.shape[1])
    step = 0.5 / (1 + beta * (np.linalg.norm(A) + 3 * np.linalg.norm(U @ U.T)))
    for _ in range(n_iter):
        Z = np.linalg.inv(X.T @ X + alpha * delta) @ X.T @ U
        delta = np.diag([1 / (2 * np.linalg.norm(row)) for row in Z])
        for _ in range(10):
            before, slope = objective(X, A, Z, U, alpha, beta), gradient(X, A, Z, U, beta)
            moved = np.clip(U - step * slope, 0, None)
            while objective(X, A, Z, moved, alpha, beta) > before + 0.01 * np.sum(slope * (moved - U)):
                step = step / 2
                moved = np.clip(U - step * slope, 0, None)
            U, step = moved, 2 * step
    return Z, U
