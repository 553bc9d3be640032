"""Runs the trials of an experiment that are not in the store yet, in parallel, and keeps each row as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from joblib import Parallel, delayed, parallel_config

from blockselect.experiments.clusterings import CLUSTERINGS
from blockselect.experiments.config import ExperimentConfig
from blockselect.experiments.store import Store
from blockselect.experiments.trial import Row, Trial, perform

Progress = Callable[[int, int], None]  # trials done, of how many known so far


class Experiment(Protocol):
    """A module of `experiments.figures`."""

    NAME: str

    def trials(self, config: ExperimentConfig, rows: list[Row]) -> list[Trial]:
        """All trials that can be made given the rows so far; rows of one round may open the next."""
        ...


def run_experiment(
    experiment: Experiment,
    config: ExperimentConfig,
    store: Store,
    *,
    workers: int = 1,
    dask: str | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """All rows of an experiment: those in the store, and those that were missing.

    Parameters
    ----------
    experiment : module of `experiments.figures`
    config : ExperimentConfig
    store : Store
    workers : int
        Processes on this machine.
    dask : str, optional
        Address of a Dask scheduler, whose workers then do the work through joblib.
    progress : callable, optional
        Called after each trial.
    """
    with _backend(workers, dask):
        while True:
            rows = store.rows(experiment.NAME, CLUSTERINGS)
            known = experiment.trials(config, rows)
            missing = [trial for trial in known if not store.has(trial.key)]
            if not missing:
                return rows
            _run_round(missing, len(known), store, progress)


def _run_round(missing: list[Trial], known: int, store: Store, progress: Progress | None) -> None:
    done = known - len(missing)
    # A trial that another process has kept since is passed over only when its turn comes: two may share a store.
    still_missing = (delayed(perform)(trial) for trial in missing if not store.has(trial.key))
    experiments = {trial.key: trial.experiment for trial in missing}
    results: Iterator[tuple[str, list[Row]]] = Parallel(return_as="generator_unordered", batch_size=1)(still_missing)
    for key, rows in results:
        store.add(key, experiments[key], rows)
        done += 1
        if progress is not None:
            progress(done, known)


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
    with Client(dask), parallel_config(backend="dask"):
        yield
