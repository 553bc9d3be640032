"""Put small faults into bmgufs/ and consensus/, one at a time, and see whether the tests of that file notice.

    python scripts/try_mutants.py --count 40 --seed 0 [--only losses.py] [--workers 2] [--longest 10]
                                  [--results mutants.jsonl]

A fault swaps an operator, a comparison, a constant or a condition. Arguments of decorators are set aside by rule: they
are options of the compiler, of records and of the validation (``cache``, ``nogil``, ``eq``, …) and change how code is
made or stored, not what it computes. The summary gives both shares: without them, and with them as not noticed.

The source is copied to a temporary folder; the checkout stays as it is. Each faulty copy runs the tests that belong to
its file (TESTS), file by file, the quickest tests of a file first, until the first one fails or the time is up, which
counts as noticed too. The tests must pass without a fault; how long that takes sets the limit. With --longest, tests
that take more seconds each are left out: fewer faults are noticed, in less time.

With --results, what was found is kept in a file, and a run that was stopped goes on where it was. A fault that was not
noticed is tried again when its tests have changed since; one that was noticed stays so, as tests are only added: begin
with a new file after tests were taken away.

Compiled code of unchanged files is taken from a cache. Numba sees a changed file by its time and size but does not look
through imports, so no compiled file may import from another of these packages; this is checked.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "blockselect"
PACKAGES = ("bmgufs", "consensus")
SECONDS, TIMES = 60, 5  # for the tests of one fault: at least, and of what they take without a fault
LOADED = (  # before a process is forked for each fault
    "array_api_compat",
    "hypothesis.strategies",
    "joblib",
    "numba",
    "pandas",
    "pytest",
    "rich.progress",
    "scipy.io",
    "scipy.stats",
    "sklearn.utils.estimator_checks",
    "torch",
)

# What tests a file besides the file of its own name.
TESTS = {
    "bmgufs/descent.py": [
        "tests/bmgufs/test_sphere.py",
        "tests/bmgufs/test_device.py",
        "tests/bmgufs/test_estimator.py",
    ],
    "bmgufs/estimator.py": ["tests/test_invariance.py"],
    "bmgufs/gram.py": ["tests/bmgufs/test_gram_sums.py", "tests/bmgufs/test_low_rank.py"],
    "bmgufs/losses.py": ["tests/bmgufs/test_device.py", "tests/bmgufs/test_descent.py"],
    "bmgufs/gram_sums.py": [
        "tests/bmgufs/test_gram.py",
        "tests/bmgufs/test_low_rank.py",
    ],
    "consensus/ranking.py": ["tests/consensus/test_estimator.py"],
    "consensus/estimator.py": [
        "tests/consensus/test_estimator_contract.py",
        "tests/consensus/test_search.py",
        "tests/consensus/test_prediction.py",
    ],
    "consensus/refine.py": ["tests/consensus/test_moves.py"],
    "consensus/likelihood.py": [
        "tests/consensus/test_feature_likelihood.py",
        "tests/consensus/test_link_likelihood.py",
        "tests/consensus/test_link_excess.py",
        "tests/consensus/test_refine.py",
    ],
    "consensus/resampling.py": ["tests/consensus/test_estimator.py", "tests/inspection/test_stability.py"],
    "consensus/search.py": ["tests/consensus/test_estimator.py"],
    "inspection/null_model.py": [
        "tests/inspection/test_given_totals.py",
        "tests/inspection/test_matching_null.py",
        "tests/inspection/test_given_totals_reference.py",
    ],
    "inspection/stability.py": ["tests/inspection/test_reselection.py"],
    "consensus/target.py": ["tests/consensus/test_ranking.py"],
}
INTERPRETED = {"consensus/moves.py"}  # it compiles for longer than its own tests take in Python
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
    where: str  # the line of the source
    set_aside: bool  # an argument of a decorator
    place: tuple[int, int]  # of the node in the tree, and of the change among those of the node

    @property
    def name(self) -> str:
        return f"{self.path.relative_to(SOURCE)}:{self.line} {self.what}    | {self.where}"

    @cached_property
    def text(self) -> str:
        """Of the whole file, changed."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = next(islice(ast.walk(tree), self.place[0], None))
        _, change = list(_changes(node))[self.place[1]]
        change(node)
        return ast.unparse(ast.fix_missing_locations(tree))


@dataclass(frozen=True)
class Trial:
    """What the tests of a file said."""

    noticed: bool
    by: str  # the first test that failed
    seconds: float
    durations: dict[str, float]  # of the tests that were run


def faults_of(path: Path) -> Iterator[Fault]:
    """Every fault that can be put into a file."""
    source = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    decorating = {
        id(inner)
        for node in ast.walk(tree)
        for decorator in getattr(node, "decorator_list", [])
        for inner in ast.walk(decorator)
    }
    for place, node in enumerate(ast.walk(tree)):
        for number, (what, _) in enumerate(_changes(node)):
            line = getattr(node, "lineno", 0)
            yield Fault(path, line, what, lines[line - 1].strip(), id(node) in decorating, (place, number))


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in SWAPS:
        swapped = SWAPS[type(node.op)]
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


def tests_of(path: Path) -> list[str]:
    """The tests of a file, its own first."""
    inside = path.relative_to(SOURCE)
    own = Path("tests") / inside.with_name(f"test_{path.name}")
    return [str(own)] * (ROOT / own).exists() + TESTS.get(inside.as_posix(), [])


class Order:
    """Plugin of pytest: the quickest tests of a file first, the longest left out; which failed, how long each took."""

    def __init__(self, tests: list[str], durations: dict[str, float], longest: float) -> None:
        self._tests, self._known, self._longest = tests, durations, longest
        self.durations: dict[str, float] = {}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if self._known.get(item.nodeid, 0.0) <= self._longest]
        items.sort(key=lambda item: (self._tests.index(item.nodeid.split("::")[0]), self._known.get(item.nodeid, 0.0)))

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed = self.failed or f"{report.nodeid} cannot be imported"

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.durations[report.nodeid] = self.durations.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = self.failed or report.nodeid


def _run_tests(folder: str, tests: list[str], order: Order, compiled: bool, answer: Connection) -> None:
    """In a process of its own, with the source of the folder."""
    import pytest

    os.setsid()
    os.chdir(ROOT)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    os.environ.update(PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    os.environ.update(NUMBA_CACHE_DIR=f"{folder}/compiled", NUMBA_DISABLE_JIT=str(int(not compiled)))
    importlib.import_module("numba.core.config").reload_config()
    code = pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests], plugins=[order])
    answer.send((int(code), order.failed, order.durations))


class Bench:
    """A copy of the source that faults are put into."""

    def __init__(self, folder: Path, longest: float) -> None:
        self._folder, self._longest = folder, longest
        shutil.copytree(SOURCE, folder / "blockselect", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(folder, quiet=2)

    def run(self, path: Path, durations: dict[str, float], limit: float | None = None) -> Trial:
        """The tests of a file with the source as it is now."""
        tests, compiled = tests_of(path), path.relative_to(SOURCE).as_posix() not in INTERPRETED
        processes = multiprocessing.get_context("forkserver")
        question, answer = processes.Pipe(duplex=False)
        order = Order(tests, durations, self._longest)
        process = processes.Process(target=_run_tests, args=(str(self._folder), tests, order, compiled, answer))
        began = time.perf_counter()
        process.start()
        answer.close()
        code, by, took = 1, "time was up", {}
        try:
            if question.poll(limit):
                code, by, took = question.recv()
        except EOFError:
            by = "the process ended"
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
        process.join()
        return Trial(code != 0, by, time.perf_counter() - began, took)

    def try_fault(self, fault: Fault, sound: Trial) -> Trial:
        """The tests with the fault in place."""
        copied = self._folder / "blockselect" / fault.path.relative_to(SOURCE)
        copied.write_text(fault.text, encoding="utf-8")
        try:
            return self.run(fault.path, sound.durations, max(SECONDS, TIMES * sound.seconds))
        finally:
            shutil.copy2(fault.path, copied)


class Results:
    """What was found before, by what was tried."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self._found[row["key"]] = row

    def find(self, text: str, tests: list[str]) -> Trial | None:
        row = self._found.get(_hash(text))
        if row is None or (row["tests"] != _hash_of_files(tests) and not row["noticed"]):
            return None
        return Trial(row["noticed"], row["by"], row["seconds"], row["durations"])

    def durations(self, name: str) -> dict[str, float]:
        """Of the tests of a file as it was."""
        return next((row["durations"] for row in reversed(self._found.values()) if row["name"] == name), {})

    def keep(self, text: str, tests: list[str], trial: Trial, name: str) -> None:
        row = {"name": name, "key": _hash(text), "tests": _hash_of_files(tests), **asdict(trial)}
        self._found[row["key"]] = row
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _hash_of_files(paths: list[str]) -> str:
    return _hash("".join((ROOT / path).read_text(encoding="utf-8") for path in paths))


def check_compiled_files() -> None:
    """No compiled file imports from these packages: its cached code would not see a fault there."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "from numba import" in text and any(f"from blockselect.{package}" in text for package in PACKAGES):
            raise SystemExit(f"{path.relative_to(ROOT)} is compiled and imports from {PACKAGES}: its cache may be old")


def sound_trial(path: Path, bench: Bench, results: Results) -> Trial:
    """The tests of a file without a fault: they must pass."""
    text, tests, name = path.read_text(encoding="utf-8"), tests_of(path), f"{path.relative_to(SOURCE)} as it is"
    found = results.find(text, tests)
    if found is None:
        found = bench.run(path, results.durations(name))
        if found.noticed:
            raise SystemExit(f"{path.relative_to(SOURCE)} without a fault: {found.by} fails")
        results.keep(text, tests, found, name)
    return found


def try_all(faults: list[Fault], results: Results, n_workers: int, longest: float) -> Iterator[tuple[Fault, Trial]]:
    """Each fault, as its turn comes."""
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(list(LOADED))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(n_workers) as pool:
        benches: SimpleQueue[Bench] = SimpleQueue()
        for number in range(n_workers):
            benches.put(Bench(Path(folder) / str(number), longest))

        def trial(fault: Fault) -> Trial:
            found = results.find(fault.text, tests_of(fault.path))
            if found is None:
                bench = benches.get()
                try:
                    found = bench.try_fault(fault, sound_trial(fault.path, bench, results))
                finally:
                    benches.put(bench)
                results.keep(fault.text, tests_of(fault.path), found, fault.name)
            return found

        yield from zip(faults, pool.map(trial, faults), strict=True)


def draw(faults: list[Fault], count: int, seed: int) -> list[Fault]:
    """A random sample that a change of other lines leaves as it is: those whose hash with the seed comes first."""
    seen: Counter[str] = Counter()
    by_hash = {}
    for fault in faults:
        what = f"{fault.path.relative_to(SOURCE)} {fault.what} {fault.where}"
        by_hash[_hash(f"{seed} {what} {seen[what]}")] = fault
        seen[what] += 1
    return [by_hash[place] for place in sorted(by_hash)[:count]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40, help="faults to draw at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a file, such as losses.py")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--longest", type=float, default=float("inf"), help="seconds that a test may take by itself")
    parser.add_argument("--results", type=Path, help="file to keep what was found, and to go on from")
    options = parser.parse_args()
    check_compiled_files()
    os.environ["OMP_NUM_THREADS"] = "1"
    files = [path for package in PACKAGES for path in sorted((SOURCE / package).glob("*.py"))]
    chosen = [path for path in files if path.name not in LEFT_OUT and options.only in (None, path.name)]
    faults = [fault for path in chosen if tests_of(path) for fault in faults_of(path)]
    drawn = draw(faults, options.count, options.seed)
    tried = [fault for fault in drawn if not fault.set_aside]
    n_noticed, seconds = 0, 0.0
    for fault, trial in try_all(tried, Results(options.results), options.workers, options.longest):
        n_noticed += trial.noticed
        seconds += trial.seconds
        if not trial.noticed:
            print(f"not noticed ({trial.seconds:.0f} s): {fault.name}", flush=True)
    print(f"{len(drawn)} faults drawn from {len(faults)} in {len(chosen)} files; {len(drawn) - len(tried)} set aside")
    print(f"{n_noticed} of {len(tried)} noticed, {n_noticed / len(tried):.1%}, in {seconds / len(tried):.1f} s each")
    print(f"with those set aside as not noticed: {n_noticed / len(drawn):.1%}")


if __name__ == "__main__":
    main()
