"""The stored table of benchmarks, so that a regression is seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.measure import Measurement

PATH = Path(__file__).parent.parent / "docs" / "benchmarks" / "bench.csv"
WORSE = 1.25  # times the stored value: more than a busy machine usually adds to a ratio


def read() -> dict[str, float]:
    """The value of each benchmark when the table was last saved."""
    if not PATH.is_file():
        return {}
    table = pd.read_csv(PATH)
    return dict(zip(table["benchmark"], table["value"].astype(float), strict=True))


def is_worse(row: Measurement, was: float | None) -> bool:
    """Whether a value is by more than a quarter on the wrong side of the stored one."""
    if was is None:
        return False
    return row.value > WORSE * was if row.at_most else row.value * WORSE < was


def save(rows: Sequence[tuple[str, Measurement]]) -> None:
    """Replace the rows that were measured; those of benchmarks not run stay."""
    columns = ["benchmark", "value", "unit", "peak_gb", "how"]
    old = pd.read_csv(PATH) if PATH.is_file() else pd.DataFrame(columns=columns)
    new = pd.DataFrame(
        [(name, float(f"{row.value:.4g}"), row.unit, row.peak, row.how) for name, row in rows],
        columns=columns,
    ).round({"peak_gb": 3})
    kept = old[~old["benchmark"].isin(new["benchmark"])]
    PATH.parent.mkdir(exist_ok=True)
    (new if kept.empty else pd.concat([kept, new])).to_csv(PATH, index=False)
