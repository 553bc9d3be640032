"""Count files and lines of code per package: python scripts/count_code.py [folder] [--entered].

Docstrings, comments and blank lines do not count. --entered also counts the files in which a function runs during three
calls: both selectors fitted to Cora, and `blockselect select`.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import io
import pkgutil
import sys
import tempfile
import threading
import tokenize
from collections import defaultdict
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src" / "blockselect"
NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(text: str) -> int:
    """Number of lines with code, not counting comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return len(lines)


def count(folder: Path) -> dict[str, tuple[int, int]]:
    """Numbers of files and lines of code in each subfolder of a folder; its own files count as "top level"."""
    counted: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        package = parts[0] if len(parts) > 1 else "top level"
        n_files, n_lines = counted[package]
        counted[package] = n_files + 1, n_lines + lines_of_code(path.read_text(encoding="utf-8"))
    return dict(counted)


def functions_entered(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """Functions of blockselect that run during a call, as (file, qualified name), in the order of their first calls."""
    import blockselect

    root, entered = Path(blockselect.__file__).parent, {}

    def note(frame: Any, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(root)):
            entered[frame.f_code.co_filename, frame.f_code.co_qualname] = None

    sys.setprofile(note)
    threading.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [(Path(file).relative_to(root).as_posix(), name) for file, name in entered]


def files_entered(call: Callable[[], Any]) -> set[str]:
    """Files of blockselect in which a function runs during a call; modules are imported beforehand."""
    import blockselect

    for module in pkgutil.walk_packages(blockselect.__path__, "blockselect."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {file for file, _ in functions_entered(call)}


def print_entered() -> None:
    from blockselect import BMGUFS, BlockModelSelector, load_cora
    from blockselect.cli.main import main as command

    cora = load_cora()

    def select() -> None:
        output = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            suppress(SystemExit),
            redirect_stdout(output),
            redirect_stderr(output),
        ):
            sys.argv = ["blockselect", "select", "--dataset", "cora", "--top", "64", "--out", folder]
            command()

    calls = {
        "BMGUFS.fit": lambda: BMGUFS(64, n_blocks=7, random_state=0).fit(cora.features, adjacency=cora.adjacency),
        "BlockModelSelector.fit": lambda: BlockModelSelector(64, random_state=0).fit(
            cora.features, adjacency=cora.adjacency
        ),
        "blockselect select": select,
    }
    for name, call in calls.items():
        print(f"{name:<24}{len(files_entered(call)):>6} files entered")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=SOURCE)
    parser.add_argument("--entered", action="store_true")
    options = parser.parse_args()
    counted = count(options.folder)
    together = (sum(files for files, _ in counted.values()), sum(lines for _, lines in counted.values()))
    print(f"{'package':<16}{'files':>8}{'code lines':>12}")
    for package, (n_files, n_lines) in [*sorted(counted.items()), ("together", together)]:
        print(f"{package:<16}{n_files:>8,}{n_lines:>12,}")
    if options.entered:
        print_entered()


if __name__ == "__main__":
    main()
