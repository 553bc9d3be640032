"""Precision and block coverage of every method on planted networks with different kinds of features.

    python -m benchmarks.quality.panel --out results --full --docs docs

Each fit is stored immediately, so the same command resumes an interrupted run and computes only what is missing. After
a change to BlockModelSelector, use `--again block-model`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.quality import panel_trials
from benchmarks.quality.command import progress_lines, write_files
from benchmarks.quality.panel_tables import make_tables, render
from benchmarks.quality.panel_trials import PanelConfig, cells
from blockselect.registry import SELECTORS
from blockselect.reproduction.engine import run_experiments
from blockselect.reproduction.store import Store
from blockselect.utils.parameters import check_known

STORE = "panel"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.panel",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for rows (saved immediately) and tables"
    )
    parser.add_argument(
        "--full", action="store_true", help="include other structures, 12 and 20 blocks, and up to 20,000 nodes"
    )
    parser.add_argument("--methods", nargs="+", default=list(SELECTORS), metavar="NAME", help="default: all")
    parser.add_argument("--seeds", type=int, default=1, help="networks per cell with fewer than 10,000 nodes")
    parser.add_argument("--limit", type=float, default=60.0, help="time limit of a rival, in seconds")
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    parser.add_argument("--again", nargs="*", default=(), metavar="NAME", help="methods to fit again")
    parser.add_argument("--stored", action="store_true", help="only make tables from the stored fits")
    parser.add_argument("--docs", type=Path, metavar="DIR", help="also write DIR/quality/panel*.csv")
    given = parser.parse_args(arguments)
    try:
        check_known([*given.methods, *given.again], SELECTORS, what="method")
        config = PanelConfig(tuple(cells(full=given.full)), tuple(given.methods), given.seeds, given.limit)
        store = Store(given.out / STORE, config.marks)
        known = panel_trials.trials(config, [])
        store.forget(trial.key for trial in known if trial.settings["method"] in given.again)
        if not given.stored:
            plans = {panel_trials.NAME: panel_trials.trials}
            run_experiments(plans, config, store, workers=given.workers, progress=progress_lines())
        rows = [row for trial in known for row in store.get(trial.key) or []]
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    tables = make_tables(rows)
    files = {f"{name}.csv": table.to_csv(index=False).encode() for name, table in tables.items()}
    shown = render(tables)
    write_files(given.out, {f"tables/{name}": content for name, content in files.items()})
    if given.docs is not None:
        write_files(given.docs, {f"quality/{name}": content for name, content in files.items()})
    print(shown)


if __name__ == "__main__":
    main()
