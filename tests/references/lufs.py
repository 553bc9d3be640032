"""LUFS written directly from its objective: dense, n × n and m × m, with all eigenvectors."""

import numpy as np
from scipy.linalg import eigh


def modularity(A):
    degrees = A.sum(axis=1)
    return A - np.outer(degrees, degrees) / degrees.sum()


def rough_gram(X, A, groups, alpha):
    """XᵀLX + αXᵀ(I − FFᵀ)X."""
    H = (groups[:, None] == np.unique(groups)).astype(float)
    F = H @ np.diag(np.diag(H.T @ H) ** -0.5)
    L = np.diag(A.sum(axis=1)) - A
    return X.T @ L @ X + alpha * X.T @ (np.eye(len(A)) - F @ F.T) @ X


def objective(M, Z, beta):
    return np.trace(Z.T @ M @ Z) + beta * sum(np.linalg.norm(row) for row in Z)


def solve(X, A, groups, n_combinations, alpha, beta, ridge, n_iter):
    """Z after `n_iter` iterations, and the objective after each of them."""
    M, B = rough_gram(X, A, groups, alpha), X.T @ X + ridge * np.eye(X.shape[1])
    delta, values = np.eye(X.shape[1]), []
    for _ in range(n_iter):
        Z = eigh(M + beta * delta, B)[1][:, :n_combinations]
        delta = np.diag([1 / (2 * np.linalg.norm(row)) for row in Z])
        values.append(objective(M, Z, beta))
    return Z, np.array(values)
