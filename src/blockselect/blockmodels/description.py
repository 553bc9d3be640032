"""BlockDescription: the name, size and links of a block, the features that mark it, and its typical nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from blockselect.blockmodels.markers import Markers
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.names import BlockName
from blockselect.result import Result
from blockselect.utils.arrays import FloatArray
from blockselect.utils.wording import count, cut, listed, per_cent, times

_SHOWN = 10  # markers in a description
_LINKED = 3  # linked blocks in a description and in the table of blocks
_LISTED = 5  # names per cell of the table of blocks


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockDescription:
    """A block: its size, its links to other blocks, and the features that mark it."""

    block: int
    name: str
    origin: str  # where the name comes from, see `BlockName`
    size: int  # number of nodes
    n_nodes: int  # number of nodes of the network
    links: pd.DataFrame  # one row per block it links to (or itself): block, name, share, density, relative_density
    markers: pd.DataFrame  # one row per feature that marks it, the strongest evidence first; see `describe_block`
    typical_nodes: list[Any]  # ids, or row numbers, the most typical first
    stability: float | None = None  # expected overlap with the closest block from another seed, if known

    @property
    def share_within(self) -> float | None:
        """Share of the link weight of the block that stays inside; None for a block without links."""
        if self.links.empty:
            return None
        return float(self.links.loc[self.links["block"] == self.block, "share"].sum())

    @property
    def other_links(self) -> pd.DataFrame:
        """The rows of `links` for other blocks."""
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
        return f"Block {self.block}, {cut(self.name)}: {size}; {within}."

    def _marked(self) -> str:
        if self.markers.empty:
            return "No feature marks it."
        selected = count(int(self.markers["selected"].sum()))
        return f"Marked by {count(len(self.markers), 'feature')}, {selected} selected (*), with lift and interval:"

    def _ties(self) -> list[str]:
        lines = []
        if not self.other_links.empty:
            rows = self.other_links.head(_LINKED)[["share", "name", "relative_density"]].itertuples(index=False)
            ties = [f"{per_cent(share)} to {cut(name)} ({times(ratio)})" for share, name, ratio in rows]
            lines.append(f"Links to other blocks, with the ratio to random links: {', '.join(ties)}.")
        if self.typical_nodes:
            lines.append(f"Typical nodes: {listed([cut(str(node)) for node in self.typical_nodes])}.")
        if self.stability is not None:
            lines.append(f"Expected overlap with the closest block found with another seed: {self.stability:.2f}.")
        return lines


def interval(marker: Mapping[Any, Any]) -> str:
    """The interval of a lift as text: ``(6.5 to 8.1)``."""
    low, high = marker["lift_low"], marker["lift_high"]
    begin = f"{low:.2f}" if 1 < low < 1.05 else times(low).removesuffix(" ×")  # 1 would look like no marker
    return f"({begin} to {times(high).removesuffix(' ×')})"


def describe_blocks(
    result: Result,
    model: BlockModel,
    names: Sequence[BlockName],
    markers: Markers,
    table: pd.DataFrame,
    stability: FloatArray | None = None,
) -> list[BlockDescription]:
    """Describe each block.

    Parameters
    ----------
    result : Result
        The record of the fit.
    model : BlockModel
    names : sequence of BlockName
    markers : Markers
        The result of `block_markers` for the labels of the model.
    table : DataFrame
        One row per feature, with at least the columns column, feature, rank, selected and prevalence.
    stability : array of shape (k,), optional
        Stability of each block, if known.
    """
    assert result.blocks is not None  # there is a block model
    ids, weights, texts = result.node_ids, result.blocks.link_weights, np.array([name.text for name in names], object)
    described = []
    for block, (size, name, typical) in enumerate(
        zip(model.block_sizes.tolist(), names, result.blocks.typical_nodes, strict=True)
    ):
        marking = markers.features_of(block)
        low, high = markers.intervals(block, marking)
        rows = table.loc[marking, ["column", "feature", "rank", "selected"]].assign(
            lift=markers.lift[block, marking],
            lift_low=low,
            lift_high=high,
            evidence=markers.evidence[block, marking],
            prevalence=table.loc[marking, "prevalence"],
        )
        links = _links(weights, model.density, block)
        links.insert(1, "name", texts[links["block"]])
        described.append(
            BlockDescription(
                block=block,
                name=name.text,
                origin=name.origin,
                size=size,
                n_nodes=result.n_nodes,
                links=links,
                markers=rows.reset_index(drop=True),
                typical_nodes=typical if ids is None else [ids[node] for node in typical],
                stability=None if stability is None else float(stability[block]),
            )
        )
    return described


def blocks_table(described: Sequence[BlockDescription], branches: Sequence[str] | None) -> pd.DataFrame:
    """The table `blocks_` of a selector; `branches` are the names of the groups of blocks, if there is a tree."""
    rows = [
        {
            "name": one.name,
            "size": one.size,
            "share_within": np.nan if one.share_within is None else one.share_within,
            "markers": _first(one.markers.loc[one.markers["selected"], "feature"]),
            "other_markers": _first(one.markers.loc[~one.markers["selected"], "feature"]),
            "linked_to": _first(one.other_links["name"][:_LINKED]),
            "typical_nodes": _first(map(str, one.typical_nodes)),
            "stability": np.nan if one.stability is None else one.stability,
            "branch": None if branches is None else branches[one.block],
        }
        for one in described
    ]
    return pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="block"))


def _first(names: Iterable[str]) -> str:
    return ", ".join(islice(names, _LISTED))


def _links(weights: FloatArray, density: FloatArray, block: int) -> pd.DataFrame:
    """One row per block that a block links to, in order of decreasing link weight.

    Relative densities are relative to random links with the same degrees (configuration model).
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
