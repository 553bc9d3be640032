"""BlockGuidedSelector: what BMGUFS and the default have in common: blocks, the table of features, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from blockselect._sklearn import N_JOBS, Interval
from blockselect.arrays import BoolArray, FloatArray, IntArray, Sparse
from blockselect.base import ScoreSelector
from blockselect.blockmodels.description import BlockDescription, describe_blocks
from blockselect.blockmodels.markers import Markers, central_nodes, markers_of
from blockselect.blockmodels.model import BlockModel, block_weights, check_block_model, is_pair_of_matrices, with_error
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.node_labels import labels_by_id
from blockselect.graphs.over_rows import block_sums, sum_over_rows
from blockselect.graphs.write import write_labels
from blockselect.parameters import check_whole
from blockselect.progress import Progress, no_progress
from blockselect.result import BlockRecord, make_result, ordered_links
from blockselect.wording import feature_labels

_TYPICAL = 5  # nodes of a block that are kept
_MAX_NODES, _MAX_LINKS = 60, 400  # size of a graph that is drawn node by node; more lines would hide one another


class BlockGuidedSelector(ScoreSelector):
    """Base class of selectors that use block models. A subclass has the parameter `block_model`."""

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **ScoreSelector._parameter_constraints,
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [None, *N_JOBS],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    block_model: Any

    def _check_combinations(self) -> None:
        """Raise an error if parameters contradict each other."""

    def table(self) -> pd.DataFrame:
        """One row per feature, the best first: its score, and which block it marks.

        Returns
        -------
        DataFrame
            The columns column (of X), feature, score, rank (1 is the best), selected, marked_block (the block in which
            the feature is most surely more common than elsewhere; missing if there is none), lift (its mean there over
            the mean of all nodes) and prevalence (share of nodes that have it). :class:`blockselect.BlockModelSelector`
            adds beyond_chance, explained_more and explained_alone.
        """
        return self._feature_table(self._markers()).sort_values("rank", ignore_index=True)

    def _feature_table(self, markers: Markers) -> pd.DataFrame:
        """The table in the order of the columns of X."""
        blocks = pd.array(markers.marked_block, dtype="Int64")
        blocks[markers.marked_block < 0] = pd.NA
        names = feature_labels(self._found.feature_names, len(self.scores_))
        return pd.DataFrame(
            {
                "column": np.arange(len(names)),
                "feature": pd.Series(names, dtype=object),  # any text
                "score": self.scores_,
                "rank": self.ranking_,
                "selected": self.support_,
                **self._table_columns(),
                "marked_block": blocks,
                "lift": markers.marked_lift,
                "prevalence": markers.prevalence,
            }
        )

    def _markers(self, groups: IntArray | None = None) -> Markers:
        """Which block each feature marks or, if `groups` (k,) merges the blocks, which group of blocks."""
        result, sizes = self._found, self.block_model_.block_sizes
        assert result.blocks is not None  # see `_keep`
        sums = result.blocks.sums
        if groups is not None:
            merge = np.eye(groups.max() + 1)[groups].T
            sums, sizes = merge @ sums, np.bincount(groups, sizes).astype(np.intp)
        return markers_of(sums, result.holders, sizes)

    def _keep(self, graph: AttributedGraph, explained: dict[str, Any] | None) -> Self:
        """Keep what tables, plots and reports need of the network that was passed to `fit`."""
        labels, k = self.labels_, self.block_model_.n_blocks
        is_small = graph.n_nodes <= _MAX_NODES and graph.adjacency.nnz <= 2 * _MAX_LINKS
        blocks = BlockRecord(
            sums=sum_over_rows(graph.features, block_sums, labels[None], k, np.float64)[0],
            link_weights=block_weights(graph.adjacency, labels),
            typical_nodes=central_nodes(graph.adjacency, labels, _TYPICAL),
            ordered_links=sparse.csr_array(ordered_links(graph.adjacency, labels)),
            small_graph=graph.adjacency if is_small else None,
        )
        self._result = make_result(graph, self._selected_in_order(), blocks, explained)
        return self

    def _table_columns(self) -> dict[str, FloatArray | BoolArray]:
        """Further columns of the table."""
        return {}

    def describe_block(self, block: int) -> BlockDescription:
        """Describe a block: its size, the blocks it links to, all features that mark it, and typical nodes.

        Parameters
        ----------
        block : int
            Number of the block, as in `labels_`.

        Returns
        -------
        BlockDescription
            It is shown as text, or as HTML by a notebook, and holds `block`, `size`, `n_nodes`, `share_within` (share
            of the link weight of its nodes that stays inside), `stability` (see `block_stability_` of
            :class:`blockselect.BlockModelSelector`; None if unknown) and:

            - `links`: a DataFrame with one row per block that it links to, itself included: share of its link weight,
              density, and the density relative to that of random links with the same degrees;
            - `markers`: a DataFrame with one row per feature that marks it, selected or not, the surest first: column,
              feature, rank, selected, lift with its 95 % interval (lift_low, lift_high), and prevalence. The interval
              does not account for the choice of the feature or of the block;
            - `typical_nodes`: ids, or row numbers, of the nodes with most links inside the block.
        """
        check_is_fitted(self)
        check_whole("block", block, 0, self.block_model_.n_blocks - 1)
        return self._describe_blocks()[block]

    def _describe_blocks(self) -> list[BlockDescription]:
        markers = self._markers()
        stability = getattr(self, "block_stability_", None)
        return describe_blocks(self._found, self.block_model_, markers, self._feature_table(markers), stability)

    def annotate(self, graph: Any, *, nodes: Any = None, attribute: str = "block") -> Any:
        """Write the block of each node to a graph of networkx or igraph, as an attribute of its nodes.

        Parameters
        ----------
        graph : networkx or igraph graph
            It is changed. It may have further nodes, which networkx leaves without the attribute and igraph sets to
            None. An attribute of the graph itself notes that the blocks are a result, and not a feature for `fit`.
        nodes : sequence, optional
            The node of each row of X. By default the names of the rows, or 0, 1, … for rows without names.
        attribute : str, default="block"
            Name of the attribute.

        Returns
        -------
        graph
            The same graph.
        """
        check_is_fitted(self)
        return write_labels(graph, self.labels_, self._found.node_ids if nodes is None else nodes, attribute)

    def _given_block_model(self, graph: AttributedGraph) -> BlockModel:
        """The blocks given by the user, as a block model of this graph."""
        given = self.block_model
        if is_pair_of_matrices(given):
            given = BlockModel.from_matrices(labels_by_id(given[0], graph.node_ids), given[1])
        if isinstance(given, BlockModel):
            return with_error(check_block_model(given, graph.n_nodes), graph.adjacency)
        return BlockModel.from_labels(graph.adjacency, labels_by_id(given, graph.node_ids))

    def _scores_on(
        self,
        graph: AttributedGraph,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        report: Progress = no_progress,
    ) -> FloatArray:
        """1 / rank from one fit per graph. Given blocks stay the same; their densities are those of each graph."""
        if self.block_model is None or isinstance(self.block_model, str | np.ndarray):
            return super()._scores_on(graph, adjacencies, rngs, report)
        by_labels: Self = clone(self).set_params(block_model=self._given_block_model(graph).labels)
        return by_labels._scores_on(graph, adjacencies, rngs, report)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
