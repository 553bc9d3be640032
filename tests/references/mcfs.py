"""MCFS written directly from its two steps: a dense generalised eigenproblem, and least angle regression."""

import numpy as np
from scipy.linalg import eigh


def embedding(W, count):
    """The embedding of a connected graph, whose first eigenvector is constant."""
    D = np.diag(W.sum(axis=1))
    return eigh(D - W, D)[1][:, 1 : count + 1]


def least_angle(X, y, n_nonzero):
    """Least angle regression (Efron, Hastie, Johnstone and Tibshirani, 2004), with an explicit inverse in each step."""
    X, residual = X - X.mean(axis=0), y - y.mean()
    coefficients, active = np.zeros(X.shape[1]), []
    for _ in range(n_nonzero):
        correlation = X.T @ residual
        rest = [j for j in range(X.shape[1]) if j not in active]
        active.append(max(rest, key=lambda j: abs(correlation[j])))
        rest.remove(active[-1])
        C, signs = abs(correlation[active[-1]]), np.sign(correlation[active])
        G = np.linalg.inv(X[:, active].T @ X[:, active])
        A = (signs @ G @ signs) ** -0.5
        weights = A * G @ signs
        direction = X[:, active] @ weights
        steps = [C / A]
        for j in rest:
            a = X[:, j] @ direction
            steps += [(C - correlation[j]) / (A - a), (C + correlation[j]) / (A + a)]
        step = min(s for s in steps if s > 1e-12)
        coefficients[active] += step * weights
        residual = residual - step * direction
    return coefficients


def coefficients(X, W, count, n_nonzero):
    return np.column_stack([least_angle(X, y, n_nonzero) for y in embedding(W, count).T])
