"""Check the built site: its internal links must work, and no page may load anything from another server.

    python scripts/check_site.py docs/_build/html

Links to other sites are not checked.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("source", "src"), ("iframe", "src"), ("video", "src")}
LOADING_LINKS = {"stylesheet", "preload", "modulepreload", "icon", "shortcut icon", "preconnect", "dns-prefetch"}


class Page(HTMLParser):
    """The links of a page, the files it loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel", "").lower() in LOADING_LINKS:
            self.loads.append(values.get("href", ""))
        self.loads += [values[name] for name in values if (tag, name) in LOADED]


def faults(root: Path) -> list[str]:
    """Find the faults of all pages in a folder, one line per fault."""
    pages = {path.resolve(): Page(path) for path in sorted(root.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        name = path.relative_to(root.resolve())
        found += [f"{name} loads {url}" for url in page.loads if _is_elsewhere(url)]
        local = [url for url in page.links + page.loads if not _is_elsewhere(url) and not urlsplit(url).scheme]
        found += [f"{name} links to {url}: {problem}" for url in local if (problem := _problem(url, path, pages))]
    return found


def _is_elsewhere(url: str) -> bool:
    return urlsplit(url).scheme in ("http", "https") or url.startswith("//")


def _problem(url: str, path: Path, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(url)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    if target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "no such anchor"
    return None


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    wrong = faults(folder)
    if wrong:
        raise SystemExit("\n".join(wrong))
    print(f"all internal links of {len(list(folder.rglob('*.html')))} pages work")
