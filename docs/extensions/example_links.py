"""Links to examples: to the file on disk, and to its gallery page on the site."""

from __future__ import annotations

import re
from typing import Any


def to_gallery(text: str) -> str:
    """Replace links to files in examples/ by links to their gallery pages.

    >>> to_gallery("[one](../examples/plot_pipeline.py), [all](../examples/README.rst)")
    '[one](gallery/plot_pipeline.rst), [all](gallery/index.rst)'
    """
    text = text.replace("](../examples/README.rst)", "](gallery/index.rst)")
    return re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", text)


def read_source(app: Any, name: str, content: list[str]) -> None:
    if app.env.doc2path(name, base=False).suffix == ".md":
        content[0] = to_gallery(content[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", read_source)
    return {"parallel_read_safe": True}
