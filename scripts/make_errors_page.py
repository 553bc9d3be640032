"""Write docs/errors.md anew from the table of errors in tests/error_cases: run it after a change there."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from error_cases import CASES  # noqa: E402
from error_cases.case import Case  # noqa: E402

PAGE = ROOT / "docs" / "errors.md"
AREAS = {
    "Features": "Features given to the library",
    "Graph": "Graphs given to the library",
    "Parameters": "Parameters",
    "After a fit": "What is passed again after a fit",
    "Plots and reports": "Plots and reports",
    "Files of features": "Files of features",
    "Files of links": "Files of links",
    "Command": "The command",
}
BEGINNING = """# Errors

What happens when an input cannot be used. This page is written from the table that the tests run
(`tests/error_cases`, {count} cases): every line here is tried with every change of the package.

- The library raises an error and changes nothing. `ParameterError`, a `ValueError`, names the parameter that is wrong.
- The command prints one line, `error: …`, on stderr, writes nothing and ends with exit code 2.
- Exit codes: 0 done; 1 every method or trial failed; 2 something to mend, in the input, on the disk or at stdout;
  130, 143 and 129 ended by Ctrl-C, SIGTERM and SIGHUP.
- A message says what came, what was expected and what to do. Below, "…" stands for the rest of it.
"""


def errors_page() -> str:
    """The page as Markdown."""
    order = list(AREAS)
    cases = sorted(CASES, key=lambda case: order.index(case.area))
    parts = [BEGINNING.format(count=len(CASES))]
    for area, group in groupby(cases, key=lambda case: case.area):
        rows = "".join(f"| {_cell(case.title)} | {_outcome(case)} | {_message(case)} |\n" for case in group)
        parts.append(f"\n## {AREAS[area]}\n\n| what | error | the message says |\n|---|---|---|\n{rows}")
    return "".join(parts)


def _outcome(case: Case) -> str:
    return f"`{case.error.__name__}`" if case.call is not None else f"exit code {case.exit_code}"


def _message(case: Case) -> str:
    words = [word for word in case.words if word]
    return " … ".join(_cell(word) for word in words) if words else "what came and what was expected"


def _cell(text: str) -> str:
    shown = text if len(text) <= 90 else f"{text[:60]}…"
    return shown.replace("|", "\\|").replace("{", "").replace("}", "").replace("<", "&lt;")


def main() -> None:
    PAGE.write_text(errors_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
