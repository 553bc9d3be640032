"""The Laplacian score and the affinities it uses, dense and literal."""

from __future__ import annotations

import numpy as np


def distances(X):
    n = len(X)
    return np.array([[np.linalg.norm(X[i] - X[j]) for j in range(n)] for i in range(n)])


def neighbour_affinity(X, n_neighbors, weight):
    """The weight of each pair in which one node is a nearest neighbour of the other; 1 on the diagonal."""
    n, d = len(X), distances(X)
    W = np.zeros((n, n))
    for i in range(n):
        nearest = sorted((d[i, j], j) for j in range(n) if j != i)[:n_neighbors]
        for distance, j in nearest:
            W[i, j] = weight(distance)
    W = np.maximum(W, W.T)
    np.fill_diagonal(W, 1)
    return W


def heat(width):
    return lambda distance: np.exp(-(distance**2) / (2 * width**2))


def roughness(f, W):
    """fᵀLf as a sum over pairs."""
    n = len(f)
    return sum(W[i, j] * (f[i] - f[j]) ** 2 for i in range(n) for j in range(i))


def laplacian_score(X, W):
    D = np.diag(W.sum(axis=1))
    L, one = D - W, np.ones(len(W))
    scores = []
    for f in X.T:
        centred = f - (f @ D @ one) / (one @ D @ one) * one
        scores.append((centred @ L @ centred) / (centred @ D @ centred))
    return np.array(scores)


def draw_network(seed, n=25, m=7):
    """Features with some zeros, and a weighted graph with self-loops in which every node has a link."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.6)
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.3) + np.eye(n, k=1)
    return X, np.maximum(W, W.T)
