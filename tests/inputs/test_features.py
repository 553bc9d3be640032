"""Features of every type: the same numbers, with the names that they contain."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import BMGUFS, BlockModelSelector, check_attributed_graph, make_selector

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

FRAME = pd.DataFrame({"wing": [1.0, 0.0, 2.0], "leg": [0, 3, 1]})
A = np.ones((3, 3))


class OnDisk:
    """As AnnData holds a sparse matrix of a backed file."""

    def to_memory(self):
        return sparse.csr_matrix(FRAME.to_numpy())


def cells(matrix, **layers):
    return SimpleNamespace(X=matrix, obs_names=list("abc"), var_names=["wing", "leg"], obsp={}, layers=layers)


FORMS = {
    "polars": polars.from_pandas(FRAME),
    "polars, lazy": polars.from_pandas(FRAME).lazy(),
    "Arrow": pyarrow.Table.from_pandas(FRAME),
    "AnnData": cells(sparse.csr_matrix(FRAME.to_numpy())),
    "AnnData, dense": cells(FRAME.to_numpy()),
    "AnnData, on disk": cells(OnDisk()),
}


@pytest.mark.parametrize("features", FORMS.values(), ids=FORMS.keys())
def test_numbers_and_names_are_read(features):
    graph = check_attributed_graph(features, A)
    matrix = graph.features.toarray() if sparse.issparse(graph.features) else graph.features
    assert_array_equal(matrix, FRAME)
    assert graph.feature_names.tolist() == ["wing", "leg"]
    if hasattr(features, "obs_names"):
        assert graph.node_ids.tolist() == ["a", "b", "c"]
    selector = make_selector("morans-i", 1).fit(features, adjacency=A - np.eye(3))
    assert selector.feature_names_in_.tolist() == ["wing", "leg"]


UNREADABLE = {
    "one dimension": (lambda: FRAME["wing"].to_numpy(), r"shape \(3,\).*one row per node.*np\.reshape"),
    "a list": (lambda: [1.0, 0.0, 2.0], r"shape \(3,\).*one row per node.*np\.reshape"),
    "a Series": (lambda: FRAME["wing"], r"shape \(3,\).*one row per node.*np\.reshape"),
    "columns of one name": (
        lambda: FRAME.set_axis(["wing", "wing"], axis=1),
        r"1 duplicate feature name\(s\), for example \['wing'\]; make each feature name unique",
    ),
}


@pytest.mark.parametrize(("make", "message"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_object_that_cannot_be_read_is_refused_in_one_line(make, message):
    for selector in (
        BlockModelSelector(1, n_blocks=1),
        BMGUFS(1, n_blocks=1),
        make_selector("morans-i", 1),
        make_selector("variance", 1),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            selector.fit(make())
        assert "\n" not in str(caught.value)


def test_a_sparse_frame_may_leave_out_any_value():
    plain = make_selector("variance", 1).fit(FRAME)
    for fill_value in (0.0, 1.0, np.nan):
        frame = FRAME.astype(pd.SparseDtype(float, fill_value))
        assert_allclose(make_selector("variance", 1).fit(frame).scores_, plain.scores_)


def test_an_anndata_without_x_is_refused():
    with pytest.raises(ValueError, match="no X; choose a layer"):
        check_attributed_graph(cells(None), A)


def test_columns_of_a_tensor_are_read():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(FRAME.to_numpy(), requires_grad=True)
    assert_array_equal(check_attributed_graph(tensor, A).features, FRAME)
    sparse_tensor = check_attributed_graph(tensor.detach().to_sparse(), A).features
    assert_array_equal(sparse_tensor.toarray(), FRAME)


@pytest.mark.parametrize("convert", [polars.from_pandas, pyarrow.Table.from_pandas])
def test_a_column_without_numbers_is_named(convert):
    for column in (["red", "1", "2"], pd.to_datetime(["2020-01-01"] * 3)):
        features = convert(FRAME.assign(colour=column))
        with pytest.raises((TypeError, ValueError), match="column 'colour'"):
            BlockModelSelector(1, n_blocks=2).fit(features, adjacency=A)


def test_a_graph_passed_as_features_is_refused():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ValueError, match=r"type Graph, a graph; .*fit\(features, adjacency=graph\)"):
        BlockModelSelector(1).fit(networkx.path_graph(3))
