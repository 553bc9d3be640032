"""A measurement in a folder: running its trials, repeating some of them, and making files from the rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from benchmarks.quality import planted_networks, real_networks
from benchmarks.quality.quality_config import QualityConfig
from benchmarks.quality.quality_tables import make_tables
from benchmarks.quality.summary import render_page
from blockselect.reproduction.engine import TrialProgress, complete_rows, run_experiments
from blockselect.reproduction.networks import check_networks
from blockselect.reproduction.page import row_files
from blockselect.reproduction.store import Row, Store

PLANS = {part.NAME: part.trials for part in (real_networks, planted_networks)}
STORE = "trials"


def measure_quality(
    folder: Path,
    config: QualityConfig,
    *,
    workers: int = 1,
    retry_failed: bool = False,
    again: Collection[str] = (),
    progress: TrialProgress | None = None,
) -> dict[str, list[Row]]:
    """Run the trials that are not in the folder, and return all rows by part.

    Parameters
    ----------
    folder : path
        Each row is saved there immediately.
    config : QualityConfig
    workers, progress
        As in `run_experiments`.
    retry_failed : bool
        Repeat trials that failed.
    again : names of variants
        Repeat all trials of these variants, after a change to their code. Clusterings are kept, because they depend
        only on the selected features.
    """
    check_networks(config.protocol.networks)
    store = Store(folder / STORE, config.marks)
    if retry_failed:
        store.forget_failures()
    store.forget(_keys_of(again, config))
    run_experiments(PLANS, config, store, workers=workers, progress=progress)
    rows = complete_rows(PLANS, config, store)
    return {name: rows.get(name, []) for name in PLANS}


def quality_files(rows: Mapping[str, list[Row]], config: QualityConfig, *, title: str) -> dict[str, bytes]:
    """All files of a measurement, as a mapping from path to content."""
    marks = {**config.marks, "variants": list(config.variants), "methods": list(config.methods)}
    tables = make_tables(rows, config)
    return {
        "quality.md": render_page(rows, tables, config, title).encode(),
        **{f"tables/{name}.csv": table.to_csv(index=False).encode() for name, table in tables.items()},
        **row_files(rows),
        "config.json": (json.dumps(marks, indent=2, ensure_ascii=False) + "\n").encode(),
    }


def _keys_of(variants: Collection[str], config: QualityConfig) -> list[str]:
    return [
        trial.key
        for plan in PLANS.values()
        for trial in plan(config, [])
        if trial.settings.get("kind") == real_networks.VARIANT and trial.settings.get("method") in variants
    ]
