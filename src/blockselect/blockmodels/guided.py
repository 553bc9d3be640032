"""BlockGuidedSelector: what BMGUFS and the default have in common: blocks, the table of features, and the report."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from blockselect._sklearn import N_JOBS, Interval
from blockselect.arrays import BoolArray, FloatArray, ObjectArray, Sparse
from blockselect.base import ScoreSelector
from blockselect.blockmodels.description import BlockDescription, describe_blocks
from blockselect.blockmodels.markers import Markers, block_markers
from blockselect.blockmodels.model import BlockModel, check_block_model
from blockselect.errors import collected_warnings
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.node_labels import labels_by_id
from blockselect.graphs.write import write_labels
from blockselect.parameters import check_whole
from blockselect.progress import Progress, no_progress
from blockselect.wording import feature_labels

if TYPE_CHECKING:
    pass


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

    def table(self, X: Any = None) -> pd.DataFrame:
        """One row per feature, in the order of the columns: its score, and which block it marks.

        Parameters
        ----------
        X : features of the nodes, optional
            As passed to `fit`; may be omitted while they are in memory.

        Returns
        -------
        DataFrame
            The columns feature, score, rank (1 is the best), selected, marked_block (the block in which the feature
            is most surely more common than elsewhere; missing if there is none), lift (its mean there over the mean of
            all nodes) and prevalence (share of nodes that have it). :class:`blockselect.BlockModelSelector` adds
            explained_more and explained_alone.
        """
        check_is_fitted(self)
        if X is None:
            X, _ = self._fitted_to.recall()
        markers = block_markers(self._table_again(X).matrix, self.labels_)
        return self._feature_table(markers, getattr(self, "feature_names_in_", None))

    def _feature_table(self, markers: Markers, feature_names: Any) -> pd.DataFrame:
        blocks = pd.array(markers.marked_block, dtype="Int64")
        blocks[markers.marked_block < 0] = pd.NA
        return pd.DataFrame(
            {
                "feature": pd.Series(feature_labels(feature_names, len(self.scores_)), dtype=object),  # any text
                "score": self.scores_,
                "rank": self.ranking_,
                "selected": self.support_,
                **self._table_columns(),
                "marked_block": blocks,
                "lift": markers.marked_lift,
                "prevalence": markers.prevalence,
            }
        )

    def _table_columns(self) -> dict[str, FloatArray | BoolArray]:
        """Further columns of the table."""
        return {}

    def describe_block(self, block: int, X: Any = None, *, adjacency: Any = None) -> BlockDescription:
        """Describe a block: its size, the blocks it links to, all features that mark it, and typical nodes.

        Parameters
        ----------
        block : int
            Number of the block, as in `labels_`.
        X, adjacency
            As passed to `fit`; may be omitted while they are in memory.

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
        with collected_warnings():  # the fit has already issued them
            graph = self._network_again(X, adjacency)
        return self._describe_blocks(graph)[block]

    def _describe_blocks(self, graph: AttributedGraph) -> list[BlockDescription]:
        markers = block_markers(graph.features, self.labels_)
        table = self._feature_table(markers, graph.feature_names)
        return describe_blocks(graph, self.block_model_, markers, table, getattr(self, "block_stability_", None))

    def annotate(self, graph: Any, *, nodes: Any = None, attribute: str = "block") -> Any:
        """Write the block of each node to a graph of networkx or igraph, as an attribute of its nodes.

        Parameters
        ----------
        graph : networkx or igraph graph
            It is changed. It may have further nodes, which networkx leaves without the attribute and igraph sets to
            None. An attribute of the graph itself notes that the blocks are a result, and not a feature for `fit`.
        nodes : sequence, optional
            The node of each row of X. By default the names of the rows, while X is in memory, or 0, 1, … for rows
            without names.
        attribute : str, default="block"
            Name of the attribute.

        Returns
        -------
        graph
            The same graph.
        """
        check_is_fitted(self)
        if nodes is None:
            nodes = self._node_ids_again()
        return write_labels(graph, self.labels_, nodes, attribute)

    def _node_ids_again(self) -> ObjectArray | None:
        """Names of the rows of the fit; None if they had none."""
        if self._node_digest is None:
            return None
        try:
            X, _ = self._fitted_to.recall()
        except ValueError as error:
            raise ValueError(
                "the features of the fit are no longer in memory; name the node of each row: nodes=X.index."
            ) from error
        return self._table_again(X).node_ids

    def _given_block_model(self, graph: AttributedGraph) -> BlockModel:
        """The blocks given by the user, as a block model of this graph."""
        if isinstance(self.block_model, BlockModel):
            return check_block_model(self.block_model, graph.n_nodes)
        return BlockModel.from_labels(graph.adjacency, labels_by_id(self.block_model, graph.node_ids))

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
