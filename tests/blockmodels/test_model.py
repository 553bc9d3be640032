"""BlockModel: densities, error, perturbation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.io import loadmat

import golden_arrays
from blockselect.blockmodels import BlockModel
from blockselect.blockmodels.model import check_block_model, sums_between_blocks
from references import bmgufs
from references.problems import make_problem


def literal_error(A, model):
    F = bmgufs.one_hot(model.labels)
    return np.linalg.norm(A - F @ model.density @ F.T) / np.linalg.norm(A)


@given(seed=st.integers(0, 1000), k=st.integers(1, 8))
def test_density_and_error_are_those_of_the_paper(seed, k):
    problem = make_problem(seed, blocks=(k,))
    model = problem.models[0]
    assert_allclose(model.density, bmgufs.image_matrix(problem.A, problem.membership()), rtol=1e-10, atol=1e-14)
    assert model.relative_error == pytest.approx(literal_error(problem.A, model), abs=1e-10)


@given(seed=st.integers(0, 1000))
def test_no_other_density_fits_the_blocks_better(seed):
    problem = make_problem(seed)
    model = problem.models[0]
    other = model.density + np.random.default_rng(seed).normal(scale=0.05, size=model.density.shape)
    assert literal_error(problem.A, BlockModel(model.labels, other, np.nan)) > model.relative_error


def test_labels_may_be_words_or_have_gaps():
    problem = make_problem(1)
    plain = problem.models[0]
    words = np.array(["ant", "bee", "cow"])[plain.labels]
    for labels in (words, 10 * plain.labels, plain.labels.astype(float), list(plain.labels)):
        again = BlockModel.from_labels(sparse.csr_array(problem.A), labels)
        assert_array_equal(again.labels, plain.labels)
        assert_allclose(again.density, plain.density)


@pytest.mark.parametrize("kind", [np.asarray, sparse.lil_array, sparse.coo_array, sparse.csc_matrix])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_a_graph_of_any_form_and_number_type_gives_the_same_model(kind, dtype):
    problem = make_problem(1)
    heavy = 20 * problem.A
    expected = BlockModel.from_labels(sparse.csr_array(heavy), problem.models[0].labels)
    again = BlockModel.from_labels(kind(heavy.astype(dtype)), problem.models[0].labels)
    assert again.relative_error == pytest.approx(expected.relative_error)
    assert_allclose(again.density, expected.density)


@pytest.mark.parametrize("keep_density", [True, False])
@pytest.mark.parametrize("fraction", [0.0, 0.05, 0.5, 1.0])
def test_perturbation_moves_the_share_asked_for_and_empties_no_block(keep_density, fraction):
    problem = make_problem(2, n=200)
    model, A = problem.models[0], sparse.csr_array(problem.A)
    moved = model.perturb(A, fraction, keep_density=keep_density, rng=np.random.default_rng(0))
    assert np.count_nonzero(moved.labels != model.labels) == pytest.approx(fraction * 200, abs=1)
    assert (moved.block_sizes > 0).all()
    assert moved.relative_error == pytest.approx(literal_error(problem.A, moved), abs=1e-10)
    if keep_density:
        assert_array_equal(moved.density, model.density)
    else:
        assert_allclose(moved.density, bmgufs.image_matrix(problem.A, bmgufs.one_hot(moved.labels)), rtol=1e-10)


def test_perturbation_of_blocks_of_one_node_leaves_them():
    problem = make_problem(3, n=6, blocks=(6,))
    moved = problem.models[0].perturb(sparse.csr_array(problem.A), 1.0, keep_density=True, rng=np.random.default_rng(0))
    assert (moved.block_sizes > 0).all()


def test_perturbation_is_seeded():
    problem = make_problem(2, n=60)
    A = sparse.csr_array(problem.A)
    first, second = (
        problem.models[0].perturb(A, 0.3, keep_density=False, rng=np.random.default_rng(5)).labels for _ in range(2)
    )
    assert_array_equal(first, second)


def test_bad_input_is_named():
    problem = make_problem(2)
    model, A = problem.models[0], sparse.csr_array(problem.A)
    with pytest.raises(ValueError, match=r"fraction is 1.5.*from 0 to 1"):
        model.perturb(A, 1.5, keep_density=True, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="3 block labels but the graph has 20 nodes; pass one label per node"):
        BlockModel.from_labels(A, [0, 1, 2])
    with pytest.raises(ValueError, match="NaN, None or masked"):
        BlockModel.from_labels(A, [None] * 20)
    with pytest.raises(ValueError, match="no link"):
        BlockModel.from_labels(0 * A, model.labels)
    with pytest.raises(ValueError, match=r"density contains -.* at row 0, column 0, which is not a density"):
        check_block_model(BlockModel(model.labels, -model.density, 0.5), 20)
    with pytest.raises(ValueError, match="array of integers"):
        check_block_model(BlockModel(list(model.labels), model.density, 0.5), 20)
    with pytest.raises(ValueError, match="NaN"):
        BlockModel.from_labels(A, np.full(20, np.nan))
    with pytest.raises(ValueError, match="20 nodes but the graph has 21"):
        check_block_model(model, 21)
    with pytest.raises(ValueError, match="does not fit its labels"):
        check_block_model(BlockModel(model.labels, np.eye(7), 0.5), 20)


def test_errors_of_the_published_block_models_are_reproduced(data_path):
    network = loadmat(data_path / "BlogCatalog.mat", spmatrix=False)["Network"]
    adjacency = sparse.csr_array(network).astype(float)
    published = np.load(golden_arrays.FOLDER / "blogcatalog_block_models.npz")
    models = [BlockModel.from_labels(adjacency, labels) for labels in published["labels"]]
    for model, density in zip(models, published["density"], strict=True):
        assert_allclose(model.density, density, atol=1e-6)
    errors = [model.relative_error for model in models]
    A = adjacency.toarray()
    literal = [
        np.linalg.norm(A - density[np.ix_(labels, labels)]) / np.linalg.norm(A)
        for labels, density in zip(published["labels"], published["density"], strict=True)
    ]
    assert_allclose(errors, literal, atol=1e-5)
    assert np.argmin(errors) == 2
    assert errors[2] == pytest.approx(0.99034, abs=1e-5)


def test_one_block_has_no_other_to_move_to():
    problem = make_problem(2, n=20, blocks=(1,))
    model = problem.models[0]
    moved = model.perturb(sparse.csr_array(problem.A), 0.5, keep_density=True, rng=0)
    assert_array_equal(moved.labels, model.labels)
    assert moved.relative_error == pytest.approx(model.relative_error)


ONE_HOT = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
PATH = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
DENSITY = np.array([[0.5, 0.2, 0.1], [0.2, 0.4, 0.0], [0.1, 0.0, 0.3]])


@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_array, sparse.coo_matrix, pd.DataFrame, np.ndarray.tolist, lambda F: F == 1]
)
def test_a_one_hot_matrix_gives_the_blocks_of_its_columns(kind):
    F = kind(ONE_HOT)
    assert_array_equal(BlockModel.from_labels(PATH, F).labels, [1, 0, 2, 1])
    model = BlockModel.from_matrices(F, DENSITY)
    assert_array_equal(model.labels, [1, 0, 2, 1])
    assert_array_equal(model.density, DENSITY)
    assert np.isnan(model.relative_error)
    named = BlockModel.from_matrices(["b", "a", "c", "b"], sparse.csr_array(DENSITY))
    assert_array_equal(named.labels, model.labels)
    assert_array_equal(named.density, DENSITY)


@pytest.mark.parametrize(
    ("F", "M", "message"),
    [
        (np.zeros((4, 3)), DENSITY, r"shape \(4, 3\) and 4 row\(s\) that are not one-hot, first row 0; expected a"),
        (ONE_HOT / 2, DENSITY, r"not one-hot.*block_model=F\.argmax\(axis=1\)"),
        ([[1, 0], [0.5, 0.5], [0, 1]], np.eye(2), r"1 row\(s\) that are not one-hot, first row 1"),
        ([[1, 0], [1, 1], [0, 1]], np.eye(2), r"1 row\(s\) that are not one-hot, first row 1"),
        (ONE_HOT, DENSITY[:2], r"M has shape \(2, 3\), but F puts nodes into 3 blocks; expected \(3, 3\)"),
        (ONE_HOT, DENSITY[0], r"M has shape \(3,\), but F.*To compute M from the graph, pass block_model=F"),
        (ONE_HOT[[0, 1, 1, 0]], DENSITY, r"F puts nodes into 2 blocks; expected \(2, 2\).* per block that has a node"),
        (ONE_HOT, -DENSITY, r"densities are finite and ≥ 0"),
        (ONE_HOT, DENSITY * [[1], [np.nan], [1]], r"M is not symmetric|densities are finite"),
        (ONE_HOT, np.triu(DENSITY), r"M is not symmetric, but links are undirected; pass \(M \+ M\.T\) / 2"),
        (ONE_HOT, [["a"] * 3] * 3, r"M is not an array of numbers"),
    ],
)
def test_other_matrices_are_refused_with_the_cure(F, M, message):
    with pytest.raises(ValueError, match=message):
        BlockModel.from_matrices(F, M)


def test_a_block_model_is_printed_in_one_line():
    model = BlockModel(np.array([0, 0, 1]), np.eye(2), 0.51234, "spectral")
    assert repr(model) == "BlockModel(n_nodes=3, n_blocks=2, relative_error=0.512, family='spectral')"


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_sums_between_blocks_are_those_of_a_product(at_once):
    rng = np.random.default_rng(0)
    A = sparse.random_array((40, 40), density=0.1, rng=rng, format="csr")
    labels = rng.integers(3, size=40)
    F = np.eye(3)[labels]
    assert_allclose(sums_between_blocks(A.indptr, A.indices, A.data, labels, at_once), F.T @ A @ F)
