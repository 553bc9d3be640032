"""The report: the findings of a selector as one self-contained HTML file."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from math import inf, log2
from pathlib import Path
from re import DOTALL, search, sub
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.image import imsave

from blockselect.blockmodels.description import interval
from blockselect.report import charts, sentences
from blockselect.report.details import page_details
from blockselect.report.drawings import block_drawing
from blockselect.report.summarize import block_names, summarize
from blockselect.utils.arrays import FloatArray
from blockselect.utils.parameters import check_page_path
from blockselect.utils.wording import count, cut, lift_in_cell, number, per_cent, times

_STATIC_ROWS = 200  # maximum number of features in the table if JavaScript is off
_TITLES = {"explained_more": "adds", "explained_alone": "alone", "q_value": "q-value"}  # column headers
_BY_CHANCE = "Features below this line may be associated with the network only by chance."
_LINK_INK = (59, 130, 196)  # visible on white and on black
_CARDS = 12  # number of blocks with a card of their own, or one more if no others are left
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # control characters except tabs and line breaks
_HEAT_CELLS = 40_000  # maximum number of cells in the heat map, about a megabyte


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Report:
    """A report as an HTML page; notebooks display it automatically."""

    html: str

    def __repr__(self) -> str:
        title = search("<title>(.*?)</title>", self.html, DOTALL)
        about = f"{unescape(title[1])!r}, " if title else ""
        return f"Report({about}{len(self.to_bytes()) / 1000:,.0f} kB)"

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whose name must end in .html, and return its path."""
        place = check_page_path(path)
        place.write_bytes(self.to_bytes())
        return place

    def to_bytes(self) -> bytes:
        """The content of the file; control characters and unpaired surrogates in names become question marks."""
        return sub(_CONTROL, "?", self.html).encode("utf-8", "replace")

    def _repr_html_(self) -> str:
        """Show the page in a frame, so that its styles and script do not mix with those of the notebook."""
        page = escape(self.to_bytes().decode())
        return f'<iframe srcdoc="{page}" title="blockselect report" style="width:100%;height:820px;border:0"></iframe>'


def make_report(
    selector: Any,
    *,
    stability: FloatArray | None = None,
    title: str = "the network",
    command: str | None = None,
    warnings: Sequence[str] = (),
    labels: Any = None,
    summary: dict[str, Any] | None = None,
) -> Report:
    """Make the report of a fitted selector.

    Parameters
    ----------
    selector : fitted selector of this package
        The reports of BMGUFS and BlockModelSelector cover features and blocks. Reports of other methods show the
        features, where they occur, and whether they are associated with the network.
    stability : array of shape (m,), optional
        The result of :func:`blockselect.selection_stability`.
    title : str
        Name of the network.
    command : str, optional
        The command that made the selection, so that readers can repeat it.
    warnings : sequence of str
        Warnings of the fit.
    labels : array of shape (n,), Series or dict, optional
        Known labels of the nodes, in the order of the nodes or keyed by node id. They are only compared with the
        blocks; for methods without blocks, they are ignored with a warning on the page.
    summary : dict, optional
        The result of :func:`blockselect.report.summarize`, if you have it already; `stability` is then ignored.
    """
    if summary is None:
        summary = summarize(selector, stability=stability)
    details = page_details(selector, summary, title=title, command=command, warnings=warnings, labels=labels)
    return Report(render_page(summary, details))


def render_page(summary: dict[str, Any], details: dict[str, Any]) -> str:
    """Render a summary and its details as HTML; the same input gives the same text."""
    blocks, features = summary.get("blocks"), details["features"]
    names = None if blocks is None else block_names(summary)
    static = features["rows"][: min(_STATIC_ROWS, summary["counts"]["selected_features"])]
    return render_template(
        "scores.html.jinja" if blocks is None else "report.html.jinja",
        headline=sentences.headline(summary, details),
        lead=sentences.lead(summary),
        warnings=details["warnings"],
        version=details["versions"]["blockselect"],
        summary=summary,
        counts=summary["counts"],
        blocks=blocks,
        block_names=names,
        details=details,
        titles=_TITLES,
        say=sentences,
        charts=charts,
        data={**features, "blocks": names, "by_chance": _BY_CHANCE},
        rows=[dict(zip(features["columns"], row, strict=True)) for row in static],
        **({} if blocks is None else _about_blocks(summary, details["ordered_links"])),
    )


def _about_blocks(summary: dict[str, Any], ordered_links: FloatArray | None) -> dict[str, Any]:
    """What the sections on blocks show in addition to the summary."""
    blocks = summary["blocks"]
    with_card, others = cards(blocks)
    return {
        "drawings": [block_drawing(summary, narrow=narrow) for narrow in (False, True)],
        "tree": None if summary["tree"] is None else charts.icicle(summary["tree"], blocks["order"]),
        "cards": with_card,
        "others": others,
        "heat": heat_rows(summary),
        "adjacency": None if ordered_links is None else _png_uri(ordered_links),
        "differ": sentences.pattern_difference(summary).tolist(),
    }


def cards(blocks: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The blocks that get a card (the largest ones that are not `small`) and the other blocks, largest first."""
    described = zip(blocks["sizes"], blocks["described"], strict=True)
    every = [{"block": block, "size": size, **about} for block, (size, about) in enumerate(described)]
    every.sort(key=lambda one: -one["size"])
    large = [one for one in every if one["block"] not in blocks["small"]]
    shown = large if len(large) <= _CARDS + 1 else large[:_CARDS]
    return shown, [one for one in every if one not in shown]


def heat_rows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The selected features that fit into the heat map, sorted by the block they mark, in tree order."""
    k, places = summary["blocks"]["count"], [*summary["blocks"]["order"], None]
    shown = summary["selected"][: max(1, _HEAT_CELLS // k)] if k > 1 else []
    return sorted(shown, key=lambda row: (places.index(row["marked_block"]), row["rank"]))


@cache
def template_environment() -> Environment:
    """The Jinja environment: the templates and the filters that they use."""
    environment = Environment(
        loader=PackageLoader("blockselect.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    of_names, of_values = (cut, charts.short, whole), (count, number, per_cent, times, interval, measured, digits)
    of_cells = (lift_in_cell, shade, lift_shade)
    environment.filters |= {each.__name__: each for each in (*of_names, *of_values, *of_cells)}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return environment


def render_template(name: str, **values: Any) -> str:
    """Fill a template."""
    return template_environment().get_template(name).render(**values)


def whole(sentence: str) -> str:
    """Keep numbers on one line with their units and signs."""
    return sub(r" (?=[%×≤])|(?<=≤) ", "\N{NO-BREAK SPACE}", sentence)


def measured(value: float, measure: str) -> str:
    """The value of a measure as text, formatted as in report.js."""
    if measure in ("stability", "autocorrelation"):
        return digits(value, 2, zero="0.00")
    if measure == "degree":
        return number(value, zeros=True)
    return number(value) if measure == "q_value" else per_cent(value, zeros=True)


def digits(value: float, n_digits: int, zero: str = "0") -> str:
    """A number with this many decimal places; zero has no sign."""
    text = f"{value:.{n_digits}f}"
    return zero if float(text) == 0 else text


def shade(value: float, steps: Sequence[float]) -> str:
    """The CSS class of a coloured cell: p1, p2 or p3 if the value reaches the first, second or third step, else z."""
    passed = sum(value >= step for step in steps)
    return f"p{passed}" if passed else "z"


def lift_shade(lift: float) -> str:
    """The CSS class of a heat-map cell, from m3 (at most a sixth) through z (as expected) to p3 (at least 6 times)."""
    amount = log2(lift) if lift > 0 else -inf
    step = shade(abs(amount), (0.58, 1.58, 2.58))
    return step if amount > 0 else step.replace("p", "m")


def _png_uri(links: FloatArray) -> str:
    """Draw the number of links per pixel as ink on a transparent background, so that even a single link is visible."""
    # The quantile keeps a few hubs from making everything else pale.
    full = np.quantile(links[links > 0], 0.98) if links.any() else 1.0
    ink = np.where(links > 0, 0.12 + 0.88 * np.sqrt(np.minimum(links / full, 1.0)), 0.0)
    pixels = np.zeros((*links.shape, 4), dtype=np.uint8)
    pixels[ink > 0, :3] = _LINK_INK
    pixels[..., 3] = np.round(255 * ink)
    buffer = io.BytesIO()
    imsave(buffer, pixels, format="png", pil_kwargs={"pnginfo": None})
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"
