"""Held-out links: are two nodes with a held-out link more similar in the selected features than two without a link?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_random_state

from blockselect.evaluation.protocol import Scores, SelectionProtocol, check_seeds, count_zero_rows, selected_rows
from blockselect.inputs.adjacency import check_adjacency
from blockselect.inputs.attributed import AttributedGraph
from blockselect.utils.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_share

SHARE = 0.1
_MAX_PAIRS = 10_000  # held-out links per run, and equally many pairs without a link


@dataclass(frozen=True, slots=True, eq=False)
class HiddenLinks:
    """A network whose links are divided into links that methods see and held-out links to predict."""

    kept: Sparse  # (n, n) symmetric, self-loops included
    first: IntArray  # (h,) one end of each held-out link
    second: IntArray  # (h,) the other end, which has the larger index

    @property
    def all_links(self) -> Sparse:
        """All links, kept and held out, each once, above the diagonal."""
        hidden = sparse.csr_array((np.ones(len(self.first)), (self.first, self.second)), shape=self.kept.shape)
        return sparse.csr_array(sparse.triu(self.kept, k=1)) + hidden


@dataclass(frozen=True, slots=True, eq=False)
class LinkScores(Scores):
    """Area under the ROC curve, one value per run."""

    aucs: FloatArray  # (n_runs,)

    @property
    def measures(self) -> dict[str, FloatArray]:
        return {"auc": self.aucs}


class LinkPrediction(SelectionProtocol):
    """Holds out one tenth of the links and predicts them."""

    titles: ClassVar = {"auc": "AUC"}
    needs_classes = False

    def __init__(self, graph: AttributedGraph, *, n_runs: int, seed: int, n_jobs: int | None = None) -> None:
        self.split = hide_links(graph.adjacency, random_state=seed)
        super().__init__(replace(graph, adjacency=self.split.kept), n_runs=n_runs, seed=seed, n_jobs=n_jobs)

    def evaluate(self, columns: IntArray) -> LinkScores:
        return predict_links(self.seen.features, self.split, columns, n_runs=self.n_runs)

    def describe(self) -> str:
        return (
            f"{SHARE:.0%} of the links, drawn at random, were held out. AUC is the probability that "
            "two nodes with a held-out link are more similar, by the cosine of their selected features, than two nodes "
            f"without a link; mean and sd over {self.n_runs} runs, each with a bootstrap sample of held-out links and "
            "as many pairs without a link."
        )


def hide_links(adjacency: Any, *, share: float = SHARE, random_state: Any = None) -> HiddenLinks:
    """Hold out a random share of the links, at least one, but no self-loops.

    Parameters
    ----------
    adjacency : matrix of shape (n, n), or graph of another library
        In any form that :func:`blockselect.check_attributed_graph` accepts.
    share : float
        Share of the links to hold out, between 0 and 1.
    random_state : int, RandomState or None
        Seed of the draw.

    Examples
    --------
    >>> from blockselect import load_cora
    >>> cora = load_cora()
    >>> split = hide_links(cora.adjacency, random_state=0)
    >>> len(split.first), cora.adjacency.nnz - split.kept.nnz
    (528, 1056)
    """
    check_share("share", share)
    links = check_adjacency(adjacency)
    upper = sparse.triu(links, k=1).tocoo()
    if upper.nnz < 2:
        raise ValueError(
            f"the network has {upper.nnz} link(s) between nodes; at least two are needed so that one can be held out."
        )
    n_hidden = min(max(1, round(share * upper.nnz)), upper.nnz - 1)
    chosen = np.sort(check_random_state(random_state).permutation(upper.nnz)[:n_hidden])
    first, second = (ends[chosen].astype(np.intp) for ends in (upper.row, upper.col))
    kept = np.ones(upper.nnz, dtype=bool)
    kept[chosen] = False
    once = sparse.csr_array((upper.data[kept], (upper.row[kept], upper.col[kept])), shape=links.shape)
    loops = sparse.diags_array(links.diagonal())
    both = sparse.csr_array(once + once.T + loops, dtype=links.dtype)
    both.eliminate_zeros()
    return HiddenLinks(both, first, second)


def predict_links(
    features: Any,
    split: HiddenLinks,
    selected: ArrayLike,
    *,
    n_runs: int = 20,
    first_seed: int = 0,
) -> LinkScores:
    """Distinguish held-out links from non-links by the similarity of the selected features.

    The similarity is the cosine of two rows of ``features[:, selected]``; it is 0 if one of the nodes has none of these
    features. Each run, with the seeds ``first_seed``, ``first_seed + 1``, …, draws held-out links with replacement and
    equally many pairs without a link, uniformly, at most 10,000 of each. The draws depend only on the seed and the
    network.

    Parameters
    ----------
    features : array, sparse matrix or DataFrame of shape (n, m)
    split : HiddenLinks
        As returned by `hide_links`. Select the features with ``split.kept``.
    selected : array of int (d,) or boolean array of shape (m,)
        Columns to compare nodes on: their indices, each once, or a mask such as `support_`.
    n_runs : int
        Number of draws.
    first_seed : int
        Seed of the first run.

    Returns
    -------
    LinkScores

    Examples
    --------
    >>> from blockselect import load_cora
    >>> cora = load_cora()
    >>> split = hide_links(cora.adjacency, random_state=0)
    >>> bool(predict_links(cora.features, split, [1177, 1263, 1425]).aucs.mean() > 0.5)
    True
    """
    if not isinstance(split, HiddenLinks):
        raise ParameterError("split", f"is of type {type(split).__name__}; make it with hide_links(adjacency).")
    rows = selected_rows(features, selected)
    if rows.shape[0] != split.kept.shape[0]:
        raise ValueError(
            f"split has {split.kept.shape[0]} nodes but features has {rows.shape[0]} rows; "
            "pass the network of exactly these rows."
        )
    aucs = link_aucs(split, partial(cosines, rows), check_seeds(first_seed, n_runs))
    return LinkScores(aucs=aucs, n_features=rows.shape[1], n_zero_rows=count_zero_rows(rows))


def link_aucs(
    split: HiddenLinks,
    similarity: Callable[[IntArray, IntArray], FloatArray],
    seeds: Iterable[int],
    *,
    max_pairs: int = _MAX_PAIRS,
) -> FloatArray:
    """Area under the ROC curve per seed, given the similarity of pairs of nodes: (runs,)."""
    of_hidden = similarity(split.first, split.second)
    number = min(len(of_hidden), max_pairs)
    is_hidden = np.repeat([True, False], number)
    aucs = []
    for rng, others in non_links(split.all_links, number, seeds):
        hidden = of_hidden[rng.integers(len(of_hidden), size=number)]
        aucs.append(roc_auc_score(is_hidden, np.concatenate([hidden, similarity(*others)])))
    return np.array(aucs)


def cosines(unit_rows: Features, first: IntArray, second: IntArray) -> FloatArray:
    """Inner product of each pair of rows, rounded so that equal values are ties: (p,)."""
    if sparse.issparse(unit_rows):
        products = np.asarray(unit_rows[first].multiply(unit_rows[second]).sum(axis=1)).ravel()
    else:
        products = np.einsum("ij,ij->i", unit_rows[first], unit_rows[second])
    return products.round(12)


def non_links(
    links: Sparse, number: int, seeds: Iterable[int]
) -> Iterator[tuple[np.random.Generator, tuple[IntArray, IntArray]]]:
    """Yield, for each seed, its generator and pairs without a link, drawn uniformly with replacement."""
    n_nodes = links.shape[0]
    starts = np.concatenate([[0], np.cumsum(np.arange(n_nodes - 1, 0, -1))])  # index of the pair (i, i + 1) for each i
    upper = links.tocoo()
    taken = np.sort(starts[upper.row] + upper.col - upper.row - 1)
    n_free = n_nodes * (n_nodes - 1) // 2 - len(taken)
    if n_free == 0:
        raise ValueError("every node is linked to every other node; expected at least one pair without a link.")
    before = taken - np.arange(len(taken))  # number of unlinked pairs before each link
    for seed in seeds:
        rng = np.random.default_rng(seed)
        nth = rng.integers(n_free, size=number)
        pair = nth + np.searchsorted(before, nth, side="right")
        first = np.searchsorted(starts, pair, side="right") - 1
        yield rng, (first, pair - starts[first] + first + 1)
