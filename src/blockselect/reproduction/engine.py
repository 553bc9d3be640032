"""Trials of experiments, and the worker processes that run trials without stored results."""

from __future__ import annotations

import hashlib
import json
import traceback
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeAlias

from joblib import Parallel, delayed, parallel_config

from blockselect.evaluation.workers import end_with_parent, signals_ignored
from blockselect.reproduction.store import Row, Store
from blockselect.utils.errors import collected_warnings
from blockselect.utils.threads import one_thread


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One piece of work of an experiment, which gives one or more rows.

    The settings identify the trial: what it runs follows from them and the configuration.
    """

    experiment: str
    settings: Mapping[str, Any]  # flat, JSON values
    run: Callable[[], list[Row]]  # flat results, JSON values; a partial of a module-level function, which is pickled

    @property
    def key(self) -> str:
        """Identifies the trial in every run."""
        text = json.dumps([self.experiment, self.settings], sort_keys=True)
        return f"{self.experiment}/{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def perform(trial: Trial) -> tuple[str, list[Row]]:
    """Run a trial and return its key and rows, which contain no times: they depend only on configuration and seed.

    A failure becomes a row with its error.
    """
    end_with_parent()
    identity = {"experiment": trial.experiment, **trial.settings}
    with collected_warnings() as messages:
        try:
            # One thread, because several would add numbers in an order that varies. Trials run in parallel instead.
            with one_thread(), parallel_config(backend="sequential"):
                rows = trial.run()
        except Exception as error:  # The failure of one trial, whatever it is, must not stop the others.
            where = traceback.extract_tb(error.__traceback__)[-1].name
            rows = [{"error": f"{type(error).__name__}: {error} (in {where})"}]
    return trial.key, [{"error": None, **identity, **row, "warning": "; ".join(messages) or None} for row in rows]


Plan: TypeAlias = Callable[[Any, list[Row]], list[Trial]]
"""Makes all trials of an experiment that are known from a configuration and the rows so far.

The rows of a trial may lead to further trials.
"""
TrialProgress: TypeAlias = Callable[[int, int], None]
"""Called with the numbers of finished and of planned trials; the second may grow as trials finish."""


def run_experiments(
    plans: Mapping[str, Plan], config: Any, store: Store, *, workers: int = 1, progress: TrialProgress | None = None
) -> None:
    """Run every trial of the experiments whose rows are not in the store.

    Parameters
    ----------
    plans : mapping
        The plan of each experiment, keyed by its name in the store.
    config
        The configuration that the plans read.
    store : Store
    workers : int
        Number of processes.
    progress : callable, optional
        Called at the beginning and after each trial.

    Raises
    ------
    RuntimeError
        A worker process was killed. Rows of finished trials are kept.
    """
    report = progress or (lambda done, known: None)
    while True:
        known = {trial.key: trial for name, plan in plans.items() for trial in plan(config, store.rows(name))}
        missing = [trial for key, trial in known.items() if not store.has(key)]
        if not missing:
            return
        n_before = len(known) - len(missing)
        report(n_before, len(known))
        backend = "loky" if workers > 1 else "sequential"
        parallel = Parallel(workers, backend, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        with signals_ignored():
            results: Generator[tuple[str, list[Row]]] = parallel(delayed(perform)(trial) for trial in missing)
        with warnings.catch_warnings(), closing(results):
            warnings.filterwarnings("ignore", r"\d+ tasks ")  # of joblib, if an interruption closes the results
            for done, (key, rows) in enumerate(results, start=n_before + 1):
                store.add(key, rows)
                report(done, len(known))


def complete_rows(plans: Mapping[str, Plan], config: Any, store: Store) -> dict[str, list[Row]]:
    """All rows of each experiment that is complete in the store, with its clusterings, in the order of its trials."""
    complete = {}
    for name, plan in plans.items():
        found = [store.get(trial.key) for trial in plan(config, store.rows(name))]
        if None not in found:
            complete[name] = [row for rows in found for row in rows or ()]
    return {name: rows for name, rows in complete.items() if rows}
