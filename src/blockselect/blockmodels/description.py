"""describe_blocks: what a block is: its size, its links, the features that mark it, and typical nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta

from blockselect.arrays import FloatArray
from blockselect.blockmodels.markers import Markers
from blockselect.blockmodels.model import BlockModel
from blockselect.result import Result
from blockselect.wording import count, cut, listed, per_cent, times

_SHOWN = 10  # markers in the text
_LINKED = 3  # other blocks in the text
_LEVEL = 0.95  # of the intervals


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockDescription:
    """One block: what its nodes link to and which features mark it."""

    block: int
    size: int  # nodes
    n_nodes: int  # of the network
    links: pd.DataFrame  # one row per block it links to, itself included: block, share, density, relative_density
    markers: pd.DataFrame  # one row per feature that marks it, the surest first; see `describe_block`
    typical_nodes: list[Any]  # ids, or row numbers, of the nodes with most links inside the block
    stability: float | None = None  # expected overlap with the closest block of a fit with another seed, if known

    @property
    def share_within(self) -> float | None:
        """Share of its link weight that stays inside the block; None for a block without links."""
        if self.links.empty:
            return None
        return float(self.links.loc[self.links["block"] == self.block, "share"].sum())

    @property
    def other_links(self) -> pd.DataFrame:
        """The rows of `links` without the block itself."""
        return self.links[self.links["block"] != self.block]

    def __repr__(self) -> str:
        shown = self.markers.head(_SHOWN)
        width = max((len(cut(name)) for name in shown["feature"]), default=0)
        lines = [self._heading(), self._marked()]
        for row in shown.to_dict("records"):
            star = "*" if row["selected"] else " "
            lines.append(f"  {star} {cut(row['feature']):<{width}}  {times(row['lift'])} {interval(row)}")
        if len(self.markers) > _SHOWN:
            lines.append(f"    and {count(len(self.markers) - _SHOWN)} more in .markers")
        return "\n".join([*lines, *self._ties()])

    def _repr_html_(self) -> str:
        shown = self.markers.head(_SHOWN)
        table = pd.DataFrame(
            {
                "feature": shown["feature"],
                "lift": [times(lift) for lift in shown["lift"]],
                "95 % interval": [interval(row) for row in shown.to_dict("records")],
                "selected": np.where(shown["selected"], "yes", "no"),
            }
        )
        ties = "".join(f"<p>{escape(line)}</p>" for line in self._ties())
        listing = "" if shown.empty else table.to_html(index=False, border=0)
        return f"<p><b>{escape(self._heading())}</b></p><p>{escape(self._marked())}</p>{listing}{ties}"

    def _heading(self) -> str:
        size = f"{count(self.size)} of {count(self.n_nodes, 'node')} ({per_cent(self.size / self.n_nodes)})"
        within = "no links" if self.share_within is None else f"{per_cent(self.share_within)} of its links are internal"
        return f"Block {self.block}: {size}; {within}."

    def _marked(self) -> str:
        if self.markers.empty:
            return "No feature marks it."
        selected = count(int(self.markers["selected"].sum()))
        return f"Marked by {count(len(self.markers), 'feature')}, {selected} of them selected (*); lift and interval:"

    def _ties(self) -> list[str]:
        lines = []
        if not self.other_links.empty:
            rows = self.other_links.head(_LINKED)[["share", "block", "relative_density"]].to_numpy().tolist()
            ties = [f"{per_cent(share)} to block {block:.0f} ({times(ratio)})" for share, block, ratio in rows]
            lines.append(f"Other links, and how many times as many as expected: {', '.join(ties)}.")
        if self.typical_nodes:
            lines.append(f"Typical nodes: {listed([cut(str(node)) for node in self.typical_nodes])}.")
        if self.stability is not None:
            lines.append(f"Expected overlap with the closest block found with another seed: {self.stability:.2f}.")
        return lines


def interval(marker: Mapping[Any, Any]) -> str:
    """The interval of a lift: ``(6.5 to 8.1)``."""
    return f"({times(marker['lift_low']).removesuffix(' ×')} to {times(marker['lift_high']).removesuffix(' ×')})"


def describe_blocks(
    result: Result,
    model: BlockModel,
    markers: Markers,
    table: pd.DataFrame,
    stability: FloatArray | None = None,
) -> list[BlockDescription]:
    """Describe every block.

    Parameters
    ----------
    result : Result
        What the fit kept.
    model : BlockModel
    markers : Markers
        The result of `block_markers` for its labels.
    table : DataFrame
        One row per feature with at least the columns column, feature, rank, selected, lift, prevalence.
    stability : array of shape (k,), optional
        Stability of each block, if known.
    """
    assert result.blocks is not None  # there is a block model
    every, ids, n = np.arange(len(table)), result.node_ids, result.n_nodes
    typical = result.blocks.typical_nodes
    described = []
    for block, size in enumerate(model.block_sizes.tolist()):
        marking = table.iloc[markers.features_of(block, every)]
        low, high = lift_interval(marking["lift"].to_numpy(), marking["prevalence"].to_numpy() * n, size / n)
        marking = marking[["column", "feature", "rank", "selected", "lift", "prevalence"]].reset_index(drop=True)
        marking.insert(5, "lift_low", low)
        marking.insert(6, "lift_high", high)
        nodes = typical[block] if ids is None else [ids[node] for node in typical[block]]
        links = _links(result.blocks.link_weights, model.density, block)
        stable = None if stability is None else float(stability[block])
        described.append(BlockDescription(block, size, n, links, marking, nodes, stable))
    return described


def lift_interval(lift: FloatArray, holders: FloatArray, share: float) -> tuple[FloatArray, FloatArray]:
    """95 % interval of lifts in a block (Clopper and Pearson, 1934).

    Given how many nodes have a feature, the number of these that are in the block is taken as binomial. Values count in
    units of their mean.

    Parameters
    ----------
    lift, holders : arrays of shape (d,)
        Lift of each feature in the block, and the number of nodes that have the feature.
    share : float
        Share of the nodes that are in the block.

    Examples
    --------
    >>> low, high = lift_interval(np.array([5.0]), np.array([40]), share=0.1)  # 20 of 40 are in a tenth of the nodes
    >>> low.round(2), high.round(2)
    (array([3.38]), array([6.62]))
    """
    inside = np.minimum(lift * holders * share, holders)
    tail = (1 - _LEVEL) / 2
    low = beta.ppf(tail, inside, holders - inside + 1)
    outside = holders - inside
    high = np.where(outside > 0, beta.ppf(1 - tail, inside + 1, np.maximum(outside, 1e-9)), 1.0)
    return low / share, high / share


def _links(weights: FloatArray, density: FloatArray, block: int) -> pd.DataFrame:
    """The blocks that a block is linked to, the largest share of its link weight first.

    The expected density is that of random links with the same degrees (configuration model).
    """
    ends = weights.sum(axis=1)  # (k,) link weight of all nodes of each block
    expected = ends[block] * ends / ends.sum()
    linked = np.flatnonzero(weights[block] > 0)
    linked = linked[np.argsort(-weights[block, linked], kind="stable")]
    return pd.DataFrame(
        {
            "block": linked,
            "share": weights[block, linked] / ends[block],
            "density": density[block, linked],
            "relative_density": weights[block, linked] / expected[linked],
        }
    )
