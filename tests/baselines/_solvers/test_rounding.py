"""Features so large that a penalty beside them is lost: the error says which, and what to do."""

import numpy as np
import pytest
from scipy import sparse

from blockselect import make_attributed_blocks
from blockselect.baselines._solvers.rounding import penalty_beside
from blockselect.errors import ParameterError
from blockselect.registry import make_selector


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_singular_matrix_becomes_an_error_of_the_parameter(kind):
    features = kind(np.diag([1.0, -2e30]))
    with (
        pytest.raises(ParameterError, match=r"^ridge is 0\.1, which is lost .* as large as 2e\+30; divide .*raise it"),
        penalty_beside(features, "ridge", 0.1),
    ):
        raise np.linalg.LinAlgError


def test_other_errors_and_none_pass():
    with penalty_beside(np.eye(2), "ridge", 0.1):
        pass
    with pytest.raises(KeyError), penalty_beside(np.eye(2), "ridge", 0.1):
        raise KeyError


@pytest.mark.parametrize(
    ("name", "shift", "scale", "parameter"),
    [("udfs", 0, 1e30, "ridge"), ("ndfs", 1e8, 1, "sparsity"), ("netfs", 1e8, 1, "sparsity")],
)
def test_methods_refuse_features_beyond_their_penalty(name, shift, scale, parameter):
    network = make_attributed_blocks(80, 3, n_informative=6, n_redundant=0, n_noise=9, random_state=3)
    features = scale * network.features.toarray() + shift
    graph = {"adjacency": network.adjacency} if name == "netfs" else {}
    with pytest.raises(ParameterError, match=f"^{parameter} is .* lost to rounding"):
        make_selector(name, 4, n_blocks=3, random_state=0).fit(features, **graph)
