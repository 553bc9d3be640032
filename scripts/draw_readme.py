"""Draw the picture of the README: the blocks of the Debian packages, named by the selected features that mark them.

python scripts/draw_readme.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from blockselect import AttributedGraph, BlockModelSelector, load_debian
from blockselect.report.charts import block_drawing
from blockselect.report.summarize import summarize
from blockselect.wording import count, per_cent

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "debian.svg"
SCALE = 1.45  # of the drawing in a report, which has numbers in place of names
TOP = 30  # height of the title
NAMES = 2  # features below a block
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222222; text-anchor: middle; }
text { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
.title { font-size: 17px; font-weight: 600; text-anchor: start; }
.name-0 { font-weight: 600; }
line { stroke: #b5b5b5; }
.marked { fill: #0b62b8; }
.unmarked { fill: #b5b5b5; }
"""


def fit_to_debian() -> tuple[AttributedGraph, BlockModelSelector]:
    """Return the Debian packages, and the default selector fitted to them."""
    debian = load_debian()
    return debian, BlockModelSelector(60, random_state=0).fit(debian.frame, adjacency=debian.adjacency)


def debian_summary() -> dict[str, Any]:
    """Return what the default finds in the Debian packages."""
    _, selector = fit_to_debian()
    return summarize(selector)


def draw(summary: dict[str, Any]) -> str:
    """Return the picture as SVG; a block that no selected feature marks is grey."""
    drawn = block_drawing(summary)
    assert drawn is not None
    width, height = round(SCALE * drawn["width"]), round(SCALE * drawn["height"]) + TOP
    size = f'width="{width}" height="{height}"'
    counts, explained = summary["counts"], per_cent(summary["explained"]["share"])
    title = (
        f"{counts['selected_features']} of {count(counts['features'])} tags and words explain {explained} of the block "
        f"structure of {count(counts['nodes'])} Debian packages"
    )
    parts = [f'<text class="title" x="20" y="24">{title}</text>']
    for line in drawn["lines"]:
        x1, y1, x2, y2 = (round(SCALE * place) for place in line["ends"])
        ends = f'x1="{x1}" y1="{y1 + TOP}" x2="{x2}" y2="{y2 + TOP}"'
        parts.append(f'<line {ends} stroke-width="{line["width"]:.1f}"/>')
    blocks = [(circle, names_of(summary, circle["block"])) for circle in drawn["circles"]]
    parts += [draw_circle(circle, is_marked=bool(names)) for circle, names in blocks]
    parts += [label for circle, names in blocks for label in draw_names(circle, names)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
            f"<style>{STYLE}</style>",
            f'<rect {size} fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def draw_circle(circle: dict[str, Any], *, is_marked: bool) -> str:
    x, y, radius = place_of(circle)
    kind = "marked" if is_marked else "unmarked"
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"><title>{escape(circle["title"])}</title></circle>'


def draw_names(circle: dict[str, Any], names: list[str]) -> list[str]:
    x, y, radius = place_of(circle)
    return [
        f'<text class="name-{at}" x="{x}" y="{y + radius + 13 + 14 * at}">{escape(name)}</text>'
        for at, name in enumerate(names)
    ]


def place_of(circle: dict[str, Any]) -> tuple[int, int, int]:
    return round(SCALE * circle["x"]), round(SCALE * circle["y"]) + TOP, round(circle["radius"])


def names_of(summary: dict[str, Any], block: int) -> list[str]:
    """The first features that mark a block; of a tag such as ``tag:implemented-in::perl`` only the last word."""
    markers = summary["blocks"]["described"][block]["markers"]
    names = [marker["feature"].rpartition(":")[2] for marker in markers]
    return list(dict.fromkeys(names))[:NAMES]


if __name__ == "__main__":
    PICTURE.write_text(draw(debian_summary()), encoding="utf-8")
