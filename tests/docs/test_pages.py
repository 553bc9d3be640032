"""Pages read on disk as in the site: links lead to files, anchors to headings, and every page is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted(ROOT.glob("*.md"))]
LISTING = ("guide", "background", "evidence", "project")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def links(page: Path) -> list[str]:
    text = without_code(page.read_text(encoding="utf-8"))
    return [url for url in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"https?:|mailto:", url)]


def anchors(page: Path) -> set[str]:
    """Of headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_on_disk_lead_somewhere(page):
    for url in links(page):
        path, _, anchor = url.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), url
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), url


def listed(page: str) -> list[str]:
    """Pages in the tables of contents of a page."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return [
        line.strip() for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL) for line in tree.splitlines()
    ]


def test_every_page_is_in_one_table_of_contents():
    below = [name for page in LISTING for name in listed(page) if name and not name.startswith(":")]
    assert sorted([*below, *LISTING, "index"]) == sorted(page.stem for page in DOCS.glob("*.md"))
    assert set(LISTING) <= set(listed("index"))
