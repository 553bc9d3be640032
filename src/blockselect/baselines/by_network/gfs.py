"""GFS-style: features that make the links likely and from which all features can be reconstructed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.extmath import randomized_svd

from blockselect.baselines._solvers.row_sparse_regression import conjugate_gradients
from blockselect.baselines.by_network.link_model import LinkModelSelector, Penalty, PenaltyAt
from blockselect.baselines.criterion import AT_LEAST_ONE, NON_NEGATIVE
from blockselect.utils.arrays import Features, FloatArray, Sparse

_STEPS = 30  # conjugate gradient steps per iteration; the next iteration continues from the result


class GFS(LinkModelSelector):
    """Select the features that generate the links and the other features of a network, without labels.

    This method follows the idea of generative feature selection [1]_. Nodes i and j link with probability
    σ(x_iᵀ diag(s) x_j + b), and a linear map V reconstructs all features of a node from the selected ones::

        min  (−Σ_{i<j} [A_ij log σ_ij + (1 − A_ij) log(1 − σ_ij)] + λ 1ᵀs) / |E|
             + α (‖X − X diag(s) V‖² + ρ‖V‖²) / ‖X‖²,   s ∈ [0, 1].

    The score of a feature is s, and ``|E|`` is the number of links. X is first divided by the mean absolute value of
    its non-zero entries; this and both divisions above make the settings independent of the size and scale of the data.
    Without the ridge ρ, every s > 0 would be equivalent to s = 1 with a larger V. V may have a low rank, with rows in
    the span of the leading right singular vectors of X. The sum over pairs is taken over all links and a fixed sample
    of non-links, weighted to represent all of them. Each iteration updates V by conjugate gradients, and then s and b
    by L-BFGS-B within the bounds. Link weights are ignored. Reconstructed, with no claim of fidelity.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    binarize : bool, default=False
        Use only whether a value is non-zero. Set this for word counts, whose products are otherwise dominated by a few
        large values. Features that are never zero would all become constant, which is an error.
    reconstruction : float, default=0.1
        Weight of reconstructing all features from the selected ones. (paper: α)
    ridge : float, default=0.1
        Weight of the squared map, relative to the mean squared norm of the columns of X. (paper: ρ = ridge · ‖X‖²/m)
    n_components : int, default=32
        Maximum rank of the map. (paper: V)
    sparsity : float, default=1.0
        Weight of the sum of the scores, approximately the number of links that a feature must explain in addition to
        those expected by chance. (paper: λ)
    exact : bool, default=False
        Sum over all pairs of nodes, which takes time quadratic in the number of nodes.
    non_links_per_link : int, default=10
        Number of non-links sampled per link; if the network has no more non-links than that, all pairs are used.
    max_iter : int, default=50
        Maximum number of iterations.
    tol : float, default=1e-5
        Stop after an iteration that lowered the objective by no more than this fraction.
    n_neighbors : int or None, default=None
        If `fit` is given no adjacency, each node is linked to this many nearest nodes in feature space; if None, a
        missing adjacency is an error.
    random_state : int, RandomState or None, default=None
        Seed of the sample of non-links and of the singular vectors.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        s of each feature; 0 for a constant feature. (paper: s)
    scores_ : array of shape (m,)
        The criterion; if s = 1, the slope at which the objective still decreases there is added. A feature with a score
        of 0 is never selected.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    intercept_ : float
        Intercept of the link model. (paper: b)
    history_ : array of shape (`n_iter_`,)
        Objective after each iteration; it never increases.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    .. [1] X. Wei, B. Cao, P. S. Yu, "Unsupervised feature selection on networks: a generative view", AAAI 2016.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_network.gfs import GFS
    >>> network = make_attributed_blocks(200, 3, random_state=0)
    >>> GFS(20, random_state=0).fit_transform(network.features, adjacency=network.adjacency).shape
    (200, 20)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **LinkModelSelector._parameter_constraints,
        "reconstruction": [NON_NEGATIVE],
        "n_components": [AT_LEAST_ONE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        binarize: bool = False,
        reconstruction: float = 0.1,
        ridge: float = 0.1,
        n_components: int = 32,
        sparsity: float = 1.0,
        exact: bool = False,
        non_links_per_link: int = 10,
        max_iter: int = 50,
        tol: float = 1e-5,
        n_neighbors: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.binarize = binarize
        self.reconstruction = reconstruction
        self.ridge = ridge
        self.n_components = n_components
        self.sparsity = sparsity
        self.exact = exact
        self.non_links_per_link = non_links_per_link
        self.max_iter = max_iter
        self.tol = tol
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _penalty(self, features: Features, adjacency: Sparse, rng: np.random.Generator) -> PenaltyAt:
        content = Content(features, self.n_components, ridge=self.ridge, rng=rng)
        map_ = np.zeros((features.shape[1], content.target.shape[1]))

        def penalty_at(scores: FloatArray) -> Penalty:
            nonlocal map_
            map_ = content.improve(map_, scores)
            return lambda s: content.penalty(map_, s, self.reconstruction)

        return penalty_at


class Content:
    """All features as a linear map of the features weighted by their scores, V = C Wᵀ with W orthonormal.

    Then ‖X − X diag(s) V‖² = ‖X − XWWᵀ‖² + ‖XW − X diag(s) C‖² and ‖V‖ = ‖C‖, so that no m × m matrix is needed.
    """

    def __init__(self, features: Features, n_components: int, *, ridge: float, rng: np.random.Generator) -> None:
        rank = min(n_components, *features.shape)
        seed = int(rng.integers(np.iinfo(np.int32).max))
        W = randomized_svd(features, rank, power_iteration_normalizer="QR", random_state=seed)[2].T  # (m, q)
        self._X = features  # (n, m)
        self.target = features @ W  # (n, q)
        self._total = float((features * features).sum())  # ‖X‖²
        self._outside = max(self._total - float((self.target * self.target).sum()), 0.0)  # ‖X − XWWᵀ‖²
        self._ridge = ridge * self._total / features.shape[1]  # ρ

    def penalty(self, map_: FloatArray, scores: FloatArray, weight: float) -> tuple[float, FloatArray]:
        """Weighted error of a map C (m, q), and its gradient with respect to the scores."""
        X, C, scale = self._X, map_, weight / self._total
        residual = self.target - X @ (scores[:, None] * C)  # (n, q)
        error = self._outside + (residual * residual).sum() + self._ridge * (C * C).sum()
        return float(scale * error), -2 * scale * (C * (X.T @ residual)).sum(axis=1)

    def improve(self, map_: FloatArray, scores: FloatArray) -> FloatArray:
        """A map with a smaller error for these scores: steps from `map_` to the solution of (SXᵀXS + ρI) C = SXᵀXW."""
        X, s = self._X, scores[:, None]
        return conjugate_gradients(
            lambda C: s * (X.T @ (X @ (s * C))) + self._ridge * C,
            s * (X.T @ self.target),
            map_,
            diagonal=scores**2 * (X * X).sum(axis=0) + self._ridge,
            tol=1e-10,
            max_steps=_STEPS,
        )[0]
