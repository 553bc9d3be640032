"""ADAPT written directly from its objective: loops over nodes and neighbours, and simplex projection by search."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from references.gfs import link_loss


def project_onto_simplex(v):
    """Project v onto the simplex: among the best points for each support, the one nearest to v."""
    v = v - v.max()  # a shift does not change the projection, and distances between large values would be rounded
    best = None
    for size in range(1, len(v) + 1):
        for support in map(list, combinations(range(len(v)), size)):
            p = np.zeros(len(v))
            p[support] = v[support] - (v[support].sum() - 1) / size
            if (p >= 0).all() and (best is None or np.linalg.norm(p - v) < np.linalg.norm(best - v)):
                best = p
    return best


def neighbours(A, i):
    return [j for j in range(len(A)) if j != i and A[i, j] != 0]


def mean_distance(X, A):
    """Mean of ‖x_i − x_j‖² over links."""
    return np.mean([np.sum((X[i] - X[j]) ** 2) for i in range(len(A)) for j in neighbours(A, i)])


def distance(X, s, i, j):
    return np.linalg.norm(np.diag(np.sqrt(s)) @ (X[i] - X[j])) ** 2


def best_strengths(X, A, s, mu):
    P, scale = np.zeros(A.shape), mean_distance(X, A)
    for i in range(len(A)):
        around = neighbours(A, i)
        if around:
            d = np.array([distance(X, s, i, j) for j in around]) / scale
            P[i, around] = project_onto_simplex(-d / (2 * mu))
    return P


def ties(X, A, s, P, alpha, mu):
    total, scale = 0.0, mean_distance(X, A)
    for i in range(len(A)):
        for j in neighbours(A, i):
            total += P[i, j] * distance(X, s, i, j) / scale + mu * P[i, j] ** 2
    return alpha * total / len(A)


def objective(X, A, s, b, P, *, alpha, mu, sparsity):
    n_links = np.count_nonzero(np.triu(A, 1))
    return link_loss(X, A, s, b) + ties(X, A, s, P, alpha, mu) + sparsity * s.sum() / n_links
