"""Laplacian of an affinity: how rough each feature is along it, against how much it varies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.graphs.affinity import RadialAffinity
from blockselect.graphs.column_statistics import column_inner_products, constant_columns, mean_and_variance


@dataclass(frozen=True, slots=True, eq=False)
class LaplacianForms:
    """Quadratic forms of each feature f, for an affinity W with degrees D = diag(W1) and Laplacian L = D − W."""

    degrees: FloatArray  # (n,)
    roughness: FloatArray  # (m,) fᵀLf = Σ_{i<j} W_ij (f_i − f_j)²
    mean: FloatArray  # (m,) fᵀD1 / 1ᵀD1
    variance: FloatArray  # (m,) f̃ᵀDf̃, f̃ = f − mean
    constant: NDArray[np.bool_]  # (m,) one value on all nodes that have any affinity

    @property
    def energy(self) -> FloatArray:
        """fᵀDf: (m,)."""
        return np.asarray(self.variance + self.mean**2 * self.degrees.sum())

    def ratio_to(self, scale: FloatArray) -> FloatArray:
        """Roughness over `scale` (m,); NaN for a constant feature."""
        defined = ~self.constant & (scale > 0)
        ratio: FloatArray = np.divide(self.roughness, scale, out=np.full(len(scale), np.nan), where=defined)
        return ratio


def laplacian_forms(features: Features, affinity: Sparse | RadialAffinity) -> LaplacianForms:
    """The forms of every feature: one sparse product, or one pass over all pairs of nodes."""
    if isinstance(affinity, RadialAffinity):
        degrees, roughness = affinity.degrees_and_roughness()
    else:
        degrees = np.asarray(affinity.sum(axis=1)).ravel()
        roughness = _roughness(features, affinity)
    mean, variance = mean_and_variance(features, degrees)
    linked = degrees > 0
    constant = constant_columns(features if linked.all() else features[linked])
    return LaplacianForms(degrees, roughness, mean, variance * degrees.sum(), constant)


def laplacian_criterion(features: Features, affinity: Sparse | RadialAffinity) -> FloatArray:
    """f̃ᵀLf̃ / f̃ᵀDf̃ of each feature, small is good; NaN where it is not defined: (m,)."""
    forms = laplacian_forms(features, affinity)
    return forms.ratio_to(forms.variance)


def _roughness(features: Features, affinity: Sparse) -> FloatArray:
    # The diagonal cancels in every difference; left in, rounding would hide affinities far smaller than it.
    others = sparse.csr_array(affinity - sparse.diags_array(affinity.diagonal()))
    degrees = np.asarray(others.sum(axis=1)).ravel()
    columns = features.astype(np.float64, copy=False)
    if sparse.issparse(columns):
        squares = columns.multiply(columns).T @ degrees
    else:
        columns = columns - columns.mean(axis=0)  # no difference changes, and large means lose no digits
        squares = degrees @ columns**2
    roughness: FloatArray = np.maximum(squares - column_inner_products(columns, others @ columns), 0)
    return roughness
