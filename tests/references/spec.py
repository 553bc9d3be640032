"""The three criteria of SPEC from a full eigendecomposition of the normalised Laplacian, dense and literal."""

from __future__ import annotations

import numpy as np


def radial_affinity(X, width):
    return np.array([[np.exp(-((x - y) @ (x - y)) / (2 * width**2)) for y in X] for x in X])


def spec(X, W, style, k=None):
    d = W.sum(axis=1)
    L = np.diag(d) - W
    normalised = np.diag(d**-0.5) @ L @ np.diag(d**-0.5)
    λ, ξ = np.linalg.eigh(normalised)
    criterion = []
    for f in X.T:
        f_hat = np.sqrt(d) * f
        f_hat = f_hat / np.linalg.norm(f_hat)
        phi1 = sum(λ[j] * (f_hat @ ξ[:, j]) ** 2 for j in range(len(λ)))
        if style == "phi1":
            criterion.append(phi1)
        elif style == "phi2":
            criterion.append(phi1 / (1 - (f_hat @ ξ[:, 0]) ** 2))
        else:
            criterion.append(sum((2 - λ[j]) * (f_hat @ ξ[:, j]) ** 2 for j in range(1, k)))
    return np.array(criterion)
