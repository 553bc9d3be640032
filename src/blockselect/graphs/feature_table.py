"""Features as people have them: arrays, pandas, polars, Arrow, AnnData, torch, with the names they bring."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from blockselect.arrays import Features
from blockselect.extras import comes_from
from blockselect.graphs.foreign_frames import anndata_matrix, as_array, as_pandas, is_anndata, is_frame, is_tensor


@dataclass(frozen=True, slots=True, eq=False)
class FeatureTable:
    """Features as they came in, still unchecked."""

    matrix: Features  # (n, m): array, sparse matrix, list or DataFrame of pandas
    node_ids: Iterable[Any] | None = None  # (n,)
    feature_names: Iterable[Any] | None = None  # (m,)


def as_feature_table(features: Any, *, layer: str | None = None) -> FeatureTable:
    """Bring features into a form that NumPy, SciPy or pandas hold.

    Parameters
    ----------
    features : array, sparse matrix, DataFrame of pandas or polars, Arrow table, AnnData or torch tensor
        A graph in its place is refused.
    layer : str, optional
        Of an AnnData, instead of X.
    """
    if isinstance(features, pd.DataFrame):
        return FeatureTable(features, features.index, features.columns)
    if is_anndata(features):
        return FeatureTable(anndata_matrix(features, layer), list(features.obs_names), list(features.var_names))
    if is_frame(features):
        frame = as_pandas(features, "features")
        return FeatureTable(frame, None, frame.columns)
    if is_tensor(features):
        return FeatureTable(as_array(features))
    if comes_from(features, "networkx", "igraph", "torch_geometric"):
        raise ValueError(
            f"features is of type {type(features).__name__}, a graph; pass the features first and the graph by name: "
            "fit(features, adjacency=graph)."
        )
    return FeatureTable(features)
