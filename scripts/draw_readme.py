"""Draw the picture of the README: the named blocks of the Debian packages.

python scripts/draw_readme.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from blockselect import AttributedGraph, BlockModelSelector, load_debian
from blockselect.report.drawings import block_drawing
from blockselect.report.summarize import summarize
from blockselect.utils.wording import count, per_cent

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "debian.svg"
SCALE = 1.45  # enlarges the report's drawing, which has numbers instead of names
TOP = 30  # height of the title
STYLE = """
text { font: 600 13px system-ui, sans-serif; fill: #222222; text-anchor: middle; }
text { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
.title { font-size: 17px; text-anchor: start; }
.lighter { font-weight: 400; fill: #666666; }
line { stroke: #b5b5b5; }
.marked { fill: #0b62b8; }
.unmarked { fill: #b5b5b5; }
"""


def fit_to_debian() -> tuple[AttributedGraph, BlockModelSelector]:
    """Return the Debian packages, and the default selector fitted to them."""
    debian = load_debian()
    return debian, BlockModelSelector(60, random_state=0).fit(debian.frame, adjacency=debian.adjacency)


def draw(selector: BlockModelSelector) -> str:
    """Return the picture as SVG. No selected feature marks a grey block; names in grey are of features not selected."""
    summary, markers = summarize(selector), selector._markers()
    drawn, names = block_drawing(summary), selector._names(markers)
    assert drawn is not None
    is_marked = markers.marks[:, selector.support_].any(axis=1)
    width, height = round(SCALE * drawn["width"]), round(SCALE * drawn["height"]) + TOP
    size = f'width="{width}" height="{height}"'
    counts, explained = summary["counts"], per_cent(summary["explained"]["share"])
    title = (
        f"{counts['selected_features']} of {count(counts['features'])} tags and words explain {explained} of the block "
        f"structure of {count(counts['nodes'])} Debian packages"
    )
    parts = [f'<text class="title" x="20" y="24">{title}</text>']
    for line in drawn["links"]:
        x1, y1, x2, y2 = (round(SCALE * place) for place in line["ends"])
        ends = f'x1="{x1}" y1="{y1 + TOP}" x2="{x2}" y2="{y2 + TOP}"'
        parts.append(f'<line {ends} stroke-width="{line["width"]:.1f}"/>')
    for circle in drawn["circles"]:
        x, y, radius = place_of(circle)
        kind = "marked" if is_marked[circle["block"]] else "unmarked"
        about = f"<title>{escape(circle['title'])}</title>"
        parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}">{about}</circle>')
    for circle in drawn["circles"]:
        (x, y, radius), name = place_of(circle), names[circle["block"]]
        weight = "name" if name.origin == "selected" else "lighter"
        parts.append(f'<text class="{weight}" x="{x}" y="{y + radius + 13}">{escape(name.text)}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">',
            f"<style>{STYLE}</style>",
            f'<rect {size} fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
    )


def place_of(circle: dict[str, Any]) -> tuple[int, int, int]:
    return round(SCALE * circle["x"]), round(SCALE * circle["y"]) + TOP, round(circle["radius"])


if __name__ == "__main__":
    PICTURE.write_text(draw(fit_to_debian()[1]), encoding="utf-8")
