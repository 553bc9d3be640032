"""Parquet and Feather files, by pyarrow."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from blockselect.extras import needed


def read_arrow(path: Path) -> pd.DataFrame:
    """The table of a file, with the index that pandas stored in it, if any."""
    parquet = path.suffix.lower() == ".parquet"
    reader = needed("pyarrow.parquet" if parquet else "pyarrow.feather", f"a {path.suffix} file")
    try:
        table: pd.DataFrame = reader.read_table(path).to_pandas()
    except Exception as error:  # a damaged file can fail anywhere in a parser
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{path} could not be read: {reason}; write it again, for example by pandas.") from error
    return table
