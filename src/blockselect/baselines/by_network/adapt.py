"""ADAPT-style: features that make the links likely, with neighbours weighted by their similarity."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockselect.baselines._solvers.node_pairs import PairProducts, both_ways, linked_pairs
from blockselect.baselines.by_network.link_model import LinkModelSelector, Penalty, PenaltyAt
from blockselect.baselines.criterion import NON_NEGATIVE, POSITIVE
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse


class ADAPT(LinkModelSelector):
    """Select the features that generate the links of a network and separate strong ties from weak ones, without labels.

    This method follows the idea of adaptive unsupervised feature selection [1]_. Nodes i and j link with probability
    σ(x_iᵀ diag(s) x_j + b), and each node distributes a strength of 1 over its neighbours N(i), with more strength on
    neighbours that are similar in the selected features::

        min  (−Σ_{i<j} [A_ij log σ_ij + (1 − A_ij) log(1 − σ_ij)] + λ 1ᵀs) / |E|
             + α/n Σ_i Σ_{j∈N(i)} (P_ij d_ij + μ P_ij²),   s ∈ [0, 1], rows of P on the simplex,

    where d_ij = ‖diag(√s)(x_i − x_j)‖² / δ and δ is the mean of ‖x_i − x_j‖² over all links. The score of a feature is
    s, and ``|E|`` is the number of links. X is first divided by the mean absolute value of its non-zero entries; this
    and the divisions above make the settings independent of the size and scale of the data. The sum over pairs is taken
    over all links and a fixed sample of non-links, weighted to represent all of them. Each iteration computes P in
    closed form, by projecting each row of −d/2μ onto the simplex, and then updates s and b by L-BFGS-B within the
    bounds. Isolated nodes do not contribute to the second sum. Link weights are ignored. Reconstructed, with no claim
    of fidelity.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    binarize : bool, default=False
        Use only whether a value is non-zero. Set this for word counts, whose products are otherwise dominated by a few
        large values. Features that are never zero would all become constant, which is an error.
    neighborhood : float, default=0.1
        Weight of the differences between linked nodes. (paper: α)
    evenness : float, default=0.01
        A large value distributes the strength of a node over all of its neighbours; a small value concentrates it on
        the most similar ones. (paper: μ)
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
        Seed of the sample of non-links.

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
    .. [1] J. Li, R. Guo, C. Liu, H. Liu, "Adaptive unsupervised feature selection on attributed networks", KDD 2019.

    Examples
    --------
    >>> from blockselect import make_attributed_blocks
    >>> from blockselect.baselines.by_network.adapt import ADAPT
    >>> network = make_attributed_blocks(200, 3, random_state=0)
    >>> ADAPT(20, random_state=0).fit_transform(network.features, adjacency=network.adjacency).shape
    (200, 20)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **LinkModelSelector._parameter_constraints,
        "neighborhood": [NON_NEGATIVE],
        "evenness": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        binarize: bool = False,
        neighborhood: float = 0.1,
        evenness: float = 0.01,
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
        self.neighborhood = neighborhood
        self.evenness = evenness
        self.sparsity = sparsity
        self.exact = exact
        self.non_links_per_link = non_links_per_link
        self.max_iter = max_iter
        self.tol = tol
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _penalty(self, features: Features, adjacency: Sparse, rng: np.random.Generator) -> PenaltyAt:
        ties = Ties(features, adjacency)

        def penalty_at(scores: FloatArray) -> Penalty:
            strengths = ties.strengths(scores, self.evenness)
            slope = self.neighborhood * ties.slope(strengths)
            constant = self.neighborhood * self.evenness * float(strengths @ strengths) / features.shape[0]
            return lambda s: (float(slope @ s) + constant, slope)

        return penalty_at


class Ties:
    """Differences between linked nodes; each link is a tie of both of its ends, and ties are ordered by node."""

    def __init__(self, features: Features, adjacency: Sparse) -> None:
        links = linked_pairs(adjacency)
        self._products = PairProducts(features, links)  # (e, m)
        self._squares = features * features  # (n, m)
        nodes = both_ways(links)[:, 0]
        self.order = np.argsort(nodes, kind="stable")  # (2e,) positions in the links followed by the reversed links
        self._nodes = nodes[self.order]  # (2e,) in increasing order
        self._scale = 1.0  # δ
        self._scale = float(self._distances(np.ones(features.shape[1])).mean()) or 1.0

    def strengths(self, scores: FloatArray, evenness: float) -> FloatArray:
        """P for these scores, one entry per tie: (2e,)."""
        distances = np.tile(self._distances(scores), 2)[self.order]
        return onto_simplex(-distances / (2 * evenness), self._nodes)

    def slope(self, strengths: FloatArray) -> FloatArray:
        """Σ_i Σ_j P_ij (x_i − x_j)² / δn, the gradient of the differences with respect to the scores: (m,)."""
        n = self._squares.shape[0]
        from_both = np.empty_like(strengths)
        from_both[self.order] = strengths
        by_link = from_both.reshape(2, -1).sum(axis=0)  # P_ij + P_ji
        by_node = sum(np.bincount(end, by_link, n) for end in self._products.pairs.T)
        total = self._squares.T @ by_node - 2 * self._products.total(by_link)
        return np.asarray(np.maximum(total, 0) / (self._scale * n))

    def _distances(self, scores: FloatArray) -> FloatArray:
        """d_ij of each link: (e,)."""
        lengths, (first, second) = self._squares @ scores, self._products.pairs.T
        distances = lengths[first] + lengths[second] - 2 * self._products.affinity(scores)
        return np.asarray(np.maximum(distances, 0) / self._scale)


def onto_simplex(values: FloatArray, groups: IntArray) -> FloatArray:
    """Project each group of values onto the simplex {p ≥ 0, Σp = 1}.

    Parameters
    ----------
    values : array of shape (t,)
    groups : array of shape (t,)
        The group of each value, in increasing order.

    Returns
    -------
    array of shape (t,)
        Sums to 1 in each group.
    """
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    sizes = np.diff(np.append(starts, len(groups)))
    # Only values less than 1 below the largest remain above zero. All others are moved to 1 below it, so that
    # cumulative sums remain small enough to be exact.
    below = np.maximum(values - np.repeat(np.maximum.reduceat(values, starts), sizes), -1)
    falling = below[np.lexsort((-below, groups))]
    rank = np.arange(len(values)) - np.repeat(starts, sizes) + 1
    sums = np.cumsum(falling)
    sums -= np.repeat(sums[starts] - falling[starts], sizes)
    inside = falling * rank > sums - 1
    n_inside = np.add.reduceat(inside, starts, dtype=np.intp)
    level = (sums[starts + n_inside - 1] - 1) / n_inside
    projected = np.maximum(below - np.repeat(level, sizes), 0)
    return np.asarray(projected / np.repeat(np.add.reduceat(projected, starts), sizes))
