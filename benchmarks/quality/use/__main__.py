"""Evaluate the selections of all label-free methods on six networks with three protocols.

    python -m benchmarks.quality.use --out results --workers 16 --device cuda --docs docs

The protocols are clustering, classification with few labels, and prediction of held-out links. Rankings and evaluations
are stored immediately, so the same command resumes an interrupted run and computes only what is missing. After a change
to BlockModelSelector, use `--again default`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.networks import JUDGED
from benchmarks.quality.command import progress_lines, write_files
from benchmarks.quality.quality_config import RIVALS
from benchmarks.quality.use import use_config
from benchmarks.quality.use.sweep import STORE, forget, measure_use
from benchmarks.quality.use.use_config import UseConfig
from benchmarks.quality.use.use_tables import make_tables, render
from blockselect.utils.parameters import check_known


def main(arguments: Sequence[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    try:
        check_known([] if given.rivals is None else given.rivals, RIVALS, what="rival")
        config = UseConfig(
            networks=tuple(given.networks),
            rivals=RIVALS if given.rivals is None else tuple(given.rivals),
            tops=tuple(given.tops),
            n_seeds=given.seeds,
            n_rival_seeds=given.rival_seeds,
            n_runs=given.runs,
            n_init=given.starts,
            limit=given.limit,
            device=given.device,
        )
        forget(given.out / STORE, config, given.again, failed=given.retry_failed)
        judged, failed = measure_use(
            given.out / STORE,
            config,
            workers=given.workers,
            judges=given.workers if given.judges is None else given.judges,
            only=given.only,
            progress=progress_lines(),
        )
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    if given.only == "select":
        print(f"selections are in {given.out / STORE}")
        return
    tables = make_tables(judged, failed)
    files = {f"{name}.csv": table.to_csv(index=False).encode() for name, table in tables.items()}
    shown = render(tables)
    write_files(given.out, {f"tables/{name}": content for name, content in files.items()})
    if given.docs is not None:
        write_files(given.docs, {f"quality/{name}": content for name, content in files.items()})
    print("\n\n".join(shown.values()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.use",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for rows (saved immediately) and tables"
    )
    parser.add_argument("--networks", nargs="+", default=JUDGED, metavar="NAME", help=f"default: {' '.join(JUDGED)}")
    parser.add_argument("--rivals", nargs="*", metavar="NAME", help="default: all other registered methods")
    parser.add_argument("--tops", nargs="+", type=int, default=use_config.TOPS, metavar="D", help="numbers of features")
    parser.add_argument("--seeds", type=int, default=use_config.SEEDS, help="number of seeds for BlockModelSelector")
    parser.add_argument("--rival-seeds", type=int, default=1, help="number of seeds for rivals with a random component")
    parser.add_argument("--runs", type=int, default=use_config.RUNS, help="runs per protocol")
    parser.add_argument("--starts", type=int, default=use_config.INIT, help="starts of K-means per run")
    parser.add_argument("--limit", type=float, default=use_config.LIMIT, help="time limit of a rival, in seconds")
    parser.add_argument("--device", help="torch device for the evaluation, such as cuda")
    parser.add_argument("--workers", type=int, default=1, help="number of processes for the rankings")
    parser.add_argument(
        "--judges", type=int, help="number of processes for the evaluation; default: the value of --workers"
    )
    parser.add_argument(
        "--again", nargs="*", default=(), metavar="NAME", help="methods to rank again: default, or rivals"
    )
    parser.add_argument(
        "--retry-failed", action="store_true", help="repeat trials that failed or exceeded the time limit"
    )
    parser.add_argument(
        "--only",
        choices=["select", "judge", "tables"],
        help="run only one step: select features, evaluate stored selections, or make tables",
    )
    parser.add_argument("--docs", type=Path, metavar="DIR", help="also write DIR/quality/*.csv")
    return parser


if __name__ == "__main__":
    main()
