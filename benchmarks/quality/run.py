"""One measurement of quality in a folder: its trials, what to do again, and the files that are made of the rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from blockselect.reproduction.agenda import Work, collect
from benchmarks.quality import networks, planted
from benchmarks.quality.config import QualityConfig
from benchmarks.quality.page import render_tables
from blockselect.reproduction.run import check_networks, row_files
from blockselect.reproduction.runner import Progress, run_experiments
from blockselect.reproduction.store import Store
from blockselect.reproduction.trial import Row

PARTS: tuple[Work[QualityConfig], ...] = (networks, planted)
STORE = "trials.sqlite"
TABLES = "quality.md"


def measure_quality(
    folder: Path,
    config: QualityConfig,
    *,
    workers: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    again: Collection[str] = (),
    progress: Progress | None = None,
) -> dict[str, list[Row]]:
    """All rows, by part; those that the folder has are not made again.

    Parameters
    ----------
    folder : path
        It keeps each row as it comes.
    config : QualityConfig
    workers, dask, progress
        As in `run_experiments`.
    retry_failed : bool
        Run trials again that failed before.
    again : names of settings
        Run all their trials again: the code behind them has changed. Clusterings are by features, and stay.
    """
    check_networks(config.protocol)
    with Store(folder / STORE, config.marks) as store:
        if retry_failed:
            store.forget_failures()
        store.forget(_keys_of(again, config))
        run_experiments(PARTS, config, store, workers=workers, dask=dask, progress=progress)
        rows = {part.NAME: collect(part, config, store) for part in PARTS}
    return {name: found or [] for name, found in rows.items()}


def quality_files(
    rows: Mapping[str, list[Row]], config: QualityConfig, *, title: str, parquet: bool
) -> dict[str, bytes]:
    """Every file of a measurement, by its path in the folder."""
    marks = {**config.marks, "settings": list(config.settings), "methods": list(config.methods)}
    return {
        TABLES: render_tables(rows, config, title).encode(),
        **row_files(rows, parquet=parquet),
        "config.json": (json.dumps(marks, indent=2, ensure_ascii=False) + "\n").encode(),
    }


def _keys_of(settings: Collection[str], config: QualityConfig) -> list[str]:
    return [
        trial.key
        for part in PARTS
        for trial in part.trials(config, [])
        if trial.settings.get("kind") == networks.SETTING and trial.settings.get("method") in settings
    ]
