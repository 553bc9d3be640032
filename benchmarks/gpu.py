"""The descent on a CUDA device, compared with the CPU, and timed relative to its matrix products alone.

    PYTHONPATH=src python -m benchmarks.gpu table.md

The problem is BlogCatalog with its published block models if the environment variables BLOCKSELECT_DATA and
BLOCKSELECT_GOLDEN name BlogCatalog.mat and blogcatalog_block_models.npz, or folders that contain them; otherwise it is
a random problem of the same size. The benchmark needs NumPy, SciPy, scikit-learn, joblib and a CUDA build of torch.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import logging
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
from scipy import sparse
from scipy.io import loadmat

UNUSED = ("numba", "pandas")  # imported by the package, but not needed here


def _import_package() -> None:
    """Import the descent even if packages that it does not need are missing."""
    if importlib.util.find_spec("array_api_compat") is None:  # scikit-learn contains a copy
        sys.modules["array_api_compat"] = importlib.import_module("sklearn.externals.array_api_compat")
    missing = [name for name in UNUSED if importlib.util.find_spec(name) is None]
    sys.modules.update((name, mock.MagicMock()) for name in missing)
    importlib.import_module("blockselect.bmgufs.descent")
    for name in missing:
        del sys.modules[name]


_import_package()

from benchmarks.gpu_report import Report, now, seconds, stored_file  # noqa: E402
from blockselect.blockmodels.model import BlockModel  # noqa: E402
from blockselect.bmgufs import cuda, descent  # noqa: E402
from blockselect.bmgufs.descent import Descent, descend  # noqa: E402
from blockselect.bmgufs.device import (  # noqa: E402
    dense_gram_on_device,
    in_tfloat32,
    problem_to_device,
)
from blockselect.bmgufs.gram import DenseGramSquared  # noqa: E402
from blockselect.bmgufs.statistics import BlockStatistics  # noqa: E402
from blockselect.utils.arrays import to_numpy  # noqa: E402

N_NODES, N_FEATURES, N_ENTRIES, N_BLOCKS, N_MODELS = 5196, 8189, 369_435, 6, 10  # of BlogCatalog
RATIOS = np.linspace(0, 1, 11)
SPARSITIES = np.linspace(0, 5, 11)
GRID = {"profile_ratio": np.repeat(RATIOS, 11), "sparsity": np.tile(SPARSITIES, 11)}
ONE = {"profile_ratio": 0.6, "sparsity": 0.0}
N_ITER = 200
TOP = 64
LIMITS = {("one", "float32"): 0.03, ("grid", "float32"): 0.8, ("grid", "tfloat32"): 0.4}


@dataclass(frozen=True)
class Problem:
    name: str
    features: sparse.csr_array
    models: list[BlockModel]


@dataclass(frozen=True)
class OnDevice:
    gram: Any
    all_models: Any
    one_model: Any

    def statistics(self, shape: str) -> Any:
        return self.one_model if shape == "one" else self.all_models


def load_problem(small: bool) -> Problem:
    data, golden = (
        stored_file("BLOCKSELECT_DATA", "BlogCatalog.mat"),
        stored_file("BLOCKSELECT_GOLDEN", "blogcatalog_block_models.npz"),
    )
    if small or data is None or golden is None:
        return _made(*((300, 520, 6000) if small else (N_NODES, N_FEATURES, N_ENTRIES)))
    features = sparse.csr_array(loadmat(data, spmatrix=False)["Attributes"]).astype(np.float64)
    stored = np.load(golden)
    models = [
        BlockModel(labels.astype(np.intp), density, 0.0)
        for labels, density in zip(stored["labels"], stored["density"], strict=True)
    ]
    return Problem("BlogCatalog, published block models", features, models)


def _made(n: int, m: int, entries: int) -> Problem:
    """Noisy blocks and binary features of widely varying frequency, a tenth of which follow the classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_BLOCKS, size=n)
    frequency = 1 / np.arange(10, m + 10)
    columns = rng.choice(m, size=entries, p=frequency / frequency.sum())
    rows = rng.integers(n, size=entries)
    by_class = columns % 10 == 0
    members = [np.flatnonzero(classes == a) for a in range(N_BLOCKS)]
    rows[by_class] = [rng.choice(members[column // 10 % N_BLOCKS]) for column in columns[by_class]]
    features = sparse.csr_array((np.ones(entries), (rows, columns)), shape=(n, m))
    features.data[:] = 1
    models = []
    for _ in range(N_MODELS):
        labels = np.where(rng.random(n) < 0.7, classes, rng.integers(N_BLOCKS, size=n))
        density = 0.005 + 0.001 * rng.random((N_BLOCKS, N_BLOCKS)) + 0.02 * np.eye(N_BLOCKS)
        models.append(BlockModel(labels.astype(np.intp), (density + density.T) / 2, 0.0))
    return Problem("a random problem as large as BlogCatalog" if n == N_NODES else "small", features, models)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the report, in Markdown; next to it, the profile (.profile.txt)")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true", help="a small problem, to test the benchmark itself")
    parser.add_argument("--no-compile", action="store_true", help="leave out the compiled mode, which takes a minute")
    chosen = parser.parse_args()
    logging.basicConfig(level=logging.INFO)  # shows why an iteration could not be captured or compiled
    report = Report()
    with report.written_to(chosen.out):
        measure(report, chosen)


def measure(report: Report, chosen: argparse.Namespace) -> None:
    device, on_cuda = chosen.device, chosen.device.startswith("cuda")
    problem = load_problem(chosen.small)
    name = torch.cuda.get_device_name() if on_cuda else "CPU"
    report.say(f"{name}, torch {torch.__version__}; {problem.name}; {N_ITER} iterations\n")
    dtypes = ("float64", "float32", "tfloat32") if on_cuda else ("float64", "float32")
    modes = ["eager", "captured"] if on_cuda else ["eager"]
    if on_cuda and not chosen.no_compile:
        modes.append("compiled")
    problems = {dtype: _made_on_device(problem, dtype, device, report) for dtype in dtypes[:2]}
    problems["tfloat32"] = problems["float32"]
    _check_preparation(report, problem, problems["float64"])
    _check_against_cpu(report, problem, problems["float64"], device)
    ceilings = _ceilings(dtypes, device, 512 if chosen.small else 8192)
    reference = _scores(problems["float64"], "grid", "float64", "captured" if on_cuda else "eager")
    _say_what_rounding_does(report, problems["float64"], reference)
    rows = []
    for dtype in dtypes:
        for shape in ("one", "grid"):
            rows += _timings(report, problems[dtype], shape, dtype, modes, ceilings, reference)
    report.say("")
    for line in _markdown(rows):
        report.say(line)
    report.say(
        "\nCeilings measured here: "
        + ", ".join(f"{dtype} {rate / 1e12:.1f} TFLOP/s" for dtype, rate in ceilings.items() if dtype != "copy")
        + f", copy {ceilings['copy'] / 1e12:.2f} TB/s."
    )
    _other_products(report, problem, problems, dtypes)
    for dtype in dtypes[:2]:
        made, solver = problems[dtype], Descent(gradient="paper", tol=0, max_iter=N_ITER, dtype=dtype)
        taken = seconds(
            lambda made=made, solver=solver: solver.solve(made.gram, made.all_models, device=device, **GRID), device
        )
        report.say(f"- all solves in {dtype}, captured, until the scores are NumPy arrays: {taken:.3f} s")
    if on_cuda:
        _profile(problems, modes, chosen.out.with_suffix(".profile.txt"))


def _made_on_device(problem: Problem, dtype: str, device: str, report: Report) -> OnDevice:
    models = problem.models

    def make() -> OnDevice:
        gram = dense_gram_on_device(problem.features, dtype=dtype, device=device)
        several, one = (
            problem_to_device(gram, BlockStatistics.of(problem.features, some, dtype=dtype), device)[1]
            for some in (models, models[:1])
        )
        return OnDevice(gram, several, one)

    make()
    start = now(device)
    made = make()
    report.say(f"- Gram matrix made on the device, statistics moved there, {dtype}: {now(device) - start:.3f} s")
    return made


def _check_preparation(report: Report, problem: Problem, made: OnDevice) -> None:
    m = problem.features.shape[1]
    sample = np.linspace(0, m - 1, min(m, 200)).astype(int)
    exact = ((problem.features[:, sample].T @ problem.features).toarray()) ** 2
    ours = to_numpy(made.gram.values[torch.asarray(sample, device=made.gram.values.device)])
    report.check("Gram matrix on the device = sparse product on the CPU", bool(np.array_equal(ours[:, :m], exact)))


def _check_against_cpu(report: Report, problem: Problem, made: OnDevice, device: str) -> None:
    """Compare float64 scores and losses, for one solve and for all models with two settings."""
    m = problem.features.shape[1]
    gram = DenseGramSquared(np.ascontiguousarray(to_numpy(made.gram.values[:m, :m])))
    solver = Descent(gradient="paper", tol=0, max_iter=N_ITER)
    for models, settings in (
        (problem.models[:1], ONE),
        (problem.models, {"profile_ratio": [0.6, 0.3], "sparsity": [0.0, 1.0]}),
    ):
        statistics = BlockStatistics.of(problem.features, models)
        start = time.perf_counter()
        ours = solver.solve(gram, statistics, **settings)
        taken = time.perf_counter() - start
        theirs = solver.solve(made.gram, statistics, device=device, **settings)
        count = ours.scores[..., 0].size
        error = np.abs(ours.scores - theirs.scores).max()
        report.check(
            f"float64 scores of {count} solve(s) agree with NumPy (difference {error:.1e})", bool(error <= 1e-10)
        )
        error = np.abs(ours.profile_loss - theirs.profile_loss).max()
        report.check(f"so do the losses (difference {error:.1e})", bool(error <= 1e-8))
        report.say(f"- NumPy takes {taken:.2f} s for {count} solve(s)")


def _scores(made: OnDevice, shape: str, dtype: str, mode: str) -> np.ndarray:
    return to_numpy(_solve(made, shape, dtype, mode)())


def _solve(made: OnDevice, shape: str, dtype: str, mode: str) -> Callable[[], Any]:
    """A call to the solver with tensors on the device; the scores remain there."""
    solver = Descent(gradient="paper", tol=0, max_iter=N_ITER, dtype=dtype, compile=mode == "compiled")
    settings = ONE if shape == "one" else GRID
    gram, statistics = problem_to_device(made.gram, made.statistics(shape), str(made.gram.values.device))

    def run() -> Any:
        with _not_captured() if mode == "eager" else nullcontext():
            return descend(solver, gram, statistics, **settings).scores

    return run


@contextmanager
def _not_captured() -> Iterator[None]:
    logging.getLogger(cuda.__name__).setLevel(logging.WARNING)  # the reason is known
    with mock.patch.object(cuda, "_capture", side_effect=RuntimeError("left out")):
        yield
    logging.getLogger(cuda.__name__).setLevel(logging.INFO)


def _timings(
    report: Report,
    made: OnDevice,
    shape: str,
    dtype: str,
    modes: list[str],
    ceilings: dict[str, float],
    reference: np.ndarray,
) -> Iterator[list[str]]:
    device = str(made.gram.values.device)
    bare = seconds(_bare(made, shape, dtype), device)
    yield _row(made, shape, dtype, "bare products", bare, None, ceilings, "")
    best = float("inf")
    for mode in modes:
        try:
            run = _solve(made, shape, dtype, mode)
            with _counting_captures() as captures:
                start = now(device)
                scores = run()
                first = now(device) - start
            agreement = Agreement.of_scores(reference, to_numpy(scores), shape)
            taken = seconds(run, device)
        except Exception:  # torch and its compiler can raise anything; the other modes are still measured
            report.say(f"\n{shape} {dtype} {mode} failed:\n```\n{traceback.format_exc()}```")
            report.failed.append(f"{shape} {dtype} {mode}")
            continue
        best = min(best, taken)
        report.say(
            f"- {shape} {dtype} {mode}: {taken:.4f} s ({taken / bare:.2f} × bare), first {first:.1f} s; {agreement}"
        )
        if mode != "eager" and captures != [True]:
            report.check(f"{shape} {dtype} {mode} is captured", good=False)
        if mode == "compiled" and not cuda.compiled_by_torch(descent._advance)._has_worked:
            report.check(f"{shape} {dtype} {mode} is compiled", good=False)
        if agreement.same < agreement.of:
            report.check(f"{shape} {dtype} {mode} selects the same", good=False)
        yield _row(made, shape, dtype, mode, taken, first, ceilings, str(agreement))
    limit = LIMITS.get((shape, dtype))
    if limit is not None and device.startswith("cuda"):
        report.check(f"{shape} {dtype}: {best:.4f} s, at most {limit} s", best <= limit)


@contextmanager
def _counting_captures() -> Iterator[list[bool]]:
    """Whether each attempted capture succeeded."""
    seen: list[bool] = []
    real = cuda._capture

    def capture(iteration: Callable[[], None]) -> Callable[[], None]:
        try:
            replay = real(iteration)
        except RuntimeError:
            traceback.print_exc()
            seen.append(False)
            raise
        seen.append(True)
        return replay

    with mock.patch.object(cuda, "_capture", capture):
        yield seen


def _top(scores: np.ndarray) -> list[set[int]]:
    """The best features with a positive score, for each solve."""
    flat = scores.reshape(-1, scores.shape[-1])
    return [set(np.argsort(-row, kind="stable")[: min(TOP, np.count_nonzero(row))]) for row in flat]


@dataclass(frozen=True)
class Agreement:
    """Agreement with float64: the number of solves with the same best features, and the largest error of the scores."""

    same: int
    of: int
    same_fewer: int
    of_fewer: int
    error: float

    @classmethod
    def of_scores(cls, reference: np.ndarray, scores: np.ndarray, shape: str) -> Agreement:
        wanted = reference[:1, 66:67] if shape == "one" else reference  # β̄ = 0.6, γ = 0 of the first model
        pairs = list(zip(_top(wanted), _top(scores), strict=True))
        enough = [a == b for a, b in pairs if len(a) == TOP]
        fewer = [a == b for a, b in pairs if len(a) < TOP]
        error = float(np.abs(wanted - scores).max() / wanted.max())
        return cls(sum(enough), len(enough), sum(fewer), len(fewer), error)

    def __str__(self) -> str:
        fewer = f"; {self.same_fewer} of {self.of_fewer} with fewer positive scores" if self.of_fewer else ""
        return f"same top {TOP} in {self.same} of {self.of}{fewer}; scores within {self.error:.0e}"


def _say_what_rounding_does(report: Report, made: OnDevice, reference: np.ndarray) -> None:
    """Report how much an error of 1e-14 in the scores grows over all iterations, in float64."""
    noise = 1e-14

    class Noisy:
        def apply(self, scores: Any) -> Any:
            return made.gram.apply(scores * (1 + noise * torch.randn_like(scores)))

    solver = Descent(gradient="paper", tol=0, max_iter=N_ITER)
    with _not_captured():
        scores = to_numpy(descend(solver, Noisy(), made.all_models, **GRID).scores)
    flat, wanted = (x.reshape(-1, x.shape[-1]) for x in (scores, reference))
    growth = np.abs(flat - wanted).max(axis=1) / wanted.max(axis=1) / noise
    worst = ", ".join(
        f"{growth[i]:.0e} (model {i // 121}, β̄ {GRID['profile_ratio'][i % 121]:.1f}, γ {GRID['sparsity'][i % 121]:.1f})"
        for i in np.argsort(-growth)[:5]
    )
    report.say(f"- an error of {noise:.0e} in each product grows {np.median(growth):.1g} times (median); most: {worst}")


def _bare(made: OnDevice, shape: str, dtype: str) -> Callable[[], Any]:
    """Compute only the matrix products of a descent."""
    n_solves = 1 if shape == "one" else made.all_models.n_models * len(GRID["sparsity"])
    W = made.gram.values
    gram = in_tfloat32(made.gram, n_solves=n_solves) if dtype == "tfloat32" else made.gram
    scores = torch.rand((n_solves, W.shape[0]), dtype=W.dtype, device=W.device)

    def run() -> None:
        with cuda.float32_products(W, tfloat32=False):
            for _ in range(N_ITER + 1):
                gram.apply(scores)

    return run


def _row(
    made: OnDevice,
    shape: str,
    dtype: str,
    mode: str,
    taken: float,
    first: float | None,
    ceilings: dict[str, float],
    note: str,
) -> list[str]:
    m = made.all_models.n_features
    n_solves = 1 if shape == "one" else made.all_models.n_models * len(GRID["sparsity"])
    flops = 2 * n_solves * m * m * (N_ITER + 1) / taken
    traffic = made.gram.values.element_size() * m * m * (N_ITER + 1) / taken
    rate = f"{flops / 1e12:.1f} TFLOP/s, {flops / ceilings[dtype]:.0%}"
    if shape == "one":
        rate = f"{traffic / 1e12:.2f} TB/s, {traffic / ceilings['copy']:.0%}"
    return [
        "one solve" if shape == "one" else f"{n_solves:,} solves",
        dtype,
        mode if mode != "compiled" else "compiled and captured",
        f"{taken:.4f}",
        "" if first is None else f"{first:.2f}",
        rate,
        note,
    ]


def _markdown(rows: list[list[str]]) -> Iterator[str]:
    header = [
        "what",
        "dtype",
        "how",
        "seconds",
        "first call",
        "throughput of the products (share of peak)",
        "agreement with float64",
    ]
    yield "| " + " | ".join(header) + " |"
    yield "|" + " --- |" * len(header)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _ceilings(dtypes: tuple[str, ...], device: str, size: int) -> dict[str, float]:
    """FLOP/s of a large product in each precision; bytes/s of a large copy, read and written."""
    rates = {}
    for dtype in dtypes:
        A, B = (torch.rand((size, size), dtype=_torch_type(dtype), device=device) for _ in range(2))

        def product(A: Any = A, B: Any = B, dtype: str = dtype) -> None:
            with cuda.float32_products(A, tfloat32=dtype == "tfloat32"):
                for _ in range(5):
                    torch.matmul(A, B)

        rates[dtype] = 5 * 2 * size**3 / seconds(product, device)
    source = torch.rand(2**29 if size == 8192 else 2**20, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    rates["copy"] = 2 * source.numel() * 4 / seconds(lambda: target.copy_(source), device)
    return rates


def _torch_type(dtype: str) -> Any:
    return torch.float64 if dtype == "float64" else torch.float32


def _other_products(report: Report, problem: Problem, problems: dict[str, OnDevice], dtypes: tuple[str, ...]) -> None:
    """Report the effect of padding the features, and which order of a single product is faster."""
    m = problem.features.shape[1]
    for dtype in dtypes:
        W = problems[dtype].gram.values
        device = str(W.device)
        plain = W[:m, :m].contiguous()
        n_solves = len(problem.models) * len(GRID["sparsity"])

        def time_of(
            function: Callable[[Any, Any], Any], matrix: Any, n: int, dtype: str = dtype, device: str = device
        ) -> float:
            scores = torch.rand((n, len(matrix)), dtype=matrix.dtype, device=matrix.device)

            def run() -> None:
                with cuda.float32_products(matrix, tfloat32=dtype == "tfloat32"):
                    for _ in range(20):
                        function(matrix, scores)

            return seconds(run, device) / 20

        report.say(
            f"- one product, {dtype}: W r {1e6 * time_of(lambda W, r: W @ r[0], W, 1):.0f} µs, "
            f"without padding {1e6 * time_of(lambda W, r: W @ r[0], plain, 1):.0f} µs, "
            f"rᵀ W {1e6 * time_of(lambda W, r: r @ W, W, 1):.0f} µs; {n_solves} solves "
            f"{1e3 * time_of(lambda W, r: r @ W, W, n_solves):.2f} ms, "
            f"without padding {1e3 * time_of(lambda W, r: r @ W, plain, n_solves):.2f} ms"
        )


def _profile(problems: dict[str, OnDevice], modes: list[str], path: Path) -> None:
    """Write how much time each kernel takes."""
    tables = []
    for mode in modes[1:]:
        for shape in ("one", "grid"):
            run = _solve(problems["float32"], shape, "float32", mode)
            run()
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                run()
                torch.cuda.synchronize()
            tables.append(f"{shape} {mode}\n{_kernels(profile)}")
    path.write_text("\n\n".join(tables))


def _kernels(profile: Any) -> str:
    events = sorted(profile.key_averages(), key=lambda event: -event.device_time_total)
    lines = [
        f"{event.device_time_total / 1e3:10.2f} ms {event.count:7d} × {event.device_time_total / event.count:8.1f} µs  "
        f"{event.key[:150]}"
        for event in events[:45]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
