"""Run the benchmarks and print their ratios next to the stored values (docs/benchmarks/bench.csv)."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.table import Table

from benchmarks import baselines, fit, gram, low_rank, solver, stored

BENCHMARKS = {
    "solver": solver.run,
    "gram": gram.run,
    "low rank": low_rank.run,
    "fit": fit.run,
    "baselines": baselines.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        default=list(BENCHMARKS),
        help=f"benchmarks to run, from {list(BENCHMARKS)}; by default all of them",
    )
    parser.add_argument("--save", action="store_true", help="store the values, for comparison with later runs")
    options = parser.parse_args()
    console = Console(width=180)
    table = Table("benchmark", "stored", "measured", "limit", "met", "peak GB", "how")
    was, rows, missed, worse = stored.read(), [], 0, 0
    for name in options.names:
        for row in BENCHMARKS[name]():
            title = f"{name}: {row.what}"
            before_this = was.get(title)
            flag = " WORSE" if stored.is_worse(row, before_this) else ""
            shown = "" if before_this is None else f"{before_this:,.3g}"
            peak = "" if row.peak is None else f"{row.peak:.2f}"
            table.add_row(title, shown, row.measured + flag, row.bound, row.verdict, peak, row.how)
            console.log(f"{title}: {row.measured}{flag} ({row.how})")
            rows.append((title, row))
            missed += not row.met
            worse += bool(flag)
    console.print(table)
    if options.save:
        stored.save(rows)
    if missed or worse:
        sys.exit(f"{missed} limit(s) not met; {worse} ratio(s) more than a quarter worse than the stored value")


if __name__ == "__main__":
    main()
