"""BlockGuidedSelector: the common base of BMGUFS and BlockModelSelector, with tables and descriptions of the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from blockselect.base import ScoreSelector
from blockselect.blockmodels.description import BlockDescription, blocks_table, describe_blocks
from blockselect.blockmodels.levels import coarse_level, groups_at
from blockselect.blockmodels.markers import Markers, effective_holders, markers_of, typical_nodes
from blockselect.blockmodels.model import BlockModel, block_weights, check_block_model, is_pair_of_matrices, with_error
from blockselect.blockmodels.names import BlockName, name_blocks
from blockselect.inputs.attributed import AttributedGraph
from blockselect.inputs.labels import as_labels, labels_by_id
from blockselect.inputs.write import write_labels
from blockselect.result import BlockRecord, make_result, ordered_links
from blockselect.rows.sums import block_sums, n_holders, sum_over_rows
from blockselect.utils._sklearn import N_JOBS, Interval
from blockselect.utils.arrays import BoolArray, FloatArray, IntArray, ObjectArray, Sparse
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_whole
from blockselect.utils.progress import Progress, no_progress
from blockselect.utils.wording import feature_labels

_TYPICAL = 5  # typical nodes that are kept per block
_MAX_NODES, _MAX_LINKS = 60, 400  # largest graph that is drawn node by node; more lines would hide one another


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

    @property
    def _block_record(self) -> BlockRecord:
        """The record of the blocks that the fit kept."""
        record = self._fit_result.blocks
        assert record is not None  # see `_keep_result`
        return record

    def table(self) -> pd.DataFrame:
        """One row per feature, the best first: its score, and the block it marks.

        Returns
        -------
        DataFrame
            Its columns are column (of X), feature, score, rank (1 is the best), selected, marked_block (among the
            blocks in which the feature is significantly more common than elsewhere, the one with the strongest
            evidence; missing if there is none), block_name, lift (its mean in this block divided by its mean over all
            nodes), n_marked_blocks (how many blocks it marks) and prevalence (share of nodes that have it).
            :class:`blockselect.BlockModelSelector` adds beyond_chance, explained_more and explained_alone.
        """
        return self._feature_table(self._markers()).sort_values("rank", ignore_index=True)

    def _feature_table(self, markers: Markers) -> pd.DataFrame:
        """The rows of `table`, in the order of the columns of X."""
        blocks = pd.array(markers.marked_block, dtype="Int64")
        blocks[markers.marked_block < 0] = pd.NA
        names = feature_labels(self._fit_result.feature_names, len(self.scores_))
        block_names = np.array([*(name.text for name in self._names(markers)), None], dtype=object)  # −1: none
        return pd.DataFrame(
            {
                "column": np.arange(len(names)),
                "feature": pd.Series(names, dtype=object),  # any text
                "score": self.scores_,
                "rank": self.ranking_,
                "selected": self.support_,
                **self._table_columns(),
                "marked_block": blocks,
                "block_name": block_names[markers.marked_block],
                "lift": markers.marked_lift,
                "n_marked_blocks": markers.marks.sum(axis=0),
                "prevalence": markers.prevalence,
            }
        )

    def _markers(self, groups: IntArray | None = None) -> Markers:
        """The features that mark each block or, if `groups` (k,) merges the blocks, each group of blocks."""
        record, sizes = self._block_record, self.block_model_.block_sizes
        sums = record.sums
        if groups is not None:
            merge = np.eye(groups.max() + 1)[groups].T
            sums, sizes = merge @ sums, np.bincount(groups, sizes).astype(np.intp)
        return markers_of(sums, self._fit_result.holders, record.effective_holders, sizes)

    def _names(self, markers: Markers) -> list[BlockName]:
        """The names of the blocks, given their markers."""
        result, record = self._fit_result, self._block_record
        if record.given_names is not None:
            return [BlockName(name, "given") for name in record.given_names]
        ids = result.node_ids
        nodes = [None if ids is None or not rows else str(ids[rows[0]]) for rows in record.typical_nodes]
        features = feature_labels(result.feature_names, result.n_features)
        return name_blocks(markers, self._selected_in_order(), features, nodes, record.link_weights)

    def _group_names(self, groups: IntArray, names: list[BlockName]) -> list[BlockName]:
        """Name groups of blocks, where `groups` (k,) is the group of each block; groups of one block keep its name."""
        members = [np.flatnonzero(groups == group) for group in range(groups.max() + 1)]
        kept = {group: names[blocks[0]] for group, blocks in enumerate(members) if len(blocks) == 1}
        merged = name_blocks(
            self._markers(groups),
            self._selected_in_order(),
            feature_labels(self._fit_result.feature_names, self._fit_result.n_features),
            nodes=[None] * len(members),
            link_weights=np.zeros((len(members), len(members))),
            taken=[name.feature for name in kept.values()],
        )
        sizes = self.block_model_.block_sizes
        for group, name in enumerate(merged):
            if name.origin == "number":  # no feature marks the group
                largest = members[group][np.argsort(-sizes[members[group]], kind="stable")][:2]
                merged[group] = BlockName(" + ".join(names[block].text for block in largest), "blocks")
        return [kept.get(group, name) for group, name in enumerate(merged)]

    @property
    def blocks_(self) -> pd.DataFrame:
        """One row per block, in numerical order, which describes the block in words.

        The columns are name, size, share_within (share of the link weight of its nodes that stays inside the block),
        markers (at most five selected features that are significantly more common there, the strongest evidence
        first), other_markers, linked_to (the blocks it links to most), typical_nodes, stability (see
        `block_stability_` of :class:`blockselect.BlockModelSelector`) and branch (the name of its group if the tree
        of blocks is cut into about nine groups). :meth:`describe_block` describes one block in detail.
        """
        check_is_fitted(self)
        markers, branches = self._markers(), None
        if (linkage := getattr(self, "linkage_", None)) is not None:
            groups = groups_at(linkage, coarse_level(len(linkage) + 1))
            names = self._group_names(groups, self._names(markers))
            branches = [names[group].text for group in groups]
        return blocks_table(self._describe_blocks(markers), branches)

    def _keep_result(self, graph: AttributedGraph, explained: dict[str, Any] | None) -> Self:
        """Keep what tables, plots and reports show about the network that was passed to `fit`."""
        labels, k = self.labels_, self.block_model_.n_blocks
        is_small = graph.n_nodes <= _MAX_NODES and graph.adjacency.nnz <= 2 * _MAX_LINKS
        sums = sum_over_rows(graph.features, block_sums, labels[None], k, np.float64)[0]
        effective, chosen = effective_holders(graph.features), self._selected_in_order()
        markers = markers_of(sums, n_holders(graph.features), effective, self.block_model_.block_sizes)
        blocks = BlockRecord(
            sums=sums,
            effective_holders=effective,
            link_weights=block_weights(graph.adjacency, labels),
            typical_nodes=typical_nodes(graph.features, graph.adjacency, labels, markers, chosen, _TYPICAL),
            given_names=self._given_names(graph),
            ordered_links=sparse.csr_array(ordered_links(graph.adjacency, labels)),
            small_graph=graph.adjacency if is_small else None,
        )
        self._result = make_result(graph, chosen, blocks, explained)
        return self

    def _given_names(self, graph: AttributedGraph) -> list[str] | None:
        """The names of the blocks, if the user gave them as text."""
        given = self.block_model[0] if is_pair_of_matrices(self.block_model) else self.block_model
        if given is None or isinstance(given, str | BlockModel):
            return None
        names = np.unique(as_labels(labels_by_id(given, graph.node_ids), "block labels")).tolist()
        return names if all(isinstance(name, str) for name in names) else None

    def _table_columns(self) -> dict[str, FloatArray | BoolArray]:
        """Additional columns of the table."""
        return {}

    def describe_block(self, block: int | str) -> BlockDescription:
        """Describe a block: its size, the blocks it links to, all features that mark it, and typical nodes.

        Parameters
        ----------
        block : int or str
            Number of the block, as in `labels_`, or its name, as in `blocks_`.

        Returns
        -------
        BlockDescription
            It is displayed as text, or as HTML in a notebook. Its attributes are `block`, `name`, `size`, `n_nodes`,
            `share_within` (share of the link weight of its nodes that stays inside the block), `stability` (see
            `block_stability_` of :class:`blockselect.BlockModelSelector`; None if unknown) and:

            - `links`: a DataFrame with one row per block that it links to, including itself: name, share of its link
              weight, density, and the density relative to that of random links with the same degrees;
            - `markers`: a DataFrame with one row per feature that is significantly more common in the block, selected
              or not, the strongest evidence first: column, feature, rank, selected, lift with its 95 % interval
              (lift_low, lift_high), evidence (log-likelihood gain in nats) and prevalence. Significance and intervals
              are adjusted for all blocks and features that were tested, see
              :func:`blockselect.blockmodels.markers.block_markers`;
            - `typical_nodes`: ids, or row numbers, of nodes that have the markers of the block and link into it more
              than expected from their degree.
        """
        check_is_fitted(self)
        described = self._describe_blocks(self._markers())
        if isinstance(block, str):
            names = [one.name for one in described]
            if block not in names:
                near = get_close_matches(block, names) or names[:3]
                raise ParameterError("block", f"is {block!r}, which is not a name in blocks_; did you mean {near}?")
            return described[names.index(block)]
        return described[check_whole("block", block, 0, len(described) - 1)]

    def _describe_blocks(self, markers: Markers) -> list[BlockDescription]:
        stability = getattr(self, "block_stability_", None)
        names, table = self._names(markers), self._feature_table(markers)
        return describe_blocks(self._fit_result, self.block_model_, names, markers, table, stability)

    def annotate(self, graph: Any, *, nodes: Any = None, attribute: str = "block") -> Any:
        """Write the block of each node and its name to a networkx or igraph graph, as node attributes.

        Parameters
        ----------
        graph : networkx or igraph graph
            The graph, which is modified. Additional nodes are left without the attribute in networkx, and get None in
            igraph. An attribute of the graph itself notes that the blocks are a result, and not a feature for `fit`.
        nodes : sequence, optional
            The node of each row of X. By default the names of the rows, or 0, 1, … for rows without names.
        attribute : str, default="block"
            Attribute for the number of the block. The name of the block is stored in the attribute with the suffix
            ``_name``, by default ``block_name``.

        Returns
        -------
        graph
            The same graph.
        """
        check_is_fitted(self)
        nodes = self._fit_result.node_ids if nodes is None else nodes
        write_labels(graph, self.labels_.tolist(), nodes, attribute)
        return write_labels(graph, self._block_names()[self.labels_].tolist(), nodes, f"{attribute}_name")

    def _block_names(self) -> ObjectArray:
        return np.array([name.text for name in self._names(self._markers())], dtype=object)

    def _given_block_model(self, graph: AttributedGraph) -> BlockModel:
        """The blocks that the user gave, as a block model of this graph."""
        given = self.block_model
        if is_pair_of_matrices(given):
            given = BlockModel.from_matrices(labels_by_id(given[0], graph.node_ids), given[1])
        if isinstance(given, BlockModel):
            return with_error(check_block_model(given, graph.n_nodes), graph.adjacency)
        return BlockModel.from_labels(graph.adjacency, labels_by_id(given, graph.node_ids))

    def _inverse_ranks_on(
        self,
        graph: AttributedGraph,
        adjacencies: Sequence[Sparse],
        rngs: Sequence[np.random.Generator],
        progress: Progress = no_progress,
    ) -> FloatArray:
        """1 / rank from one fit per graph. Given blocks are kept, and their densities computed from each graph."""
        if self.block_model is None or isinstance(self.block_model, str | np.ndarray):
            return super()._inverse_ranks_on(graph, adjacencies, rngs, progress)
        by_labels: Self = clone(self).set_params(block_model=self._given_block_model(graph).labels)
        return by_labels._inverse_ranks_on(graph, adjacencies, rngs, progress)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
