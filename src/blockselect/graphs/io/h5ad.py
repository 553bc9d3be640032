"""AnnData files, .h5ad: features of cells, and graphs of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blockselect.extras import needed
from blockselect.graphs.io.damaged import naming_file


def read_cells(path: Path) -> Any:
    """The AnnData of a file."""
    anndata = needed("anndata", "an .h5ad file")
    with naming_file(path, "write it with adata.write_h5ad(path)."):
        return anndata.read_h5ad(path)
