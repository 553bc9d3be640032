"""Update the table of methods in docs/methods.md from the registry; run it whenever the registry changes."""

from __future__ import annotations

import re
from pathlib import Path

from blockselect.registry import SELECTORS

PAGE = Path(__file__).parents[1] / "docs" / "methods.md"

GUIDED_BY = {
    "blocks": "blocks of the network",
    "features": "the features",
    "network": "the network",
    "none": "nothing",
}


def methods_table() -> str:
    """The registry as a Markdown table."""
    header = ("name", "method", "guided by", "formula", "in the paper", "reference")
    lines = [header, ["---"] * len(header)]
    for name, method in SELECTORS.items():
        reference = re.sub(r"doi:(\S+)", r"[doi:\1](https://doi.org/\1)", method.cite)
        in_paper = "yes" if method.in_paper else "no"
        lines.append((f"`{name}`", method.title, GUIDED_BY[method.guidance], method.certainty, in_paper, reference))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"(?:^\|.*\n)+", lambda _: methods_table(), text, count=1, flags=re.MULTILINE), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
