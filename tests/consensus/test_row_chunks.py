"""The default on features in row chunks gives the result of the same features in memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from benchmarks.networks import judged
from blockselect import (
    BlockModelSelector,
    RowChunks,
    check_attributed_graph,
    discover_features,
    load_debian,
    make_attributed_blocks,
)
from blockselect.blockmodels import BlockModel
from blockselect.consensus import ranking, target
from blockselect.consensus.likelihood import JointLikelihood, as_counts, link_unit
from blockselect.consensus.link_gains import gains_by_links
from blockselect.consensus.ranking import rank_by_trees
from blockselect.consensus.refine import refine_blocks
from blockselect.rows.statistics import are_sparse_counts, constant_columns, in_units

PLANTED = make_attributed_blocks(240, 4, mean_degree=5, n_informative=20, n_redundant=0, n_noise=60, random_state=0)
RNG = np.random.default_rng(0)
PRESENT = PLANTED.features.toarray()
KINDS = {
    "words": PRESENT,
    "counts": PRESENT * RNG.integers(1, 5, PRESENT.shape),
    "counts in thousandths": PRESENT * RNG.integers(1, 5, PRESENT.shape) / 1000,
    "amounts": PRESENT * RNG.random(PRESENT.shape),
    "measurements": RNG.normal(5, 0.5, PRESENT.shape).clip(0) + PRESENT,
    "a constant and an empty column": np.column_stack([np.full(240, 0.3), np.zeros(240), PRESENT]),
    "a node without anything": np.where(np.arange(240)[:, None] == 100, 0.0, PRESENT),
}
CUTS = [60, 60, 150]  # the second chunk is empty


def in_chunks(X, cuts=CUTS):
    return RowChunks.from_blocks(np.split(X, cuts) if isinstance(X, np.ndarray) else [X])


def links(X):
    """The planted links, without the links of nodes that have no features."""
    A = PLANTED.adjacency.toarray()
    bare = ~X.any(axis=1)
    A[bare] = A[:, bare] = 0
    return sparse.csr_array(A)


class GroupedOrders:
    """A generator whose permutations group the nodes by chunk."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def permutation(self, n):
        order = self._rng.permutation(n)
        return order[np.argsort(np.searchsorted(CUTS, order, side="right"), kind="stable")]


@pytest.mark.parametrize("kind", KINDS)
def test_one_chunk_gives_the_result_in_memory(kind):
    X = KINDS[kind]
    here, there = (
        BlockModelSelector(15, block_model="spectral", n_candidates=5, random_state=0).fit(one, adjacency=links(X))
        for one in (X, in_chunks(X, []))
    )
    assert adjusted_rand_score(there.labels_, here.labels_) == 1  # equally good models may come in another order
    assert_array_equal(there.ranking_, here.ranking_)
    assert there.network_evidence_.p_value == here.network_evidence_.p_value
    assert there.network_evidence_.autocorrelation == pytest.approx(here.network_evidence_.autocorrelation)
    for name in ("scores_", "explained_", "explained_more_", "explained_alone_"):
        assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-8, atol=1e-12)
    for name in ("gain_at_start", "gain"):
        assert_allclose(np.sort(there.candidates_table_[name]), np.sort(here.candidates_table_[name]), rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_moves_in_the_same_order_give_the_result_in_memory(kind):
    X = KINDS[kind]
    start = BlockModel.of_checked(PLANTED.adjacency, np.random.default_rng(1).permutation(PLANTED.blocks))
    here, there = (
        next(
            refine_blocks(
                JointLikelihood(check_attributed_graph(one, PLANTED.adjacency)), [start], rngs=[GroupedOrders(3)]
            )
        )
        for one in (X, in_chunks(X))
    )
    assert here.n_moves.sum() > 100
    assert_array_equal(there.model.labels, here.model.labels)
    assert_array_equal(there.n_moves, here.n_moves)
    assert_array_equal(there.in_use, here.in_use)
    assert_allclose(there.objective, here.objective, rtol=1e-8)


@pytest.mark.parametrize("batch", [2, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_give_the_ranking_in_memory(kind, batch, monkeypatch):
    monkeypatch.setattr(ranking, "_COLUMNS_PER_PASS", batch)
    X = KINDS[kind]
    blocks = [PLANTED.blocks, (PLANTED.blocks + (RNG.random(240) < 0.1)) % 4]
    rankings = []
    for one in (X, in_chunks(X)):
        monkeypatch.setattr(target, "_CELLS_PER_SLICE", 200)  # several slices of the Gram matrix
        graph = check_attributed_graph(one, links(X))
        models = [BlockModel.of_checked(graph.adjacency, labels) for labels in blocks]
        likelihood = JointLikelihood(graph)
        rankings.append(rank_by_trees(graph, likelihood, likelihood.trees(models), 12))
    here, there = rankings
    assert_array_equal(there.order, here.order)
    assert_array_equal(there.is_useful, here.is_useful)
    for name in ("scores", "added", "alone"):
        assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-8, atol=1e-12)
    there_together, here_together = (one.regression.cumulative(one.order[:5]) for one in (there, here))
    assert_allclose(there_together, here_together, rtol=1e-8)
    assert there.regression.share_of_all() is None


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_are_those_in_memory(kind):
    X, chunks = KINDS[kind], in_chunks(KINDS[kind])
    assert are_sparse_counts(chunks) == are_sparse_counts(X) == kind.startswith("counts")
    assert_array_equal(constant_columns(chunks), constant_columns(X))
    here, there = as_counts(X), as_counts(chunks)
    assert_allclose(there.totals, here.totals)
    assert_allclose(there.typical, here.typical)
    assert there.equal == here.equal
    assert_allclose(sparse.vstack(list(there.matrix)).toarray(), here.matrix.toarray())
    unit = link_unit(PLANTED.adjacency)
    here, there = (gains_by_links(in_units(one), PLANTED.adjacency, unit) for one in (X, chunks))
    assert here.any()
    assert_allclose(there, here, rtol=1e-8, atol=1e-9)


def test_candidates_in_threads_and_blocks_without_refinement():
    X = in_chunks(PRESENT)
    one, two = (
        BlockModelSelector(15, n_candidates=4, random_state=0, n_jobs=jobs).fit(X, adjacency=PLANTED.adjacency)
        for jobs in (1, 2)
    )
    assert_array_equal(two.ranking_, one.ranking_)
    assert set(one.candidates_table_["family"]) == {"spectral", "adjacency"}
    assert one.families_left_out_.startswith("the family 'smoothed' is left out for row chunks, because")
    assert PLANTED.is_informative[one.support_].mean() > 0.9
    assert_allclose(one.table().set_index("column")["prevalence"].sort_index(), PRESENT.mean(axis=0))
    with pytest.raises(ValueError, match="fit to row chunks does not"):
        one.show_report()
    with pytest.raises(ValueError, match="X is in row chunks, but a test of the features permutes individual nodes"):
        discover_features(X, adjacency=PLANTED.adjacency)
    plain = BlockModelSelector(15, n_candidates=4, refine=False, random_state=0).fit(X, adjacency=PLANTED.adjacency)
    assert_array_equal(plain.candidates_table_["gain"], plain.candidates_table_["gain_at_start"])
    given = BlockModelSelector(15, block_model=PLANTED.blocks).fit(X, adjacency=PLANTED.adjacency)
    assert_array_equal(given.labels_, PLANTED.blocks)
    assert given.families_left_out_ is None
    assert BlockModelSelector(5).fit(PRESENT, adjacency=PLANTED.adjacency).families_left_out_ is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"block_model": "smoothed"}, r"block_model is 'smoothed', but .* iterations would read all chunks"),
        ({"n_features_to_select": "auto"}, r'n_features_to_select is "auto", but a test .* pass a number'),
    ],
)
def test_settings_that_need_single_nodes_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        BlockModelSelector(**settings).fit(in_chunks(PRESENT), adjacency=PLANTED.adjacency)


@pytest.mark.parametrize("name", ["debian", "debian-all"])
def test_debian_in_chunks_gives_its_selection_in_memory(name, request, monkeypatch):
    """With the same families. In several chunks, nodes move in another order, as with another seed."""
    if name == "debian":
        debian, n_rows = load_debian(), 1500
    else:
        monkeypatch.setenv("BLOCKSELECT_DATA", str(request.getfixturevalue("data_path")))
        debian, n_rows = judged(name), 9000
    X = sparse.csr_array(debian.features)

    def fit(X, seed=0):
        selector = BlockModelSelector(100, block_model="spectral", n_candidates=3, random_state=seed, n_jobs=2)
        return selector.fit(X, adjacency=debian.adjacency)

    here = fit(X)
    one, several = (
        fit(RowChunks.from_blocks([X[start : start + rows] for start in range(0, X.shape[0], rows)]))
        for rows in (X.shape[0], n_rows)
    )
    assert_array_equal(one.ranking_, here.ranking_)
    assert_allclose(one.scores_, here.scores_, rtol=1e-8)
    shared, by_seed = (np.count_nonzero(other.support_ & here.support_) for other in (several, fit(X, seed=1)))
    assert shared >= min(by_seed, 90)
    assert several.explained_[-1] > 0.97 * here.explained_[-1]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process, as on Linux")
def test_a_fit_never_holds_the_whole_matrix():
    """In a separate process: beyond the memory of a small fit, less than half of the matrix."""
    code = """
import numpy as np
from scipy import sparse
from blockselect import BlockModelSelector, RowChunks, make_attributed_blocks
from local_clusters import peak

def load(number, rows=500, width=500):
    columns = np.random.default_rng(number).integers(m, size=rows * width, dtype=np.int32)
    columns[::width] = blocks[number * rows : (number + 1) * rows]  # one feature per block
    return sparse.csr_array((np.ones(rows * width), columns, np.arange(0, rows * width + 1, width)), shape=(rows, m))

def fit(n_chunks):
    X = RowChunks.from_blocks(lambda: (load(number) for number in range(n_chunks)))
    X.held_bytes = 2**24
    n = X.shape[0]
    return BlockModelSelector(5, block_model=blocks[:n]).fit(X, adjacency=planted.adjacency[:n, :n])

m, n_chunks = 5000, 60
planted = make_attributed_blocks(500 * n_chunks, 3, mean_degree=3, n_informative=1, n_redundant=0, n_noise=1)
blocks = planted.blocks
fit(2)
before = peak()
selector = fit(n_chunks)
assert set(np.flatnonzero(selector.support_)) >= {0, 1, 2}
print(peak() - before)
"""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    whole = 60 * 500 * 500 * 12
    assert int(result.stdout) < whole / 2
