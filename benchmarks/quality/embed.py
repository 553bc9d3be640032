"""Puts made text into a page written by hand, between marks that stay."""

from __future__ import annotations

from collections.abc import Sequence


def fill_page(page: str, tables: str, headlines: Sequence[str]) -> str:
    """The page with tables and headlines between its marks for them; the tables alone where it has none."""
    filled = embed(page, "tables", as_section(tables, "Tables"))
    if filled == page and "<!-- tables -->" not in page:
        return tables
    return embed(filled, "summary", "\n".join(f"- {line}" for line in headlines))


def embed(page: str, name: str, text: str) -> str:
    """The page with the text between ``<!-- name -->`` and ``<!-- end of name -->``; without such marks, as it is."""
    opening, closing = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if opening not in page or closing not in page:
        return page
    before, _, rest = page.partition(opening)
    _, _, after = rest.partition(closing)
    return f"{before}{opening}\n{text.strip()}\n{closing}{after}"


def as_section(page: str, heading: str) -> str:
    """A page's headings one level down, its first one replaced."""
    lines = page.splitlines()
    lowered = [f"#{line}" if line.startswith("#") else line for line in lines[1:]]
    return "\n".join([f"## {heading}", *lowered])
