"""Lists of names, one a line: ids of nodes, names of features; of a table the first column."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from blockselect.arrays import ObjectArray
from blockselect.graphs.io.packed import read_text


def read_names(path: str | PathLike[str], *, column: int = 0) -> ObjectArray:
    """The names in a text file, without a header; where lines have tabs, those of one column."""
    file = Path(path)
    cells = [line.split("\t") for line in read_text(file).split("\n")]
    while cells and cells[-1] == [""]:
        cells.pop()
    names = [line[column].strip() if column < len(line) else "" for line in cells]
    if not names:
        raise ValueError(f"{file} is empty; write one name a line.")
    if "" in names:
        raise ValueError(f"{file}, line {names.index('') + 1} has no name; write one name a line.")
    return np.array(names, dtype=object)
