"""The directive `api-index`: all public names on one page, each with a one-line summary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

_KEPT = re.compile(r"\.\. currentmodule:: \S+|\.\. autosummary::|   :nosignatures:|   [A-Za-z_][\w.]*|")


def tables(folder: Path) -> Iterator[str]:
    """Yield the tables of all API pages that index.rst lists, each under the title of its page."""
    index = (folder / "index.rst").read_text(encoding="utf-8")
    for page in re.findall(r"^   ([a-z-]+)$", index, flags=re.MULTILINE):
        lines = (folder / f"{page}.rst").read_text(encoding="utf-8").splitlines()
        yield f".. rubric:: :doc:`{page}`\n"
        yield from (line for line in lines[2:] if _KEPT.fullmatch(line))


class ApiIndex(SphinxDirective):
    """Show the tables of all API pages on one page."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.doc2path(self.env.docname)).parent
        return list(self.parse_text_to_nodes("\n".join(tables(folder))))


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("api-index", ApiIndex)
    return {"parallel_read_safe": True}
