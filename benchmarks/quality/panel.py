"""Precision and block coverage of every method on planted networks of every kind of feature. Stop it any time.

    python -m benchmarks.quality.panel --out results --full --docs docs

Fits are stored as they come, so that the same command goes on, and a second call makes only what is missing: after a
change of the default, `--again block-model`.
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
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="rows as they come, and panel.csv")
    parser.add_argument("--full", action="store_true", help="also regimes, 12 and 20 blocks, up to 20,000 nodes")
    parser.add_argument("--methods", nargs="+", default=list(SELECTORS), metavar="NAME", help="default: all")
    parser.add_argument("--seeds", type=int, default=1, help="networks of each cell of fewer than 10,000 nodes")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a rival may take")
    parser.add_argument("--workers", type=int, default=1, help="processes that share the fits")
    parser.add_argument("--again", nargs="*", default=(), metavar="NAME", help="methods to fit again")
    parser.add_argument("--stored", action="store_true", help="tables of the fits that are stored; no others are made")
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
