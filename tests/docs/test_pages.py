"""Pages read on disk as in the site: links lead to files, anchors to headings, and every page is listed."""

from __future__ import annotations

import re
from importlib import import_module
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


def names_in_files() -> list[tuple[list[str], list[str]]]:
    """Files and names in each row of the tables that lead from formulas to code."""
    rows = re.findall(r"^\|.*\.py`.*$", (DOCS / "notation.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    files = [re.findall(r"`([\w/]+)\.py`", row) for row in rows]
    names = [re.findall(r"`([\w.]+)`", re.search(r"\.py`[:, |]*((`[\w./]+`[, |]*)*)", row)[1]) for row in rows]
    return [(of, [name for name in named if not name.endswith(".py")]) for of, named in zip(files, names, strict=True)]


@pytest.mark.parametrize(("files", "names"), names_in_files(), ids=lambda texts: " ".join(texts))
def test_code_that_formulas_lead_to_is_there(files, names):
    modules = [import_module("blockselect." + file.replace("/", ".")) for file in files]
    for name in names:
        first, *rest = name.split(".")
        found = next(getattr(module, first) for module in modules if hasattr(module, first))
        assert all(hasattr(found, part) for part in rest), name
