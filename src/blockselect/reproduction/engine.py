"""The engine of the experiments: trials, the agenda of those still to be run, and the processes that run them."""

from __future__ import annotations

import hashlib
import json
import math
import random
import time
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from joblib import Parallel, delayed, parallel_config

from blockselect.errors import collected_warnings
from blockselect.evaluation.workers import end_with_parent, signals_ignored
from blockselect.reproduction.store import Row, Store
from blockselect.threads import one_thread

CONNECT_SECONDS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One piece of work of an experiment, which gives one or more rows.

    The settings identify the trial; the payload follows from them and the configuration.
    """

    experiment: str
    settings: Mapping[str, Any]  # flat, JSON values
    run: Callable[..., list[Row]]  # a module-level function: payload as keywords → flat results, JSON values
    payload: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0  # approximate seconds on one core; long trials start early

    @property
    def key(self) -> str:
        """Identifies the trial in every run."""
        text = json.dumps([self.experiment, self.settings], sort_keys=True)
        return f"{self.experiment}/{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def perform(trial: Trial) -> tuple[str, list[Row]]:
    """Run a trial and return its key and rows, which contain no times: they depend on configuration and seed alone.

    A failure becomes a row with its error.
    """
    end_with_parent()
    identity = {"experiment": trial.experiment, **trial.settings}
    with collected_warnings() as messages:
        try:
            # One thread, because several would add numbers in an order that varies. Trials run in parallel instead.
            with one_thread(), parallel_config(backend="sequential"):
                rows = trial.run(**trial.payload)
        except Exception as error:  # The failure of one trial, whatever it is, must not stop the others.
            where = traceback.extract_tb(error.__traceback__)[-1].name
            rows = [{"error": f"{type(error).__name__}: {error} (in {where})"}]
    return trial.key, [{"error": None, **identity, **row, "warning": "; ".join(messages) or None} for row in rows]


Plan: TypeAlias = Callable[[Any, list[Row]], list[Trial]]
"""Makes all trials of an experiment that are known from a configuration and the rows so far.

The rows of a trial may lead to further trials.
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """The progress of a run."""

    done: int
    known: int  # number of trials known so far; finished trials may lead to more
    seconds_left: float | None  # estimate for the known trials


TrialProgress: TypeAlias = Callable[[Standing], None]


class Agenda:
    """The trials whose rows are not in the store, handed out one by one.

    Long trials tend to come first, and the order is drawn anew each time, so that processes that share a store seldom
    run the same trial at once. No row depends on the order.
    """

    def __init__(self, plans: Mapping[str, Plan], config: Any, store: Store) -> None:
        self._plans, self._config, self._store = plans, config, store
        self._known: set[str] = set()
        self._waiting: list[Trial] = []  # to be handed out
        self.left: dict[str, Trial] = {}  # by key: not handed out, or running
        self._cost_here = 0.0
        self._start = time.monotonic()
        self._find_trials()

    def __iter__(self) -> Iterator[Trial]:
        while self._waiting:
            trial = self._waiting.pop()
            if self._store.has(trial.key):  # another process has run it in the meantime
                del self.left[trial.key]
            else:
                yield trial
            if not self._waiting:
                self._find_trials()

    def keep(self, key: str, rows: list[Row]) -> None:
        """Save the rows of a trial that was handed out."""
        self._store.add(key, rows)
        self._cost_here += self.left.pop(key).cost

    def standing(self) -> Standing:
        cost_left = sum(trial.cost for trial in tuple(self.left.values()))  # another thread may hand out trials
        elapsed = time.monotonic() - self._start
        seconds_left = elapsed * cost_left / self._cost_here if self._cost_here else None
        return Standing(len(self._known) - len(self.left), len(self._known), seconds_left)

    def _find_trials(self) -> None:
        """Add the trials that follow from the rows in the store."""
        for name, plan in self._plans.items():
            for trial in plan(self._config, self._store.rows(name)):
                key = trial.key
                if key not in self._known and not self._store.has(key):
                    self.left[key] = trial
                    self._waiting.append(trial)
                self._known.add(key)
        dice = random.Random()
        self._waiting.sort(key=lambda trial: math.log(trial.cost) - math.log(dice.expovariate(1.0)))


def run_experiments(
    plans: Mapping[str, Plan],
    config: Any,
    store: Store,
    *,
    workers: int = 1,
    dask: str | None = None,
    progress: TrialProgress | None = None,
) -> None:
    """Run every trial of the experiments whose rows are not in the store.

    Parameters
    ----------
    plans : mapping
        The plan of each experiment, by the name under which the store has its rows.
    config
        The configuration that the plans read.
    store : Store
    workers : int
        Number of processes on this machine.
    dask : str, optional
        Address of a Dask scheduler, whose workers then run the trials.
    progress : callable, optional
        Called at the beginning and after each trial.

    Raises
    ------
    RuntimeError
        A worker process was killed. Rows of finished trials are kept.
    ConnectionError
        No Dask scheduler answers.
    """
    report = progress or (lambda standing: None)
    with _backend(workers, dask):
        while (agenda := Agenda(plans, config, store)).left:
            report(agenda.standing())
            # Nothing is queued beyond the workers, so that trials that follow from others can begin early.
            parallel = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
            with signals_ignored():
                results: Generator[tuple[str, list[Row]]] = parallel(delayed(perform)(trial) for trial in agenda)
            with warnings.catch_warnings(), closing(results):
                warnings.filterwarnings("ignore", r"\d+ tasks ")  # of joblib, if an interruption closes the results
                for key, rows in results:
                    agenda.keep(key, rows)
                    report(agenda.standing())


@contextmanager
def _backend(workers: int, dask: str | None) -> Iterator[None]:
    """Let joblib run trials in this process, in several processes of this machine, or on a Dask cluster."""
    if dask is None:
        with parallel_config(backend="loky" if workers > 1 else "sequential", n_jobs=workers):
            yield
        return
    from distributed import Client

    client = Client(dask, timeout=CONNECT_SECONDS)  # type: ignore[no-untyped-call]
    with client, parallel_config(backend="dask"):
        yield


def complete_rows(plans: Mapping[str, Plan], config: Any, store: Store) -> dict[str, list[Row]]:
    """All rows of each experiment that is complete in the store, with its clusterings, in the order of its trials."""
    complete = {}
    for name, plan in plans.items():
        found = [store.get(trial.key) for trial in plan(config, store.rows(name))]
        if None not in found:
            complete[name] = [row for rows in found for row in rows or ()]
    return {name: rows for name, rows in complete.items() if rows}
