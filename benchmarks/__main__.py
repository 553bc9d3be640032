"""Run every benchmark and print one table."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.table import Table

from benchmarks import baselines, fit, gram, solver

BENCHMARKS = {"solver": solver.run, "gram": gram.run, "fit": fit.run, "baselines": baselines.run}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), help=f"any of {list(BENCHMARKS)}")
    console = Console(width=150)
    table = Table("benchmark", "measured", "goal", "met", "how")
    missed = 0
    for name in parser.parse_args().names:
        for row in BENCHMARKS[name]():
            table.add_row(f"{name}: {row.what}", row.measured, row.goal, row.verdict, row.how)
            console.log(f"{name}: {row.what}: {row.measured}")
            missed += not row.met
    console.print(table)
    sys.exit(f"{missed} goal(s) missed" if missed else 0)


if __name__ == "__main__":
    main()
