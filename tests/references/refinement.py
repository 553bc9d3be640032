"""The objective of a set of features written down literally: n × n matrices, a loop over pairs, all sets tried."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from references import bmgufs


def loss(Y, models, members, *, profile_ratio, smoothing):
    """(1 − β̄) L_b + β̄ L_m at r = 1 in the set and 0 elsewhere, the mean over the block models."""
    r = np.zeros(Y.shape[1])
    r[list(members)] = 1
    values = []
    for model in models:
        F = bmgufs.one_hot(model.labels)
        fit = bmgufs.reconstruction_loss(Y, F, r)
        profile = bmgufs.profile_loss(Y, F, model.density, r, smoothing)
        values.append((1 - profile_ratio) * fit + profile_ratio * profile)
    return np.mean(values)


def mean_squared_cosine(Y, members):
    """Over the pairs of different features."""
    cosines = [
        Y[:, a] @ Y[:, b] / (np.linalg.norm(Y[:, a]) * np.linalg.norm(Y[:, b])) for a, b in combinations(members, 2)
    ]
    return np.mean(np.square(cosines)) if cosines else 0.0


def redundancy(Y, members):
    """From the eigenvalues of the matrix of cosines: 1 − (Σλ)² / Σλ² / d."""
    unit = Y[:, members] / np.linalg.norm(Y[:, members], axis=0)
    eigenvalues = np.linalg.eigvalsh(unit.T @ unit)
    return 1 - eigenvalues.sum() ** 2 / np.sum(eigenvalues**2) / len(members)


def n_uncovered(Y, members):
    return sum(1 for row in Y if row.any() and not row[list(members)].any())


def objective(Y, models, members, *, redundancy_weight=0.0, coverage_weight=0.0, **settings):
    members = list(members)
    unit = loss(Y, models, range(Y.shape[1]), **settings)
    uncovered = n_uncovered(Y, members) / sum(1 for row in Y if row.any())
    terms = redundancy_weight * redundancy(Y, members) + coverage_weight * uncovered
    return loss(Y, models, members, **settings) + unit * terms


def best_set(Y, models, size, **settings):
    """The best of all sets of that size, and its objective."""
    sets = combinations(range(Y.shape[1]), size)
    values = {members: objective(Y, models, members, **settings) for members in sets}
    best = min(values, key=values.__getitem__)
    return best, values[best]
