"""A measurement in a store: first selections, then their judgements."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Literal

from benchmarks.quality.use import judgements, selections
from benchmarks.quality.use.use_config import UseConfig
from benchmarks.quality.variants import DEFAULT
from blockselect.reproduction.engine import Trial, TrialProgress, run_experiments
from blockselect.reproduction.store import Row, Store
from blockselect.utils.parameters import check_known

STORE = "use"


def measure_use(
    path: Path,
    config: UseConfig,
    *,
    workers: int = 1,
    judges: int = 1,
    only: Literal["select", "judge", "tables"] | None = None,
    progress: TrialProgress | None = None,
) -> tuple[list[Row], list[Row]]:
    """Run the missing trials; return the rows of selections, each with one judgement, and the failed rows.

    Parameters
    ----------
    path : path
        The store.
    config : UseConfig
    workers, judges : int
        Numbers of processes for selections and for judgements.
    only : {"select", "judge", "tables"}, optional
        Run only this step, for example on another machine; "tables" runs no trial.
    progress : callable, optional
        As in `run_experiments`.
    """
    store = Store(path, config.marks)
    if only in (None, "select"):
        run_experiments({selections.NAME: selections.trials}, config, store, workers=workers, progress=progress)
    if only in (None, "judge"):
        run_experiments({judgements.NAME: judgements.trials}, config, store, workers=judges, progress=progress)
    return _judged(config, store)


def forget(path: Path, config: UseConfig, methods: Collection[str], *, failed: bool = False) -> None:
    """Delete the selections of these methods, and failed rows, so that they run again; judgements are kept."""
    check_known(methods, [DEFAULT, *config.rivals], what="method to rank again")
    store = Store(path, config.marks)
    if failed:
        store.forget_failures()
    store.forget(trial.key for trial in selections.trials(config, []) if trial.settings["method"] in methods)


def _judged(config: UseConfig, store: Store) -> tuple[list[Row], list[Row]]:
    judged, failed = [], []
    for trial in selections.trials(config, []):
        for row in store.get(trial.key) or [_not_run(trial)]:
            if row["error"]:
                failed.append(row)
                continue
            for hidden in judgements.judged_by(row):
                for figures in store.get(judgements.key_of(row, hidden, config)) or []:
                    if figures["error"]:
                        failed.append({**row, "error": figures["error"]})
                    else:
                        judged.append({**row, **figures, **_as_asked(row), "judged_by": hidden})
    return judged, failed


def _as_asked(row: Row) -> Row:
    """The columns that belong to the selection; equal selections share a judgement."""
    return {name: row[name] for name in ("hidden", "error", "warning")}


def _not_run(trial: Trial) -> Row:
    """The row of a selection that is not in the store."""
    return {**trial.settings, "error": "not run."}
