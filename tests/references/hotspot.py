"""Hotspot's Z as sums over pairs of nodes, one feature at a time, dense and literal."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def hotspot_z(X, A, model):
    depth = X.sum(axis=1)
    values = []
    for f in X.T:
        if f.min() == f.max():
            values.append(np.nan)
            continue
        x, mean, variance = NULLS[model](f, depth)
        standard = [(a - b) / c**0.5 if c > 0 else 0 for a, b, c in zip(x, mean, variance, strict=True)]
        pairs = [(i, j) for i in range(len(A)) for j in range(i + 1, len(A))]
        shared = sum(A[i, j] * standard[i] * standard[j] for i, j in pairs)
        values.append(shared / sum(A[i, j] ** 2 for i, j in pairs) ** 0.5)
    return np.array(values)


def bernoulli(f, depth):
    x = (f > 0).astype(float)
    some = depth > 0
    logs = np.log10(depth[some])
    edges = np.quantile(logs, np.linspace(0, 1, 31))
    edges = np.array([edge for edge, before in zip(edges, [-np.inf, *edges], strict=False) if edge > before + 1e-10])
    points = []
    for number, (low, high) in enumerate(pairwise(edges)):
        inside = (logs <= high + 1e-10) & ((logs > low + 1e-10) | (number == 0))
        share = (x[some][inside].sum() + 1) / (inside.sum() + 2)
        points.append(((low + high) / 2, np.log(share / (1 - share))))
    slope, intercept = np.polyfit(*zip(*points, strict=True), 1)
    p = np.zeros(len(x))
    p[some] = 1 / (1 + np.exp(-(intercept + slope * logs)))
    return x, p, p * (1 - p)


def danb(f, depth):
    mean = f.sum() * depth / depth.sum()
    excess = ((f - mean) ** 2).sum() - f.sum()
    size = (mean**2).sum() / excess if excess > 0 else 1e9
    return f, mean, mean * (1 + mean / size)


def normal(f, depth):
    design = np.column_stack([np.ones(len(f)), depth])
    mean = design @ np.linalg.lstsq(design, f, rcond=None)[0]
    return f, mean, np.full(len(f), np.mean((f - mean) ** 2))


NULLS = {"bernoulli": bernoulli, "danb": danb, "normal": normal}
