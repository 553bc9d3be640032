"""Contents of API pages: members defined in blockselect, documented record fields, and readable default values."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import math
import re
import textwrap
from typing import Any


def record_fields(record: type) -> dict[str, str]:
    """Return the fields of a dataclass with the comments on their lines in the source."""
    source = textwrap.dedent(inspect.getsource(record))
    lines = source.splitlines()
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for line in body.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            comment = lines[(line.end_lineno or 0) - 1][line.end_col_offset :].strip()
            found[line.target.id] = comment.removeprefix("#").strip()
    return found


def add_record_fields(app: Any, what: str, name: str, subject: Any, options: Any, lines: list[str]) -> None:
    """Add the fields of a record to its docstring, unless the docstring describes them."""
    if what != "class" or not dataclasses.is_dataclass(subject):
        return
    if any(line.strip() in ("Attributes", "Parameters") for line in lines):
        return
    lines += ["", "Attributes", "----------"]
    for field, comment in record_fields(subject).items():
        if not field.startswith("_"):
            lines += [field, f"    {comment[:1].upper()}{comment[1:]}" if comment else "    "]
    lines += [""]


def skip_foreign(app: Any, what: str, name: str, subject: Any, skip: bool, options: Any) -> bool | None:
    """Leave out record fields, and members inherited from scikit-learn or Python classes."""
    function = inspect.unwrap(getattr(subject, "fget", None) or getattr(subject, "__func__", None) or subject)
    home = getattr(function, "__module__", None) or ""
    return None if home.startswith("blockselect") and callable(function) else True


def as_written(signature: str) -> str:
    """Shorten long numbers in a signature: 1e9 for 1000000000.0, and 2**30 for 1073741824."""
    return re.sub(r"(?<![\w.])\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])", lambda found: _short(found[0]), signature)


def _short(number: str) -> str:
    if len(number) < 7 and "e" not in number:
        return number
    if number.isdecimal() and math.log2(int(number)).is_integer():
        return f"2**{int(number).bit_length() - 1}"
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), f"{float(number):.3g}")


def write_defaults(
    app: Any, what: str, name: str, subject: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Show readable default values in signatures."""
    return None if signature is None else as_written(signature), returns


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", add_record_fields, priority=100)  # before numpydoc reads it
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-signature", write_defaults)
    return {"parallel_read_safe": True}
