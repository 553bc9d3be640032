"""Parquet and Feather files, by pyarrow."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from blockselect.extras import needed
from blockselect.graphs.io.damaged import naming_file


def read_arrow(path: Path) -> pd.DataFrame:
    """The table of a file, with the index that pandas stored in it, if any.

    It is validated first: where cells of a damaged file point outside of it, pyarrow would end the process.
    """
    parquet = path.suffix.lower() == ".parquet"
    reader = needed("pyarrow.parquet" if parquet else "pyarrow.feather", f"a {path.suffix} file")
    with naming_file(path, "write it again, for example by pandas."):
        stored = reader.read_table(path)
        stored.validate(full=True)
        table: pd.DataFrame = stored.to_pandas()
    return table
