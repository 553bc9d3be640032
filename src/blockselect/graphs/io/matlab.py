"""MATLAB files, .mat, of the versions that SciPy reads: the one matrix in it, or the one with a usual name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from scipy import io
from scipy.io.matlab import matfile_version

from blockselect.graphs.io.damaged import naming_file
from blockselect.graphs.io.declared_sizes import check_sparse_shape, check_unpacked_size
from blockselect.graphs.io.mat_elements import check_mat_file

FEATURE_VARIABLES = ("features", "Attributes", "X", "fea")
GRAPH_VARIABLES = ("adjacency", "Network", "A", "graph")
_HDF5 = 2  # the major version that such a file states


def read_mat(path: Path, usual: tuple[str, ...]) -> Any:
    """A matrix of numbers.

    Parameters
    ----------
    path : path
        Up to version 7.2; newer files are HDF5.
    usual : tuple of str
        The names to choose by where there are several.
    """
    with naming_file(path, "save one matrix in it."):
        check_mat_file(path.read_bytes())
        if matfile_version(path)[0] != _HDF5:
            return _one_matrix(path, usual)
    raise ValueError(f"{path} is of MATLAB 7.3 (HDF5); save it with: save('file.mat', 'X', '-v7').")


def _one_matrix(path: Path, usual: tuple[str, ...]) -> Any:
    held = io.whosmat(path)
    name = _choose([name for name, shape, kind in held if len(shape) == 2 and min(shape) > 1], usual)
    shape, kind = next((shape, kind) for found, shape, kind in held if found == name)
    if kind != "sparse":
        check_unpacked_size(8 * math.prod(shape), path.stat().st_size)
    matrix = io.loadmat(path, variable_names=[name], spmatrix=False)[name]
    if kind == "sparse":
        check_sparse_shape(matrix.shape, matrix.nnz)
    return matrix


def _choose(names: list[str], usual: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    known = [name for name in usual if name in names]
    if not known:
        raise ValueError(f"it holds the matrices {names}, none of which is called {', '.join(usual)}")
    return known[0]
