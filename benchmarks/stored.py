"""The stored values of the benchmarks, which reveal regressions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.measure import Measurement

PATH = Path(__file__).parent.parent / "docs" / "benchmarks" / "bench.csv"
WORSE = 1.25  # relative to the stored value; a busy machine usually changes ratios by less


def read() -> dict[str, float]:
    """The stored value of each benchmark."""
    if not PATH.is_file():
        return {}
    table = pd.read_csv(PATH)
    return dict(zip(table["benchmark"], table["value"].astype(float), strict=True))


def is_worse(row: Measurement, was: float | None) -> bool:
    """Whether a value is more than a quarter worse than the stored one."""
    if was is None:
        return False
    return row.value > WORSE * was if row.at_most else row.value * WORSE < was


def save(rows: Sequence[tuple[str, Measurement]]) -> None:
    """Replace the rows of the benchmarks that were run."""
    columns = ["benchmark", "value", "unit", "peak_gb", "how"]
    old = pd.read_csv(PATH) if PATH.is_file() else pd.DataFrame(columns=columns)
    new = pd.DataFrame(
        [(name, float(f"{row.value:.4g}"), row.unit, row.peak, row.how) for name, row in rows],
        columns=columns,
    ).round({"peak_gb": 3})
    kept = old[~old["benchmark"].isin(new["benchmark"])]
    PATH.parent.mkdir(exist_ok=True)
    (new if kept.empty else pd.concat([kept, new])).to_csv(PATH, index=False)
