"""Put small faults into bmgufs/ and consensus/, one at a time, and see whether the tests of that file notice.

    python scripts/try_mutants.py --count 40 --seed 0 [--only losses.py] [--workers 2]

A fault swaps an operator, a comparison, a constant or a condition. The source is copied to a temporary folder; the
checkout stays as it is. Each faulty copy runs the tests that belong to its file (TESTS), until the first one fails or
the time is up, which counts as noticed too.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "blockselect"
PACKAGES = ("bmgufs", "consensus")
SECONDS = 300  # for the tests of one fault

# What tests a file besides the file of its own name.
TESTS = {
    "descent.py": ["tests/bmgufs/test_estimator.py"],
    "estimator.py": ["tests/consensus/test_screening_budget.py", "tests/test_invariance.py"],
    "gram_squared.py": ["tests/bmgufs/test_exact_gram.py"],
    "joint.py": ["tests/consensus/test_moves.py"],
    "link_likelihood.py": ["tests/consensus/test_joint.py"],
    "losses.py": ["tests/bmgufs/test_descent.py"],
    "moves.py": ["tests/consensus/test_joint.py"],
    "row_sums.py": ["tests/bmgufs/test_exact_gram.py", "tests/bmgufs/test_gram_squared.py"],
    "screening.py": ["tests/consensus/test_screening_budget.py"],
    "selector.py": ["tests/bmgufs/test_estimator.py", "tests/test_invariance.py"],
}
LEFT_OUT = {"cuda.py", "device.py", "__init__.py"}  # they need a GPU, or hold no code

SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Fault:
    """One change of one file."""

    path: Path
    line: int
    what: str
    text: str  # of the whole file, changed


def faults_of(path: Path) -> Iterator[Fault]:
    """Every fault that can be put into a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for place, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(next(found for at, found in enumerate(ast.walk(changed)) if at == place))
            yield Fault(path, getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(changed)))


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
        swapped = SWAPS[type(node.op)]
        if not (isinstance(node, ast.BinOp) and _is_type(node)):
            yield f"{type(node.op).__name__} → {swapped.__name__}", lambda other: setattr(other, "op", swapped())
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPS:
        swapped = SWAPS[type(node.ops[0])]
        yield f"{type(node.ops[0]).__name__} → {swapped.__name__}", lambda other: setattr(other, "ops", [swapped()])
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} → {not node.value}", lambda other: setattr(other, "value", not other.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield f"{node.value} → {node.value + 1}", lambda other: setattr(other, "value", other.value + 1)
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield "condition turned", lambda other: setattr(other, "test", ast.UnaryOp(ast.Not(), other.test))


def _is_type(node: ast.BinOp) -> bool:
    """``int | None`` and the like are no arithmetic."""
    return isinstance(node.op, ast.BitOr)


def tests_of(path: Path) -> list[str]:
    """The tests of a file, the quickest first."""
    own = ROOT / "tests" / path.relative_to(SOURCE).with_name(f"test_{path.name}")
    return [str(own.relative_to(ROOT)), *TESTS.get(path.name, [])] if own.exists() else TESTS.get(path.name, [])


def is_noticed(fault: Fault) -> bool:
    """Whether the tests fail with the fault in place."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "blockselect"
        shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
        (copied / fault.path.relative_to(SOURCE)).write_text(fault.text, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": folder, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests_of(fault.path)]
        try:
            return (
                subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS).returncode != 0
            )
        except subprocess.TimeoutExpired:
            return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40, help="faults to try, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a file, such as losses.py")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    files = [path for package in PACKAGES for path in sorted((SOURCE / package).glob("*.py"))]
    chosen = [path for path in files if path.name not in LEFT_OUT and options.only in (None, path.name)]
    faults = [fault for path in chosen if tests_of(path) for fault in faults_of(path)]
    drawn = random.Random(options.seed).sample(faults, min(options.count, len(faults)))
    n_noticed = 0
    with ThreadPoolExecutor(options.workers) as pool:
        for fault, noticed in zip(drawn, pool.map(is_noticed, drawn), strict=True):
            n_noticed += noticed
            if not noticed:
                print(f"not noticed: {fault.path.relative_to(SOURCE)}:{fault.line} {fault.what}", flush=True)
    print(f"{n_noticed} of {len(drawn)} noticed, drawn from {len(faults)} faults in {len(chosen)} files")


if __name__ == "__main__":
    main()
