"""Code shared by the protocols: their interface, checked and scaled selected features, and seeded runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from blockselect.evaluation.workers import end_with_parent
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.features import as_feature_table, feature_matrix
from blockselect.inputs.labels import encode_labels, labels_by_id
from blockselect.rows.checks import refuse_not_finite
from blockselect.rows.matrices import refuse_mask
from blockselect.utils.arrays import Features, FloatArray, IntArray, ObjectArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_entries, check_n_jobs, check_names, check_seed, check_whole
from blockselect.utils.threads import one_thread


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scores(ABC):
    """The scores of one selection of features."""

    n_features: int
    n_zero_rows: int  # nodes with none of the features; many such nodes can distort the scores either way

    @property
    @abstractmethod
    def measures(self) -> Mapping[str, FloatArray]:
        """The values of each measure, one per run: (n_runs,)."""


class SelectionProtocol(ABC):
    """One way to evaluate selected features on a network. Its runs use the seeds 0, 1, … for every method."""

    titles: ClassVar[Mapping[str, str]]
    """Measures in the order of the tables, with their column titles. Larger values are better."""
    needs_classes: ClassVar[bool]
    seen: AttributedGraph
    """The network that the methods are given, without held-out links."""
    classes: IntArray
    """Known classes, if the protocol needs them."""

    def __init__(self, graph: AttributedGraph, *, n_runs: int, seed: int, n_jobs: int | None = None) -> None:
        """Protocols that make a random choice only once, such as which links to hold out, use the seed."""
        self.seen, self.n_runs, self.n_jobs = graph, n_runs, n_jobs
        if self.needs_classes:
            self.classes = known_classes(graph)

    @abstractmethod
    def evaluate(self, columns: IntArray) -> Scores:
        """Evaluate these features."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the evaluation in full sentences."""


def known_classes(graph: AttributedGraph) -> IntArray:
    """The known classes of the nodes: (n,)."""
    if graph.classes is None:
        raise ValueError("the network has no classes to compare with; pass them to check_attributed_graph.")
    return graph.classes


def check_selected(selected: ArrayLike, n_features: int) -> IntArray:
    """Convert indices or a mask to the sorted indices of the selected columns."""
    given = np.asanyarray(selected)
    refuse_mask(given, "selected")
    columns = np.flatnonzero(given) if given.dtype == bool and given.shape == (n_features,) else given
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or not 0 < len(columns) == len(np.unique(columns)):
        raise ParameterError(
            "selected",
            f"contains {given.dtype} values of shape {given.shape}; expected the indices of at least one column, "
            f"without repeats, or a mask of shape ({n_features},).",
        )
    is_column = (columns >= 0) & (columns < n_features)
    check_entries("selected", columns, is_column, f"is not a column; columns are 0 to {n_features - 1}")
    return np.sort(columns).astype(np.intp)


def encode_classes(classes: Any, node_ids: ObjectArray | None, n_nodes: int) -> IntArray:
    """Convert the known classes to integers, one per node; a Series is aligned with the ids of the nodes."""
    known = encode_labels(labels_by_id(classes, node_ids, "classes"), "classes")
    if len(known) != n_nodes:
        raise ValueError(f"classes has shape {known.shape} but there are {n_nodes} nodes; pass one class per node.")
    return known


def row_names(features: Any, n_nodes: int) -> ObjectArray | None:
    """The node ids that name the rows of the features, or None if the rows have no names: (n,)."""
    return check_names(as_feature_table(features).node_ids, n_nodes, "node id", "row")


def selected_rows(features: Any, selected: ArrayLike) -> Features:
    """The selected columns of features of any kind, as `unit_rows` returns them: (n, d)."""
    matrix = feature_matrix(features)
    return unit_rows(matrix, check_selected(selected, matrix.shape[1]))


def unit_rows(features: Features, columns: IntArray) -> Features:
    """The selected columns with rows scaled to unit length, stored in the form in which K-means is faster.

    The form depends only on the values. K-means on dense and on sparse rows differs by rounding, and ties turn such
    differences into different clusters, but the same features must give the same clusters however they are stored.
    """
    chosen = csr_array(features[:, columns], dtype=np.float64)
    refuse_not_finite(chosen, columns)
    chosen.sum_duplicates()
    chosen.eliminate_zeros()
    # K-means accepts 32-bit indices only.
    parts = (chosen.data, chosen.indices.astype(np.int32), chosen.indptr.astype(np.int32))
    rows = csr_array(normalize(csr_array(parts, shape=chosen.shape)))
    # Measured: one entry of a sparse row costs as much as five of a dense row, and the row itself as much as twenty.
    per_row = rows.nnz / rows.shape[0]
    return rows.toarray() if rows.shape[1] <= 20 + 5 * per_row else rows


def count_zero_rows(rows: Features) -> int:
    """Number of nodes that have none of the features."""
    return int(rows.shape[0] - np.count_nonzero(abs(rows).sum(axis=1)))


def check_seeds(first_seed: int, n_runs: int) -> range:
    """The consecutive seeds of the runs."""
    check_whole("n_runs", n_runs, 1)
    return range(first_seed, check_seed("first_seed", first_seed, n_runs) + n_runs)


def seeded_runs(
    run: Callable[..., Any], *arguments: Any, n_runs: int, first_seed: int = 0, n_jobs: int | None = None
) -> list[Any]:
    """The results of ``run(*arguments, seed)`` for consecutive seeds, the same for every number of processes.

    Examples
    --------
    >>> seeded_runs(pow, 2, n_runs=3, first_seed=4)
    [16, 32, 64]
    """
    n_jobs = check_n_jobs(n_jobs)
    shares = np.array_split(check_seeds(first_seed, n_runs), min(n_runs, effective_n_jobs(n_jobs)))
    parts = Parallel(n_jobs=n_jobs)(delayed(_run_seeds)(run, arguments, share.tolist()) for share in shares)
    return [result for part in parts for result in part]


def _run_seeds(run: Callable[..., Any], arguments: tuple[Any, ...], seeds: Iterable[int]) -> list[Any]:
    end_with_parent()
    with one_thread():  # Several threads would add numbers in an order that varies between runs.
        return [run(*arguments, seed) for seed in seeds]
