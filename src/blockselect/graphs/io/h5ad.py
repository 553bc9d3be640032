"""AnnData files, .h5ad: features of cells, and graphs of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blockselect.extras import needed


def read_cells(path: Path) -> Any:
    """The AnnData of a file."""
    anndata = needed("anndata", "an .h5ad file")
    try:
        return anndata.read_h5ad(path)
    except Exception as error:  # a damaged file can fail anywhere in a parser
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{path} could not be read: {reason}; write it with adata.write_h5ad(path).") from error
