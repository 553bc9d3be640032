"""The joint objective as two likelihoods, one node pair and one value at a time."""

from __future__ import annotations

import numpy as np


def small_network(seed, n=18, m=7, k=3):
    """A weighted graph with self-loops and an isolated node; counts with an empty node and an empty feature."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.poisson(0.3, size=(n, n)) * rng.choice([1.0, 2.5], size=(n, n)))
    A[0, 1] = 1.0
    A[:, -1] = A[-1] = 0.0
    X = rng.poisson(0.7, size=(n, m)).astype(float)
    X[0, 0] += 1
    X[-2] = X[:, -1] = 0.0
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)]))
    return np.maximum(A, A.T), X, labels


def poisson_log_likelihood(values, means):
    """Poisson log-likelihood without the factorials, which are the same in all models."""
    return sum(x * np.log(mean) - mean if x else -mean for x, mean in zip(values.flat, means.flat, strict=True))


def link_log_likelihood(A, labels):
    """Log-likelihood of the degree-corrected block model: half the sum over ordered pairs of nodes (i, j)."""
    n, degrees = len(A), A.sum(axis=1)
    means = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            rows, columns = labels == labels[i], labels == labels[j]
            between, expected = A[np.ix_(rows, columns)].sum(), degrees[rows].sum() * degrees[columns].sum()
            means[i, j] = degrees[i] * degrees[j] * between / expected if expected else 0.0
    return poisson_log_likelihood(A, means) / 2


def in_units(X):
    """Each feature divided by the mean of its non-zero values."""
    return np.column_stack([x / x[x > 0].mean() if x.any() else x for x in X.T])


def dispersion(x, totals):
    """Variance around a single rate, divided by the mean."""
    means = totals * x.sum() / totals.sum()
    return max(((x - means) ** 2).sum() / x.sum(), 1e-6)


def feature_log_likelihood(x, totals, labels):
    """Poisson log-likelihood, as if values were counts, with mean block rate × node total."""
    means = np.zeros(len(x))
    for i in range(len(x)):
        block = labels == labels[i]
        exposure = totals[block].sum()
        means[i] = totals[i] * x[block].sum() / exposure if exposure else 0.0
    return poisson_log_likelihood(x, means)


def feature_gain(X, labels, feature):
    """Log quasi-likelihood ratio of one rate per block versus a single rate."""
    units = in_units(X)
    x, totals = units[:, feature], units.sum(axis=1)
    if not x.any():
        return 0.0
    one_block = np.zeros(len(labels), dtype=int)
    ratio = feature_log_likelihood(x, totals, labels) - feature_log_likelihood(x, totals, one_block)
    return ratio / dispersion(x, totals)


def objective(A, X, labels, in_use):
    """J for any set of features."""
    A = A / link_unit(A)
    one_block = np.zeros(len(labels), dtype=int)
    links = link_log_likelihood(A, labels) - link_log_likelihood(A, one_block)
    worth = sum(feature_gain(X, labels, feature) - labels.max() for feature in np.flatnonzero(in_use))
    return -links - worth


def link_unit(A):
    """The weight that counts as one link."""
    weights = A[~np.eye(len(A), dtype=bool)]
    return (weights**2).sum() / weights.sum()


def link_gain(x, A):
    """Poisson likelihood ratio of the links among the nodes with a feature, one pair of nodes at a time."""
    n = len(A)
    x = x / x[x > 0].mean() if x.any() else x
    pairs = [(i, j) for i in range(n) for j in range(i)]
    A = A - np.diag(np.diag(A))
    A = A / link_unit(A)
    degrees = A.sum(axis=1)
    all_pairs = sum(degrees[i] * degrees[j] for i, j in pairs)
    total = sum(A[i, j] for i, j in pairs)
    observed = sum(x[i] * x[j] * A[i, j] for i, j in pairs)
    expected = total * sum(x[i] * x[j] * degrees[i] * degrees[j] for i, j in pairs) / all_pairs
    if len(set(np.round(x[x > 0], 9))) > 1:
        mean = np.average(x, weights=degrees)
        dispersion = (np.average((x - mean) ** 2, weights=degrees) / mean) ** 2
        observed, expected = observed / dispersion, expected / dispersion
    return observed * np.log(observed / expected) - (observed - expected) if observed > expected * (1 + 1e-12) else 0.0
