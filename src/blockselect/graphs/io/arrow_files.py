"""Parquet and Feather files, by pyarrow."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from blockselect.extras import needed
from blockselect.graphs.io.damaged import naming_file


def read_arrow(path: Path) -> pd.DataFrame:
    """The table of a file, with the index that pandas stored in it, if any."""
    parquet = path.suffix.lower() == ".parquet"
    reader = needed("pyarrow.parquet" if parquet else "pyarrow.feather", f"a {path.suffix} file")
    with naming_file(path, "write it again, for example by pandas."):
        table: pd.DataFrame = reader.read_table(path).to_pandas()
    return table
