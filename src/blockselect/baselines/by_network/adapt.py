"""ADAPT-style: features that make the links likely, with neighbours weighted by how alike they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.baselines._solvers.logistic_links import Penalty
from blockselect.baselines._solvers.node_pairs import PairProducts, linked_pairs
from blockselect.baselines.by_network.link_model import LinkModelSelector
from blockselect.baselines.constraints import NON_NEGATIVE, POSITIVE


class ADAPT(LinkModelSelector):
    """Select the features that generate the links of a network and separate strong ties from weak ones, without labels.

    ADAPT-style, after adaptive unsupervised feature selection [1]_. Nodes i and j link with probability
    σ(x_iᵀ diag(s) x_j + b), and each node spreads a strength of 1 over the nodes N(i) it is linked with, more on those
    that are alike in the selected features::

        min  (−Σ_{i<j} [A_ij log σ_ij + (1 − A_ij) log(1 − σ_ij)] + λ 1ᵀs) / |E|
             + α/n Σ_i Σ_{j∈N(i)} (P_ij d_ij + μ P_ij²),   s ∈ [0, 1], rows of P on the simplex,

    where d_ij = ‖diag(√s)(x_i − x_j)‖² / δ and δ is the mean of ‖x_i − x_j‖² over all links. The score of a feature is
    s. ``|E|`` is the number of links. X is first divided by the mean absolute value of its non-zero entries; that and
    the divisions above make the settings independent of the size and scale of the data. The sum over pairs runs over
    all links and a fixed draw of non-links, weighted to stand for all of them. In turns: P in closed form, each row of
    −d/2μ projected onto the simplex; s and b by L-BFGS-B within the bounds. A node without links has no row of P. Link
    weights are not read. Reconstructed: no claim of fidelity.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    binarize : bool, default=False
        Look only at whether a value is zero. Affinities of counts are led by their few largest values: set it for
        counts of words. It must stay off for features that are never zero.
    neighborhood : float, default=0.1
        Weight of the differences between linked nodes. (paper: α)
    evenness : float, default=0.01
        How evenly a node spreads its strength: large, over all it is linked with; small, on the most alike. (paper: μ)
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
        Seeds the draw of non-links.

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

    def _penalty(
        self, features: Features, adjacency: Sparse, rng: np.random.Generator
    ) -> Callable[[FloatArray], Penalty]:
        ties = Ties.of(features, adjacency)

        def penalty_at(scores: FloatArray) -> Penalty:
            strengths = ties.strengths(scores, self.evenness)
            slope = self.neighborhood * ties.slope(strengths)
            constant = self.neighborhood * self.evenness * float(strengths @ strengths) / ties.n_nodes
            return lambda s: (float(slope @ s) + constant, slope)

        return penalty_at


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """Differences between linked nodes, each link met from both ends, ordered by node."""

    products: PairProducts  # (e, m) of the links, each once
    squares: Features  # (n, m) x²
    nodes: IntArray  # (2e,) whose tie it is, rising
    order: IntArray  # (2e,) where it stands among the links and the links turned around
    scale: float  # δ

    @classmethod
    def of(cls, features: Features, adjacency: Sparse) -> Self:
        links = linked_pairs(adjacency)
        nodes = links.both_ways().first
        order = np.argsort(nodes, kind="stable")
        ties = cls(PairProducts.of(features, links), features * features, nodes[order], order, 1.0)
        mean = float(ties._distances(np.ones(features.shape[1])).mean())
        return cls(ties.products, ties.squares, ties.nodes, ties.order, mean if mean > 0 else 1.0)

    @property
    def n_nodes(self) -> int:
        return int(self.squares.shape[0])

    def strengths(self, scores: FloatArray, evenness: float) -> FloatArray:
        """P for these scores, one entry a tie: (2e,)."""
        distances = np.tile(self._distances(scores), 2)[self.order]
        return onto_simplex(-distances / (2 * evenness), self.nodes)

    def slope(self, strengths: FloatArray) -> FloatArray:
        """Σ_i Σ_j P_ij (x_i − x_j)² / δn, the gradient of the differences by the scores: (m,)."""
        pairs, n_links = self.products.pairs, len(self.products.pairs)
        from_both = np.empty_like(strengths)
        from_both[self.order] = strengths
        by_link = from_both[:n_links] + from_both[n_links:]  # P_ij + P_ji
        by_node = np.bincount(pairs.first, by_link, self.n_nodes) + np.bincount(pairs.second, by_link, self.n_nodes)
        total = self.squares.T @ by_node - 2 * self.products.total(by_link)
        return np.asarray(np.maximum(total, 0) / (self.scale * self.n_nodes))

    def _distances(self, scores: FloatArray) -> FloatArray:
        """d_ij of each link: (e,)."""
        lengths, pairs = self.squares @ scores, self.products.pairs
        distances = lengths[pairs.first] + lengths[pairs.second] - 2 * self.products.affinity(scores)
        return np.asarray(np.maximum(distances, 0) / self.scale)


def onto_simplex(values: FloatArray, groups: IntArray) -> FloatArray:
    """The nearest point of the simplex {p ≥ 0, Σp = 1} for each group of values.

    Parameters
    ----------
    values : array of shape (t,)
    groups : array of shape (t,)
        The group of each value, rising.

    Returns
    -------
    array of shape (t,)
        Sums to 1 in each group.
    """
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    sizes = np.diff(np.append(starts, len(groups)))
    # Only what lies less than 1 below the largest stays above zero. The rest may as well lie 1 below, and then running
    # sums stay small enough to be exact.
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
