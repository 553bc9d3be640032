"""Trials of experiments, and the worker processes that run the trials without stored rows."""

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
    """One unit of work of an experiment, which returns one or more rows.

    The settings identify the trial; together with the configuration they determine its rows.
    """

    experiment: str
    settings: Mapping[str, Any]  # flat, JSON values
    run: Callable[[], list[Row]]  # a partial of a module-level function, so that it can be pickled

    @property
    def key(self) -> str:
        """The key of the trial in the store, the same in every run."""
        text = json.dumps([self.experiment, self.settings], sort_keys=True)
        return f"{self.experiment}/{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def perform(trial: Trial) -> tuple[str, list[Row]]:
    """Run a trial and return its key and its rows, which depend only on the configuration and the seed.

    If the trial fails, it returns a single row with the error.
    """
    end_with_parent()
    identity = {"experiment": trial.experiment, **trial.settings}
    with collected_warnings() as messages:
        try:
            # A single thread, because several would add numbers in varying order. Trials run in parallel instead.
            with one_thread(), parallel_config(backend="sequential"):
                rows = trial.run()
        except Exception as error:  # after any error, the other trials continue
            where = traceback.extract_tb(error.__traceback__)[-1].name
            rows = [{"error": f"{type(error).__name__}: {error} (in {where})"}]
    return trial.key, [{"error": None, **identity, **row, "warning": "; ".join(messages) or None} for row in rows]


Plan: TypeAlias = Callable[[Any, list[Row]], list[Trial]]
"""Returns the trials of an experiment, given a configuration and the rows so far, which may require further trials."""
TrialProgress: TypeAlias = Callable[[int, int], None]
"""Called with the numbers of finished and planned trials; the number of planned trials may grow."""


def run_experiments(
    plans: Mapping[str, Plan], config: Any, store: Store, *, workers: int = 1, progress: TrialProgress | None = None
) -> None:
    """Run all trials of the experiments whose rows are not yet in the store.

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
        If a worker process was killed. The rows of finished trials are kept.
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
            warnings.filterwarnings("ignore", r"\d+ tasks ")  # by joblib, if the run is interrupted
            for done, (key, rows) in enumerate(results, start=n_before + 1):
                store.add(key, rows)
                report(done, len(known))


def complete_rows(plans: Mapping[str, Plan], config: Any, store: Store) -> dict[str, list[Row]]:
    """All rows of each complete experiment, including its clusterings, in the order of its trials."""
    complete = {}
    for name, plan in plans.items():
        found = [store.get(trial.key) for trial in plan(config, store.rows(name))]
        if None not in found:
            complete[name] = [row for rows in found for row in rows or ()]
    return {name: rows for name, rows in complete.items() if rows}
