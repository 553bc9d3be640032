"""Insert small faults into bmgufs/ and consensus/, one at a time, and test whether the tests detect them.

    python scripts/try_mutants.py --count 40 --seed 0 [--only losses.py] [--workers 2] [--longest 10]
                                  [--results mutants.jsonl]

A fault changes an operator, a comparison, a constant or a condition. Arguments of decorators are set aside: they are
options for the compiler, dataclasses and validation (``cache``, ``nogil``, ``eq``, …) and do not change what is
computed. The summary shows the share of detected faults twice: without the faults set aside, and counting them as
undetected.

The source is copied to a temporary folder, so the checkout is not changed. Each faulty copy runs the tests of its file
(TESTS), file by file and the fastest tests first, until a test fails or the time is up; both count as detected. The
tests must pass without a fault; the time that they take then determines the time limit. --longest leaves out tests that
take more than this number of seconds, which saves time but may miss faults.

--results saves the results in a file, and the same command then resumes an interrupted run. An undetected fault is
tried again if its tests have changed. A detected fault is not tried again, since tests are usually only added; use a
new file after removing tests.

Compiled code of unchanged files is cached. Numba notices a changed file by its time and size, but does not follow
imports. The script therefore checks that no compiled file imports from these packages.
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
SECONDS, TIMES = 60, 5  # time limit of a fault: at least 60 seconds, and 5 times what its tests usually take
LOADED = (  # imported before a process is forked for each fault
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

# Tests that apply to a file in addition to the test file of the same name.
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
    "bmgufs/statistics.py": ["tests/bmgufs/test_losses.py"],
    "consensus/consensus.py": ["tests/consensus/test_agreement.py"],
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
INTERPRETED = {"consensus/moves.py"}  # compiling takes longer than running its tests in Python
LEFT_OUT = {"cuda.py", "device.py", "__init__.py"}  # files that need a GPU or contain no code

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
    """One change in one file."""

    path: Path
    line: int
    what: str
    where: str  # the source line
    set_aside: bool  # whether it is in an argument of a decorator
    place: tuple[int, int]  # position of the node in the tree, and of the change among the changes of the node

    @property
    def name(self) -> str:
        return f"{self.path.relative_to(SOURCE)}:{self.line} {self.what}    | {self.where}"

    @cached_property
    def text(self) -> str:
        """The complete source of the file with the change."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = next(islice(ast.walk(tree), self.place[0], None))
        _, change = list(_changes(node))[self.place[1]]
        change(node)
        return ast.unparse(ast.fix_missing_locations(tree))


@dataclass(frozen=True)
class Trial:
    """The result of the tests of a file."""

    noticed: bool
    by: str  # the first test that failed
    seconds: float
    durations: dict[str, float]  # seconds of each test that ran


def faults_of(path: Path) -> Iterator[Fault]:
    """Yield all faults that can be inserted into a file."""
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
        yield "condition negated", lambda other: setattr(other, "test", ast.UnaryOp(ast.Not(), other.test))


def tests_of(path: Path) -> list[str]:
    """The test files for a source file, with the one of the same name first."""
    inside = path.relative_to(SOURCE)
    own = Path("tests") / inside.with_name(f"test_{path.name}")
    return [str(own)] * (ROOT / own).exists() + TESTS.get(inside.as_posix(), [])


class Order:
    """Pytest plugin that runs fast tests first, skips the longest, and records durations and the first failure."""

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
    """Run the tests with the source in the folder, and send the result; called in a separate process."""
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
    """A copy of the source, into which faults are inserted."""

    def __init__(self, folder: Path, longest: float) -> None:
        self._folder, self._longest = folder, longest
        shutil.copytree(SOURCE, folder / "blockselect", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(folder, quiet=2)

    def run(self, path: Path, durations: dict[str, float], limit: float | None = None) -> Trial:
        """Run the tests of a file on the unchanged copy."""
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
        """Run the tests with a fault inserted."""
        copied = self._folder / "blockselect" / fault.path.relative_to(SOURCE)
        copied.write_text(fault.text, encoding="utf-8")
        try:
            return self.run(fault.path, sound.durations, max(SECONDS, TIMES * sound.seconds))
        finally:
            shutil.copy2(fault.path, copied)


class Results:
    """The results so far, keyed by the hash of the tested file."""

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
        """The most recent test durations stored under this name."""
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
    """Check that no compiled file imports from these packages, since its cached code would not include their faults."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "from numba import" in text and any(f"from blockselect.{package}" in text for package in PACKAGES):
            raise SystemExit(
                f"{path.relative_to(ROOT)} is compiled and imports from {PACKAGES}, so its cache may be outdated"
            )


def sound_trial(path: Path, bench: Bench, results: Results) -> Trial:
    """Run the tests of a file without a fault; they must pass."""
    text, tests, name = path.read_text(encoding="utf-8"), tests_of(path), f"{path.relative_to(SOURCE)} as it is"
    found = results.find(text, tests)
    if found is None:
        found = bench.run(path, results.durations(name))
        if found.noticed:
            raise SystemExit(f"{path.relative_to(SOURCE)} without a fault: {found.by} fails")
        results.keep(text, tests, found, name)
    return found


def try_all(faults: list[Fault], results: Results, n_workers: int, longest: float) -> Iterator[tuple[Fault, Trial]]:
    """Yield each fault with its trial, in order."""
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
    """Draw a random sample by hash, so that it does not depend on changes in other lines."""
    seen: Counter[str] = Counter()
    by_hash = {}
    for fault in faults:
        what = f"{fault.path.relative_to(SOURCE)} {fault.what} {fault.where}"
        by_hash[_hash(f"{seed} {what} {seen[what]}")] = fault
        seen[what] += 1
    return [by_hash[place] for place in sorted(by_hash)[:count]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=40, help="number of random faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="only this file, such as losses.py")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--longest", type=float, default=float("inf"), help="leave out tests that take more than this number of seconds"
    )
    parser.add_argument(
        "--results", type=Path, help="file that stores the results, so that an interrupted run can be resumed"
    )
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
            print(f"not detected ({trial.seconds:.0f} s): {fault.name}", flush=True)
    print(f"{len(drawn)} faults drawn from {len(faults)} in {len(chosen)} files; {len(drawn) - len(tried)} set aside")
    print(f"{n_noticed} of {len(tried)} detected ({n_noticed / len(tried):.1%}), {seconds / len(tried):.1f} s each")
    print(f"if those set aside count as undetected: {n_noticed / len(drawn):.1%}")


if __name__ == "__main__":
    main()
