"""Held-out links: the split, the pairs that are drawn, and the area under the curve."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from blockselect import make_attributed_blocks
from blockselect.evaluation import HiddenLinks, hide_links, predict_links
from blockselect.evaluation.link_prediction import cosines, link_aucs, non_links
from blockselect.evaluation.protocol import unit_rows


@pytest.fixture(scope="module")
def planted():
    return make_attributed_blocks(150, 3, n_informative=12, n_redundant=0, n_noise=28, random_state=0)


def draw(seed, n=20):
    """A random matrix of weighted links with self-loops."""
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < 0.2)
    A[0, 1] = A[2, 3] = 1
    return np.maximum(A, A.T)


@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 0.99))
def test_kept_and_hidden_links_are_the_network(seed, share):
    A = draw(seed)
    split = hide_links(sparse.csr_array(A), share=share, random_state=seed)
    kept = split.kept.toarray()
    assert_array_equal(kept, kept.T)
    assert (split.first < split.second).all()
    assert (kept[split.first, split.second] == 0).all()
    kept[split.first, split.second] = A[split.first, split.second]
    kept[split.second, split.first] = A[split.first, split.second]
    assert_array_equal(kept, A)
    n_links = np.count_nonzero(np.triu(A, 1))
    assert len(split.first) == min(max(1, round(share * n_links)), n_links - 1)


def test_the_same_seed_hides_the_same_links():
    A = sparse.csr_array(draw(1))
    one, again, other = (hide_links(A, share=0.5, random_state=seed) for seed in (0, 0, 1))
    assert_array_equal(one.first, again.first)
    assert len(one.first) != len(other.first) or (one.first != other.first).any()


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_area_is_the_share_of_pairs_in_the_right_order(planted, form):
    """The expected value is computed from all held-out links and all pairs without a link."""
    split = hide_links(planted.adjacency, random_state=0)
    columns = np.arange(3 if form == "dense" else 40)
    Y = planted.features.toarray()[:, columns]
    lengths = np.linalg.norm(Y, axis=1)
    lengths[lengths == 0] = 1
    cosine = (Y @ Y.T) / np.outer(lengths, lengths)
    free = [(i, j) for i in range(150) for j in range(i + 1, 150) if planted.adjacency[i, j] == 0]
    hidden = np.round(cosine[split.first, split.second], 12)
    others = np.round([cosine[pair] for pair in free], 12)
    right = np.mean((hidden[:, None] > others) + 0.5 * (hidden[:, None] == others))
    scores = predict_links(planted.features, split, columns, n_runs=100)
    assert scores.aucs.mean() == pytest.approx(right, abs=4 * scores.aucs.std() / 100**0.5)


def test_similarities_that_differ_little_are_told_apart():
    """The nodes of the hidden link are equal; all other pairs have a cosine of 0.96."""
    features = np.column_stack([np.ones(5), 0.2 * np.eye(5)[:, 1:]])
    features[0] = features[1]
    kept = sparse.csr_array(([1.0, 1.0], ([2, 3], [3, 2])), shape=(5, 5))
    split = HiddenLinks(kept, np.array([0]), np.array([1]))
    assert_array_equal(predict_links(features, split, np.arange(5), n_runs=5).aucs, 1)


def test_pairs_without_a_link_are_drawn_evenly():
    links = sparse.csr_array(np.triu(draw(3, n=7), 1) > 0).astype(float)
    drawn = np.zeros((7, 7))
    for _, (first, second) in non_links(links, 5000, range(4)):
        np.add.at(drawn, (first, second), 1)
    free = np.triu(links.toarray() == 0, 1)
    assert (drawn[~free] == 0).all()
    assert_allclose(drawn[free] / drawn.sum(), 1 / free.sum(), rtol=0.2)


def test_informative_features_beat_noise():
    planted = make_attributed_blocks(300, 3, n_informative=12, n_noise=28, mean_degree=30, signal=5, random_state=0)
    split = hide_links(planted.adjacency, random_state=0)
    informative = np.flatnonzero(planted.is_informative)
    noise = np.flatnonzero(~planted.is_informative)[: len(informative)]
    good, bad = (predict_links(planted.features, split, columns).aucs for columns in (informative, noise))
    assert good.mean() > bad.mean() + 0.03
    assert abs(bad.mean() - 0.5) < 0.03


def test_how_features_are_stored_and_named_does_not_matter(planted):
    split = hide_links(planted.adjacency, random_state=0)
    columns = np.array([7, 3, 22, 11])
    expected = predict_links(planted.features, split, np.sort(columns), n_runs=3).aucs
    mask = np.isin(np.arange(40), columns)
    for features, selected in ((planted.features.toarray(), columns), (planted.features.tocsc(), mask)):
        assert_array_equal(predict_links(features, split, selected, n_runs=3).aucs, expected)
    later = predict_links(planted.features, split, columns, n_runs=2, first_seed=1)
    assert_array_equal(later.aucs, expected[1:])


def test_many_links_are_sampled(planted):
    split = hide_links(planted.adjacency, share=0.5, random_state=0)
    every, some = (
        link_aucs(split, partial(cosines, unit_rows(planted.features, np.arange(12))), range(20), max_pairs=number)
        for number in (10_000, 60)
    )
    assert some.std() > every.std()
    assert some.mean() == pytest.approx(every.mean(), abs=0.05)


def test_bad_input_is_refused(planted):
    split = hide_links(planted.adjacency, random_state=0)
    for share in (0, 1, -0.1):
        with pytest.raises(ValueError, match=r"share is .* expected a share between 0 and 1"):
            hide_links(planted.adjacency, share=share)
    with pytest.raises(ValueError, match=r"has 1 link\(s\) between nodes"):
        hide_links(sparse.csr_array(np.array([[1.0, 1], [1, 0]])))
    with pytest.raises(ValueError, match=r"split is of type csr_array; make it with hide_links"):
        predict_links(planted.features, sparse.csr_array(planted.adjacency), [0])
    with pytest.raises(ValueError, match="split has 150 nodes but features has 149 rows"):
        predict_links(planted.features[:149], split, [0])
    with pytest.raises(ValueError, match="at least one column"):
        predict_links(planted.features, split, [])
    with pytest.raises(ValueError, match="n_runs is 0"):
        predict_links(planted.features, split, [0], n_runs=0)
    with pytest.raises(ValueError, match="at least one pair without a link"):
        predict_links(np.eye(4), hide_links(sparse.csr_array(np.ones((4, 4)) - np.eye(4))), [0])
