"""Runs the trials that are not in the store yet, in parallel, and stores each row as it comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TypeAlias

from joblib import Parallel, delayed, parallel_config

from blockselect.reproduction.agenda import Agenda, ConfigT, Standing, Work
from blockselect.reproduction.store import Store
from blockselect.reproduction.trial import Row, perform

CONNECT_SECONDS = 20
_OF_A_TERMINAL = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]

Progress: TypeAlias = Callable[[Standing], None]


def run_experiments(
    experiments: Sequence[Work[ConfigT]],
    config: ConfigT,
    store: Store,
    *,
    workers: int = 1,
    dask: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Run every trial of the experiments whose rows are not in the store.

    Parameters
    ----------
    experiments : sequence of modules with trials, as those of `reproduction.experiments`
    config : ExperimentConfig
        Or what else these modules read.
    store : Store
    workers : int
        Processes on this machine.
    dask : str, optional
        Address of a Dask scheduler, whose workers then do the work through joblib.
    progress : callable, optional
        Called at the beginning and after each trial.

    Raises
    ------
    RuntimeError
        A process that worked was ended from outside. Rows of trials that had ended are kept.
    ConnectionError
        No Dask scheduler answers.
    """
    with _backend(workers, dask):
        while agenda := Agenda(experiments, config, store):
            _run_agenda(agenda, progress)


def _run_agenda(agenda: Agenda[ConfigT], progress: Progress | None) -> None:
    report = progress or (lambda standing: None)
    report(agenda.standing())
    # Nothing is queued beyond the workers: trials that follow from others can then begin before the round is over.
    parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    with _interrupts_ignored():
        results: Generator[tuple[str, list[Row]]] = parallel(delayed(perform)(trial) for trial in agenda)
    with closing(results):
        for key, rows in results:
            agenda.keep(key, rows)
            report(agenda.standing())


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Workers that start meanwhile ignore what reaches all processes of a terminal: Ctrl-C and the terminal's end.

    This process ends them. They inherit what it ignores. (To block signals would not do: a start unblocks them.)
    """
    if threading.current_thread() is not threading.main_thread():  # elsewhere Python allows no change
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _OF_A_TERMINAL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _backend(workers: int, dask: str | None) -> Iterator[None]:
    """Where joblib runs trials: here, in processes of this machine, or on a Dask cluster."""
    if dask is None:
        with parallel_config(backend="loky" if workers > 1 else "sequential", n_jobs=workers):
            yield
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("a Dask cluster needs Dask; install it with: pip install 'blockselect[dask]'") from error
    client = Client(dask, timeout=CONNECT_SECONDS)  # type: ignore[no-untyped-call]
    with client, parallel_config(backend="dask"):
        yield
