"""How many blocks a graph has: as many as its spectrum shows above chance and as pay for their description."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.embedding import LARGE, degree_normalized, leading_eigenvectors, one_thread
from blockselect.blockmodels.model import adjacency_of
from blockselect.errors import ParameterError
from blockselect.parameters import as_generator

MAX_BLOCKS = 50  # counted unless asked for more; where communities hold communities, it decides the level
_LOOKS = (6, 16)  # eigenvalues computed first; more, which are slow within the noise, only if all are beyond it
_LAST_LOOK = 48  # or as many as blocks: eigenvalues of small cliques may come before those of blocks
_FLIPS = 3  # graphs with random signs; the mean of their largest eigenvalues is the noise
_TOLERANCE = 3e-3  # of eigenvectors; the eigenvalues, which decide, are far closer, and exact ones take ten times
_LARGE_TOLERANCE = 1e-2  # the same in large graphs, where the noise hardly varies and one draw of it is enough
_BEYOND = 1 + 1e-6  # signs change nothing in a tree: equal but for rounding is not beyond
_LABEL_SHARE = 0.5  # share of the blocks' entropy that counts as cost


@dataclass(frozen=True, slots=True, eq=False)
class BlockCount:
    """The number of blocks of a graph, and why."""

    n_blocks: int  # at least 2 (1 if there is one node only) (paper: k)
    eigenvalues: FloatArray  # (s,) those of the normalised graph that stand out, largest magnitude first
    noise: float  # magnitude that eigenvalues of such a graph reach by chance
    description_lengths: FloatArray  # (s,) nats for 1, 2, … s blocks, less those for one (at least this one)
    max_blocks: int  # the most that were allowed
    limit: int  # the most that could be counted: max_blocks, or the root of the number of nodes
    vectors: FloatArray | None = None  # (n, s) of these eigenvalues; None where not the graph as given was decomposed

    @property
    def n_shown(self) -> int:
        """Blocks that the graph shows: 1 where it shows none apart, and two are counted all the same."""
        return 1 + int(np.argmin(self.description_lengths))

    def reason_for(self, n_blocks: int) -> str:
        """Why a block model of this graph has so many blocks, in words: features may have shown more, or fewer."""
        allows = f"max_blocks={self.max_blocks}" if self.limit == self.max_blocks else "the root of the number of nodes"
        if n_blocks != self.n_blocks:
            compared = "more" if n_blocks > self.n_blocks else "fewer"
            by_links = f"{compared} than the {self.n_blocks} that are counted by the links alone"
            at_limit = f", and {allows} allows no more" if n_blocks == self.limit else ""
            return f"links and features together show {by_links}{at_limit}"
        if self.n_shown < 2:
            return "the fewest there can be, as the links alone show no blocks apart"
        if n_blocks == self.limit:
            return f"as many as {allows} allows, so there may be more"
        return "as many as the links show beyond chance"


AS_GIVEN = "as given"  # the reason where the user brought the blocks


def reason_for_asked(n_blocks: int, asked: int) -> str:
    """Why a block model has so many blocks, where the user said how many: some may have stayed empty."""
    return "as asked for" if n_blocks == asked else f"the others of the {asked} that were asked for stayed empty"


def choose_n_blocks(adjacency: Any, *, max_blocks: int = MAX_BLOCKS, rng: np.random.Generator | int) -> int:
    """The number of blocks alone; see :func:`count_blocks`."""
    return count_blocks(adjacency, max_blocks=max_blocks, rng=rng).n_blocks


def count_blocks(adjacency: Any, *, max_blocks: int = MAX_BLOCKS, rng: np.random.Generator | int) -> BlockCount:
    """Count the blocks of a graph without labels.

    Blocks show as eigenvalues of (D + τI)^-½ A (D + τI)^-½ (τ the mean degree), positive where nodes link within
    their block, negative where they link to others. Those count that are larger in magnitude than the largest of the
    same graph with the signs of its links drawn at random, which keeps degrees and weights and leaves no blocks
    (sign-flip parallel analysis [1]_). Among 1 to that many blocks, the number with the shortest description is
    taken: the likelihood of the degree-corrected block model with a penalty for densities and labels, a corrected
    BIC [2]_.

    Blocks of fewer than √n / 2 nodes are not counted: smaller components are set aside, then smaller clusters that
    hang on the rest, unless that would leave half of the nodes or links or fewer: a few hubs that hold all others
    together stay. Weights w are compared as log(1 + w / median), so that a few huge ones do not hide the blocks;
    self-loops are left out.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n, n), or AttributedGraph
        The graph, read as :func:`blockselect.check_attributed_graph` reads it. (paper: A)
    max_blocks : int, default=50
        Most blocks to count, at least 2; nor are there more than √n, or 2 for the smallest graphs. Where communities
        hold communities, the limit decides at which level they count.
    rng : numpy.random.Generator or int
        Draws the signs.

    Returns
    -------
    BlockCount
        At least two blocks, even where the graph shows none.

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
    with one_thread():  # of small matrices alone, which threads only slow down
        values, vectors, noise = _beyond_noise(graph, limit, rng)
        of_graph = vectors[:, :limit] if _is_as_given(graph, adjacency) else None
        large = _in_large_clusters(vectors, least_size)
        if not large.all() and large.mean() > 0.5:
            rest = sparse.csr_array(graph[large][:, large])
            if rest.sum() > graph.sum() / 2:
                graph = rest
                values, vectors, noise = _beyond_noise(graph, limit, rng)
        lengths = _description_lengths(graph, vectors[:, :limit])
    n_blocks = min(n, max(2, 1 + int(np.argmin(lengths))))
    return BlockCount(n_blocks, values[:limit], noise, lengths, max_blocks, limit, of_graph)


def _is_as_given(graph: Sparse, adjacency: Sparse) -> bool:
    """Whether both have the same normalised matrix: equal weights, and no loop or component was left out."""
    same_links = graph.shape == adjacency.shape and graph.nnz == adjacency.nnz
    return bool(same_links and adjacency.data.min() == adjacency.data.max())


def _compare_weights(adjacency: Sparse) -> Sparse:
    """Without self-loops, weights as log(1 + w / median)."""
    links = sparse.triu(adjacency, 1, format="coo")
    if links.nnz:
        logs = np.log(links.data)
        links.data = np.logaddexp(0, logs - np.median(logs))  # no ratio of weights overflows
    return sparse.csr_array(links + links.T)


def _without_small_components(graph: Sparse, least_size: float) -> Sparse:
    """Where all are small, all stay."""
    component = connected_components(graph, directed=False)[1]
    large = np.bincount(component)[component] >= least_size
    return sparse.csr_array(graph[large][:, large]) if large.any() and not large.all() else graph


def _noise(normalized: Sparse, rng: np.random.Generator) -> float:
    """The magnitude that eigenvalues reach once signs are random: of the largest, the mean over a few draws."""
    links = sparse.triu(normalized, 1, format="coo")
    numbers = sparse.coo_array((np.arange(1, links.nnz + 1), links.coords), links.shape)
    both = sparse.csr_array(numbers + numbers.T)  # of each link, in both directions
    signs = np.array([-1, 1], dtype=links.dtype)
    largest = []
    for _ in range(_FLIPS if links.shape[0] <= LARGE else 1):
        drawn = links.data * rng.choice(signs, links.nnz)
        signed = sparse.csr_array((drawn[both.data - 1], both.indices, both.indptr), shape=links.shape)
        values, _ = leading_eigenvectors(signed, count=1, tol=_tolerance(links))
        largest.append(np.abs(values[0]))
    return float(np.mean(largest))


def _beyond_noise(graph: Sparse, limit: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, float]:
    """Eigenvalues beyond the noise, their vectors, and the noise."""
    normalized, beyond_by = degree_normalized(graph), _BEYOND
    looks = [*(look for look in _LOOKS if look < limit), limit, *([_LAST_LOOK] if limit < _LAST_LOOK else [])]
    if graph.shape[0] > LARGE:  # vectors of half the size, one look less; errors of the eigenvalues are no blocks
        normalized, beyond_by, looks = normalized.astype(np.float32), 1 + _LARGE_TOLERANCE, looks[1:]
    noise = _noise(normalized, rng)
    for look in looks:
        values, vectors = leading_eigenvectors(normalized, count=look, tol=_tolerance(normalized))
        beyond = np.abs(values) > beyond_by * noise
        if not beyond.all():
            break
    return values[beyond].astype(np.float64), vectors[:, beyond], noise


def _tolerance(graph: Sparse) -> float:
    return _TOLERANCE if graph.shape[0] <= LARGE else _LARGE_TOLERANCE


def _in_large_clusters(vectors: FloatArray, least_size: float) -> NDArray[np.bool_]:
    """Whether each node is in a cluster of enough nodes."""
    labels = _labels(vectors)
    large: NDArray[np.bool_] = np.bincount(labels)[labels] >= least_size
    return large


def _description_lengths(graph: Sparse, vectors: FloatArray) -> FloatArray:
    """Nats to describe the graph by 1, 2, … blocks of its first 1, 2, … eigenvectors, less those by one block."""
    scaled = sparse.triu(graph / graph.data.mean(), 1, format="coo")  # as many nats a link as without weights
    return np.array([0.0, *(_description_length(scaled, vectors[:, :k]) for k in range(2, vectors.shape[1] + 1))])


def _description_length(links: sparse.coo_array, vectors: FloatArray) -> float:
    """−(w/2) Σ p_ab log(p_ab / p_a p_b) + k(k + 1)/4 log(w/2) + n/2 entropy of the block sizes, p_ab = E_ab / w."""
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
    """Blocks of k eigenvectors without any random start: turn them until k unlike nodes lie on the axes.

    The nodes are those that a pivoted QR decomposition takes first (Damle, Minden, Ying 2019).
    """
    if vectors.shape[1] == 0:
        return np.zeros(len(vectors), dtype=np.intp)
    left, _, right = np.linalg.svd(vectors[_unlike_rows(vectors)].T)
    labels: IntArray = np.argmax(np.abs(vectors @ (left @ right)), axis=1)
    return labels


def _unlike_rows(vectors: FloatArray) -> list[int]:
    """As many rows as there are columns, each the longest once those before it are projected out."""
    left = np.sum(vectors * vectors, axis=1)  # squared lengths
    chosen: list[int] = []
    directions = np.zeros((0, vectors.shape[1]), dtype=vectors.dtype)
    for _ in range(vectors.shape[1]):
        chosen.append(int(np.argmax(left)))
        new = vectors[chosen[-1]]
        for _ in range(2):  # the first time leaves rounding
            new = new - (directions @ new) @ directions
        new = new / max(float(np.linalg.norm(new)), float(np.finfo(vectors.dtype).tiny))
        directions = np.vstack([directions, new])
        left -= (vectors @ new) ** 2
        left[chosen[-1]] = -np.inf
    return chosen
