"""Questions quote messages as they are: when a message changes, so must the question."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADINGS = re.findall(r"^### (.+)$", (ROOT / "docs" / "faq.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
QUOTED = [quote for heading in HEADINGS for quote in re.findall(r'"([^"]+)"', heading)]
SCIKIT_LEARNS = {quote for quote in QUOTED if quote.startswith(("Pipeline.fit", "[adjacency]"))}


@cache
def texts() -> str:
    """Every text in the source, one per line; what is filled in is a gap."""
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values]
                found.append("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


def test_questions_quote_messages():
    assert len(QUOTED) > 10


@pytest.mark.parametrize("quote", sorted(set(QUOTED) - SCIKIT_LEARNS))
def test_a_quoted_message_is_one_of_ours(quote):
    """Numbers, names in quotes and … stand for what is filled in."""
    pieces = [piece.strip() for piece in re.split(r"…|\d+|'\w+'", quote)]
    long_enough = [piece for piece in pieces if len(piece) >= 12]
    assert long_enough
    for piece in long_enough:
        assert piece in texts(), piece
