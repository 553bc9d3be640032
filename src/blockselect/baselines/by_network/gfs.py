"""GFS-style: features that make the links likely and from which all features can be reconstructed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.utils.extmath import randomized_svd

from blockselect.arrays import Features, FloatArray, Sparse
from blockselect.baselines._solvers.logistic_links import Penalty
from blockselect.baselines.by_network.link_model import LinkModelSelector
from blockselect.baselines.constraints import AT_LEAST_ONE, NON_NEGATIVE, POSITIVE

_STEPS = 30  # of conjugate gradient to better maps, in each iteration; the next goes on from there


class GFS(LinkModelSelector):
    """Select the features that generate the links and the other features of a network, without labels.

    GFS-style, after generative feature selection [1]_. Nodes i and j link with probability σ(x_iᵀ diag(s) x_j + b), and
    a linear map V reconstructs all features of a node from the selected ones::

        min  (−Σ_{i<j} [A_ij log σ_ij + (1 − A_ij) log(1 − σ_ij)] + λ 1ᵀs) / |E|
             + α (‖X − X diag(s) V‖² + ρ‖V‖²) / ‖X‖²,   s ∈ [0, 1].

    The score of a feature is s. ``|E|`` is the number of links. X is first divided by the mean absolute value of its
    non-zero entries; that and both divisions above make the settings independent of the size and scale of the data.
    Without the ridge ρ, any s > 0 would do as well as s = 1, with a larger V. V may have a low rank, with rows in the
    span of the leading right singular vectors of X. The sum over pairs runs over all links and a fixed draw of
    non-links, weighted to stand for all of them. In turns: V by conjugate gradient, s and b by L-BFGS-B within the
    bounds. Link weights are not read. Reconstructed: no claim of fidelity.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    binarize : bool, default=False
        Look only at whether a value is zero. Affinities of counts are led by their few largest values: set it for
        counts of words. It must stay off for features that are never zero.
    reconstruction : float, default=0.1
        Weight of reconstructing all features from the selected ones. (paper: α)
    ridge : float, default=0.1
        Weight of the squared map, in mean squared lengths of a column of X. (paper: ρ = ridge · ‖X‖²/m)
    n_components : int, default=32
        Rank of the map at most. (paper: V)
    sparsity : float, default=1.0
        Weight of the sum of the scores: about how many links more than by chance a feature must explain. (paper: λ)
    exact : bool, default=False
        Sum over all pairs of nodes, in time of the square of their number.
    non_links_per_link : int, default=10
        Non-links drawn for each link; where there are no more than that, all pairs are taken.
    max_iter : int, default=50
        Turns.
    tol : float, default=1e-5
        Stop after a turn that lowered the objective by no more than this, relatively.
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link each node with this many of its nearest by the features. None: a
        missing adjacency is an error.
    random_state : int, RandomState or None, default=None
        Seeds the draw of non-links and the singular vectors.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        s of each feature; 0 for a constant one. (paper: s)
    scores_ : array of shape (m,)
        The same; where s = 1, plus how steeply the objective still falls there. A feature of score 0 is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.
    intercept_ : float
        (paper: b)
    history_ : array of shape (`n_iter_`,)
        Objective after each turn; it never rises.
    n_iter_ : int
        Turns made.

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
        "ridge": [POSITIVE],
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

    def _penalty(
        self, features: Features, adjacency: Sparse, rng: np.random.Generator
    ) -> Callable[[FloatArray], Penalty]:
        content = Content.of(features, self.n_components, ridge=self.ridge, rng=rng)
        map_ = np.zeros((features.shape[1], content.target.shape[1]))

        def penalty_at(scores: FloatArray) -> Penalty:
            nonlocal map_
            map_ = content.improve(map_, scores)
            return lambda s: content.penalty(map_, s, self.reconstruction)

        return penalty_at


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """All features as a linear map of the scored ones, V = C Wᵀ with W orthonormal.

    Then ‖X − X diag(s) V‖² = ‖X − XWWᵀ‖² + ‖XW − X diag(s) C‖², and ‖V‖ = ‖C‖: no m × m matrix is needed.
    """

    features: Features  # (n, m) X
    target: FloatArray  # (n, q) XW
    outside: float  # ‖X − XWWᵀ‖², which no map of this rank can reconstruct
    ridge: float  # ρ
    total: float  # ‖X‖²

    @classmethod
    def of(cls, features: Features, n_components: int, *, ridge: float, rng: np.random.Generator) -> Self:
        rank = min(n_components, *features.shape)
        seed = int(rng.integers(np.iinfo(np.int32).max))
        W = randomized_svd(features, rank, power_iteration_normalizer="QR", random_state=seed)[2].T  # (m, q)
        target = features @ W
        total = float((features * features).sum())
        outside = max(total - float((target * target).sum()), 0.0)
        return cls(features, target, outside, ridge * total / features.shape[1], total)

    def penalty(self, map_: FloatArray, scores: FloatArray, weight: float) -> tuple[float, FloatArray]:
        """Weighted error of a map C (m, q), and its gradient by the scores."""
        X, C, scale = self.features, map_, weight / self.total
        residual = self.target - X @ (scores[:, None] * C)  # (n, q)
        error = self.outside + (residual * residual).sum() + self.ridge * (C * C).sum()
        return float(scale * error), -2 * scale * (C * (X.T @ residual)).sum(axis=1)

    def improve(self, map_: FloatArray, scores: FloatArray) -> FloatArray:
        """A map with a smaller error for these scores: (SXᵀXS + ρI) C = SXᵀXW, from the map there was."""
        X, s, shape = self.features, scores[:, None], map_.shape
        diagonal = scores**2 * (X * X).sum(axis=0) + self.ridge

        def normal_equations(flat: FloatArray) -> FloatArray:
            C = flat.reshape(shape)
            return np.ravel(s * (X.T @ (X @ (s * C))) + self.ridge * C)

        def by_diagonal(flat: FloatArray) -> FloatArray:
            return np.ravel(flat.reshape(shape) / diagonal[:, None])

        square = (map_.size, map_.size)
        improved, _ = cg(
            LinearOperator(square, matvec=normal_equations, dtype=np.float64),
            (s * (X.T @ self.target)).ravel(),
            x0=map_.ravel(),
            rtol=1e-10,
            maxiter=_STEPS,
            M=LinearOperator(square, matvec=by_diagonal, dtype=np.float64),
        )
        return improved.reshape(shape)  # type: ignore[no-any-return]
