"""count_blocks: the number of blocks of a graph, from its eigenvalues and from description lengths."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from blockselect.blockmodels.embedding import LARGE, degree_normalized, leading_eigenvectors
from blockselect.blockmodels.model import adjacency_of
from blockselect.utils.arrays import FloatArray, IntArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_generator
from blockselect.utils.threads import one_thread

MAX_BLOCKS = 50  # default limit; with communities inside communities, it decides which level is counted
_FIRST_COUNTS = (6, 16)  # numbers of eigenvalues computed first; more are computed only if all exceed the noise
_LAST_COUNT = 48  # eigenvalues computed last, even for fewer blocks, as those of small cliques may be larger
_FLIPS = 3  # graphs with random signs; the mean of their largest eigenvalues is the noise
_TOLERANCE = 3e-3  # of eigenvectors; eigenvalues, which matter, are much more precise; 0 would take ten times as long
_LARGE_TOLERANCE = 1e-2  # the same for large graphs, where the noise hardly varies, so that one graph is enough
_BEYOND = 1 + 1e-6  # random signs do not change the eigenvalues of a tree, so they must not exceed the noise
_LABEL_SHARE = 0.5  # share of the entropy of the labels that counts as cost


@dataclass(frozen=True, slots=True, eq=False)
class BlockCount:
    """The number of blocks of a graph, and the reason for it."""

    n_blocks: int  # at least 2, or 1 for a single node (paper: k)
    eigenvalues: FloatArray  # (s,) eigenvalues of the normalised graph above the noise, largest magnitude first
    noise: float  # magnitude that eigenvalues of such a graph reach by chance
    description_lengths: FloatArray  # (s,) nats for 1, 2, …, s blocks, minus the nats for one block
    max_blocks: int  # the maximum allowed
    limit: int  # the maximum possible: max_blocks, or the square root of the number of nodes if it is smaller
    vectors: FloatArray | None = None  # (n, s) of the eigenvalues; None if nodes were removed or weights changed

    @property
    def n_shown(self) -> int:
        """Number of blocks that the links show; 1 if they show none, although selectors then use 2."""
        return 1 + int(np.argmin(self.description_lengths))

    def reason_for(self, n_blocks: int) -> str:
        """The reason, as text, why a block model of this graph has this number of blocks."""
        allows = (
            f"max_blocks={self.max_blocks}"
            if self.limit == self.max_blocks
            else "the square root of the number of nodes"
        )
        if n_blocks != self.n_blocks:
            compared = "more" if n_blocks > self.n_blocks else "fewer"
            by_links = f"{compared} than the {self.n_blocks} found from the links only"
            at_limit = f", and {allows} is the limit" if n_blocks == self.limit else ""
            return f"links and features together support {by_links}{at_limit}"
        if self.n_shown < 2:
            return "the minimum, because the links show no block structure"
        if n_blocks == self.limit:
            return f"the most that {allows} allows, so there may be more"
        return "as many as the links support beyond chance"


AS_GIVEN = "as given"  # the reason if the user passed the blocks


def reason_for_asked(n_blocks: int, asked: int) -> str:
    """The reason for the number of blocks if the user requested a number; some blocks may be empty."""
    return "as requested" if n_blocks == asked else f"some of the {asked} requested blocks are empty"


def count_blocks(adjacency: Any, *, max_blocks: int = MAX_BLOCKS, rng: np.random.Generator | int) -> BlockCount:
    """Estimate the number of blocks of a graph.

    Blocks appear as large eigenvalues of (D + τI)^-½ A (D + τI)^-½, with τ the mean degree: positive ones for
    assortative blocks, negative ones for disassortative blocks. We count the eigenvalues that exceed in magnitude the
    largest one after the signs of the links are flipped at random, which keeps degrees and weights but destroys the
    blocks (sign-flip parallel analysis [1]_). Up to this number, we choose the number of blocks with the shortest
    description length: the likelihood of the degree-corrected block model with a penalty for densities and labels, a
    corrected BIC [2]_.

    Blocks of fewer than √n / 2 nodes are not counted. Smaller components are removed first, and then smaller clusters,
    unless at most half of the nodes or links would remain, as with a few hubs that connect all other nodes. Weights w
    are transformed to log(1 + w / median), so that a few large weights do not hide the blocks. Self-loops are ignored.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, n), or AttributedGraph
        The graph, in any form that :func:`blockselect.check_attributed_graph` accepts. (paper: A)
    max_blocks : int, default=50
        Maximum number of blocks, at least 2. The number is also at most √n (2 for the smallest graphs). With
        communities inside communities, the limit decides which level is counted.
    rng : numpy.random.Generator or int
        Generator or seed of the random signs.

    Returns
    -------
    BlockCount
        It has at least two blocks, even if the graph shows none.

    References
    ----------
    .. [1] D. Hong, Y. Sheng, E. Dobriban. Selecting the number of components in PCA via random signflips. 2020.
    .. [2] J. Hu, H. Qin, T. Yan, Y. Zhao. Corrected Bayesian information criterion for stochastic block models.
       Journal of the American Statistical Association, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from blockselect import make_attributed_blocks
    >>> planted = make_attributed_blocks(500, 5, random_state=0)
    >>> count_blocks(planted.adjacency, rng=np.random.default_rng(0)).n_blocks
    5
    """
    if max_blocks < 2:
        raise ParameterError("max_blocks", f"is {max_blocks}; expected at least 2.")
    rng = as_generator(rng)
    adjacency = adjacency_of(adjacency)
    n = adjacency.shape[0]
    least_size, limit = sqrt(n) / 2, min(max_blocks, max(2, isqrt(n)))
    graph = _without_small_components(_compare_weights(adjacency), least_size)
    if graph.nnz == 0:
        return BlockCount(min(2, n), np.zeros(0), 0.0, np.zeros(1), max_blocks, limit)
    with one_thread():  # several threads would slow down products of small matrices
        values, vectors, noise = _beyond_noise(graph, limit, rng)
        of_graph = vectors[:, :limit] if _has_same_normalized_matrix(graph, adjacency) else None
        labels = _labels(vectors)
        large = np.bincount(labels)[labels] >= least_size
        if not large.all() and large.mean() > 0.5:
            rest = sparse.csr_array(graph[large][:, large])
            if rest.sum() > graph.sum() / 2:
                graph = rest
                values, vectors, noise = _beyond_noise(graph, limit, rng)
        lengths = _description_lengths(graph, vectors[:, :limit])
    n_blocks = min(n, max(2, 1 + int(np.argmin(lengths))))
    return BlockCount(n_blocks, values[:limit], noise, lengths, max_blocks, limit, of_graph)


def _has_same_normalized_matrix(graph: Sparse, adjacency: Sparse) -> bool:
    """Whether all weights of the adjacency matrix are equal, and no loop or component was left out of the graph."""
    same_links = graph.shape == adjacency.shape and graph.nnz == adjacency.nnz
    return bool(same_links and adjacency.data.min() == adjacency.data.max())


def _compare_weights(adjacency: Sparse) -> Sparse:
    """The graph without self-loops and with weights log(1 + w / median)."""
    links = sparse.triu(adjacency, 1, format="coo")
    if links.nnz:
        logs = np.log(links.data)
        links.data = np.logaddexp(0, logs - np.median(logs))  # ratios of weights cannot overflow
    return sparse.csr_array(links + links.T)


def _without_small_components(graph: Sparse, least_size: float) -> Sparse:
    """The graph without its small components, unless all components are small."""
    component = connected_components(graph, directed=False)[1]
    large = np.bincount(component)[component] >= least_size
    return sparse.csr_array(graph[large][:, large]) if large.any() and not large.all() else graph


def _noise(normalized: Sparse, rng: np.random.Generator) -> float:
    """The largest magnitude of an eigenvalue, averaged over a few draws of random signs."""
    links = sparse.triu(normalized, 1, format="coo")
    numbers = sparse.coo_array((np.arange(1, links.nnz + 1), links.coords), links.shape)
    both = sparse.csr_array(numbers + numbers.T)  # the index of each link, listed in both directions
    signs = np.array([-1, 1], dtype=links.dtype)
    largest = []
    for _ in range(_FLIPS if links.shape[0] <= LARGE else 1):
        drawn = links.data * rng.choice(signs, links.nnz)
        signed = sparse.csr_array((drawn[both.data - 1], both.indices, both.indptr), shape=links.shape)
        values, _ = leading_eigenvectors(signed, count=1, tol=_tolerance(links))
        largest.append(np.abs(values[0]))
    return float(np.mean(largest))


def _beyond_noise(graph: Sparse, limit: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float]:
    """The eigenvalues above the noise, their eigenvectors, and the noise."""
    normalized, beyond_by = degree_normalized(graph), _BEYOND
    counts = [*(count for count in _FIRST_COUNTS if count < limit), limit]
    counts += [_LAST_COUNT] if limit < _LAST_COUNT else []
    if graph.shape[0] > LARGE:  # single precision, one count fewer, and a margin for errors of the eigenvalues
        normalized, beyond_by, counts = normalized.astype(np.float32), 1 + _LARGE_TOLERANCE, counts[1:]
    noise = _noise(normalized, rng)
    for count in counts:
        values, vectors = leading_eigenvectors(normalized, count=count, tol=_tolerance(normalized))
        beyond = np.abs(values) > beyond_by * noise
        if not beyond.all():
            break
    return values[beyond].astype(np.float64), vectors[:, beyond], noise


def _tolerance(graph: Sparse) -> float:
    return _TOLERANCE if graph.shape[0] <= LARGE else _LARGE_TOLERANCE


def _description_lengths(graph: Sparse, vectors: FloatArray) -> FloatArray:
    """Description lengths (nats) of 1, 2, … blocks, found from that many eigenvectors, minus that of one block."""
    scaled = sparse.triu(graph / graph.data.mean(), 1, format="coo")  # a link of mean weight counts as one
    return np.array([0.0, *(_description_length(scaled, vectors[:, :k]) for k in range(2, vectors.shape[1] + 1))])


def _description_length(links: sparse.coo_array, vectors: FloatArray) -> float:
    """−½ Σ_ab w_ab log(w_ab w / e_a e_b) + ¼ k(k + 1) log(w / 2) + ½ n H(s / n), as in docs/method.md."""
    n, k = vectors.shape
    labels = _labels(vectors)
    ends = labels[links.row] * k + labels[links.col]
    half = np.bincount(ends, weights=links.data, minlength=k * k).reshape(k, k)
    weight = half + half.T  # (paper: Fᵀ A F)
    total, of_block = weight.sum(), weight.sum(axis=1)
    joint = weight[weight > 0]
    information = np.sum(joint * np.log(joint * total / np.outer(of_block, of_block)[weight > 0])) / 2
    sizes = np.bincount(labels)
    shares = sizes[sizes > 0] / n
    entropy = -n * np.sum(shares * np.log(shares))
    return float(-information + k * (k + 1) / 4 * np.log(total / 2) + _LABEL_SHARE * entropy)


def _labels(vectors: FloatArray) -> IntArray:
    """Blocks from k eigenvectors, without randomness: rotate them so that k dissimilar nodes lie near the axes.

    These nodes are the first pivots of a QR decomposition (Damle, Minden and Ying, 2019).
    """
    if vectors.shape[1] == 0:
        return np.zeros(len(vectors), dtype=np.intp)
    left, _, right = np.linalg.svd(vectors[_unlike_rows(vectors)].T)
    labels: IntArray = np.argmax(np.abs(vectors @ (left @ right)), axis=1)
    return labels


def _unlike_rows(vectors: FloatArray) -> list[int]:
    """Choose one row per column: each time the longest row, after projecting out the rows chosen before."""
    left = np.sum(vectors * vectors, axis=1)  # squared lengths
    chosen: list[int] = []
    directions = np.zeros((0, vectors.shape[1]), dtype=vectors.dtype)
    for _ in range(vectors.shape[1]):
        chosen.append(int(np.argmax(left)))
        new = vectors[chosen[-1]]
        for _ in range(2):  # the second pass removes rounding errors of the first
            new = new - (directions @ new) @ directions
        new = new / max(float(np.linalg.norm(new)), float(np.finfo(vectors.dtype).tiny))
        directions = np.vstack([directions, new])
        left -= (vectors @ new) ** 2
        left[chosen[-1]] = -np.inf
    return chosen
