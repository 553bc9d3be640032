"""Parquet and Feather files, by pyarrow."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from blockselect.extras import needed
from blockselect.graphs.io.damaged import naming_file
from blockselect.graphs.io.declared_sizes import check_unpacked_size


def read_arrow(path: Path) -> pd.DataFrame:
    """The table of a file, with the index that pandas stored in it, if any.

    It is validated first: where cells of a damaged file point outside of it, pyarrow would end the process.
    """
    parquet = path.suffix.lower() == ".parquet"
    reader = needed("pyarrow.parquet" if parquet else "pyarrow.feather", f"a {path.suffix} file")
    with naming_file(path, "write it again, for example by pandas."):
        if parquet:
            declared = reader.read_metadata(path)
            _check_size(declared.num_rows, declared.num_columns, path)
        stored = reader.read_table(path)
        _check_size(stored.num_rows, stored.num_columns, path)
        stored.validate(full=True)
        table: pd.DataFrame = stored.to_pandas()
    return table


def _check_size(n_rows: int, n_columns: int, path: Path) -> None:
    """Columns of one value, or of none, take no space in a file, and eight bytes a row in memory."""
    check_unpacked_size(8 * n_rows * n_columns, path.stat().st_size)
