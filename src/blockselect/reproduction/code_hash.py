"""Hash of the code that decides a row, so that a change of it is noticed even under the same version."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import blockselect

NOT_DECIDING = ("cli", "report", "plot", "reproduction/claims", "reproduction/templates")
"""Folders that read rows or write files, and decide none."""


@cache
def code_hash(root: Path = Path(blockselect.__file__).parent) -> str:
    """Of all modules that a row may depend on, without their comments, docstrings and layout."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(tuple(f"{folder}/" for folder in NOT_DECIDING)):
            digest.update(f"{name}\0{_meaning(path.read_text(encoding='utf-8'))}\0".encode())
    return digest.hexdigest()[:16]


def _meaning(source: str) -> str:
    """The statements of a module; equal for sources that differ in comments, docstrings and layout alone."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
