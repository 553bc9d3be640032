"""BMGUFS as in the paper: n × n matrices and loops over features, without any simplification."""

from __future__ import annotations

import numpy as np


def one_hot(labels):
    return np.eye(labels.max() + 1)[labels]


def image_matrix(A, F):
    D_inverse = np.linalg.inv(F.T @ F)
    return D_inverse @ F.T @ A @ F @ D_inverse


def induced_graph(Y, r):
    return Y @ np.diag(r) @ Y.T


def reconstruction_loss(Y, F, r):
    A_hat = induced_graph(Y, r)
    M_hat = image_matrix(A_hat, F)
    return np.linalg.norm(A_hat - F @ M_hat @ F.T) ** 2 / np.linalg.norm(A_hat) ** 2


def row_profile(M, smoothing):
    smoothed = M + smoothing
    return smoothed / smoothed.sum(axis=1, keepdims=True)


def profile_loss(Y, F, M, r, smoothing):
    P = row_profile(M, smoothing)
    Q = row_profile(image_matrix(induced_graph(Y, r), F), smoothing)
    return sum(Q[i, j] * np.log(Q[i, j] / P[i, j]) for i in range(len(P)) for j in range(len(P)))


def reconstruction_gradient(Y, F, r):
    """Derivative of the quotient, one feature at a time."""
    A_hat = induced_graph(Y, r)
    residual = A_hat - F @ image_matrix(A_hat, F) @ F.T
    total = np.linalg.norm(A_hat) ** 2
    gradient = np.empty(len(r))
    for l in range(len(r)):  # noqa: E741  (the paper's index)
        outer = np.outer(Y[:, l], Y[:, l])
        outer_residual = outer - F @ image_matrix(outer, F) @ F.T
        gradient[l] = (
            2 * np.sum(residual * outer_residual) / total
            - 2 * np.linalg.norm(residual) ** 2 * np.sum(A_hat * outer) / total**2
        )
    return gradient


def profile_gradient(Y, F, M, r, smoothing, published):
    """Chain rule through the row normalisation, one feature and one entry at a time.

    The published derivative of Σ q log(q/p) by q is log(q/p) + p; the true one is log(q/p) + 1.
    """
    P = row_profile(M, smoothing)
    M_hat = image_matrix(induced_graph(Y, r), F) + smoothing
    Q = M_hat / M_hat.sum(axis=1, keepdims=True)
    by_Q = np.log(Q / P) + (P if published else 1)
    gradient = np.zeros(len(r))
    for l in range(len(r)):  # noqa: E741
        by_r = image_matrix(np.outer(Y[:, l], Y[:, l]), F)
        for i in range(len(P)):
            row = M_hat[i].sum()
            for j in range(len(P)):
                gradient[l] += by_Q[i, j] * (by_r[i, j] / row - M_hat[i, j] * by_r[i].sum() / row**2)
    return gradient


def solve(Y, F, M, *, profile_ratio, sparsity, published, start, step_size=0.01, max_iter=200, smoothing=1e-6):
    r = start.copy()
    for _ in range(max_iter):
        g_b = reconstruction_gradient(Y, F, r)
        g_m = profile_gradient(Y, F, M, r, smoothing, published)
        direction = (
            (1 - profile_ratio) * g_b / np.linalg.norm(g_b)
            + profile_ratio * g_m / np.linalg.norm(g_m)
            + sparsity * np.ones(len(r)) / np.sqrt(len(r))
        )
        r = np.maximum(r - step_size * direction, 0)
        r = r / np.linalg.norm(r)
    return r


def onmtf(A, F, M, n_iter):
    """Multiplicative updates of Ding et al. 2006, products in the order they are printed."""
    for _ in range(n_iter):
        F = F * np.sqrt((A @ F @ M) / (F @ F.T @ A @ F @ M))
        M = M * np.sqrt((F.T @ A @ F) / (F.T @ F @ M @ F.T @ F))
    return F, M
