"""The page: what a selector found, as one HTML file that needs no other and asks for nothing."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.image import imsave

from blockselect import wording
from blockselect.arrays import FloatArray
from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.chunks import RowChunks
from blockselect.report import page_parts, sentences
from blockselect.report.details import details
from blockselect.report.summarize import check_reportable, summarize

_STATIC_ROWS = 200  # of the table of features for readers without script
_LINK_INK = (59, 130, 196)  # reads on white and on black


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A page about one selection; a notebook shows it by itself."""

    html: str

    def save(self, path: str | Path) -> Path:
        """Write the page into a file and return its path."""
        place = Path(path)
        place.write_bytes(self.to_bytes())
        return place

    def to_bytes(self) -> bytes:
        """The content of the file; halves of surrogate pairs, which names may hold, become question marks."""
        return self.html.encode("utf-8", "replace")

    def _repr_html_(self) -> str:
        """In a frame: styles and script of the page stay within, those of the notebook outside."""
        page = escape(self.to_bytes().decode())
        return f'<iframe srcdoc="{page}" title="blockselect report" style="width:100%;height:820px;border:0"></iframe>'


def make_report(
    selector: BlockGuidedSelector,
    graph: AttributedGraph,
    *,
    stability: FloatArray | None = None,
    title: str = "the network",
    command: str | None = None,
    warnings: Sequence[str] = (),
    summary: dict[str, Any] | None = None,
) -> Report:
    """The page about a fitted selector and its network.

    Parameters
    ----------
    selector : BMGUFS or BlockModelSelector
        Fitted.
    graph : AttributedGraph
        The network it was fitted to.
    stability : array of shape (m,), optional
        As :func:`blockselect.selection_stability` estimates it.
    title : str
        Name of the network.
    command : str, optional
        The command that made the selection, for readers who want to repeat it.
    warnings : sequence of str
        What the fit warned of.
    summary : dict, optional
        As :func:`blockselect.report.summarize` made it, where it is known already; it holds the stability.
    """
    check_reportable(selector, graph)
    if isinstance(graph.features, RowChunks):
        raise ValueError(
            "a report reads single features of all nodes, which row chunks cannot give; pass the same features as one "
            "matrix, sparse if it is large: selector.report(path, X, adjacency=graph)."
        )
    if summary is None:
        summary = summarize(selector, graph, stability=stability)
    more = details(selector, graph, summary, title=title, command=command, warnings=warnings)
    return Report(render_page(summary, more))


def render_page(summary: dict[str, Any], more: dict[str, Any]) -> str:
    """The HTML of a summary and its details; the same of both gives the same text."""
    environment = Environment(
        loader=PackageLoader("blockselect.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=wording.count, number=wording.number, per_cent=wording.per_cent, times=wording.times, cut=wording.cut
    )
    picture = more["ordered_links"]
    return environment.get_template("report.html.jinja").render(
        summary=summary,
        more=more,
        say=sentences,
        parts=page_parts,
        data=script_data(more["features"], summary["blocks"]["sizes"]),
        rows=more["features"]["rows"][: min(_STATIC_ROWS, summary["counts"]["selected_features"])],
        adjacency=None if picture is None else _png_uri(picture),
        style=_source("report.css"),
        script=_source("report.js"),
    )


def script_data(features: dict[str, Any], sizes: list[int]) -> Markup:
    """The table as JSON that no name can break out of: nothing in it looks like a tag to a browser."""
    text = json.dumps({**features, "blocks": len(sizes)}, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # nosec B704


def _source(name: str) -> Markup:
    """A file beside the template, as it is."""
    text = (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
    return Markup(text)  # nosec B704


def _png_uri(links: FloatArray) -> str:
    """Links of each pixel as ink on nothing: more links, more ink, and one link still seen."""
    full = np.quantile(links[links > 0], 0.98) if links.any() else 1.0  # a few hubs do not make all else pale
    ink = np.where(links > 0, 0.12 + 0.88 * np.sqrt(np.minimum(links / full, 1.0)), 0.0)
    pixels = np.zeros((*links.shape, 4), dtype=np.uint8)
    pixels[ink > 0, :3] = _LINK_INK
    pixels[..., 3] = np.round(255 * ink)
    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png", pil_kwargs={"pnginfo": None})
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"
