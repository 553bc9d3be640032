"""The stability of blocks: how closely the blocks of a fit with another seed would match them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from blockselect import BMGUFS, BlockModelSelector, RowChunks, make_attributed_blocks
from blockselect.consensus.consensus import expected_agreement
from made_fits import QUICK, fit

WHOLE = np.repeat([0, 1, 2], 4)
HALVED = np.array([3, 3, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])  # block 0 in two halves


@pytest.fixture(scope="module")
def hard_network():
    """Six blocks near the detectability threshold: consensus models differ."""
    return make_attributed_blocks(200, 6, mean_degree=5, signal=1.5, random_state=0)


@pytest.fixture(scope="module")
def hard_fit(hard_network):
    return fit(hard_network, n_blocks=6, n_candidates=12)


def test_identical_blocks_agree_whatever_their_numbers():
    of_blocks, overall = expected_agreement([WHOLE, (WHOLE + 1) % 3, WHOLE])
    assert_array_equal(of_blocks, [1, 1, 1])
    assert overall == 1


def test_a_block_that_is_halved_overlaps_by_one_half():
    of_blocks, overall = expected_agreement([WHOLE, HALVED])
    assert_array_equal(of_blocks, [0.5, 1, 1])
    assert overall == adjusted_rand_score(WHOLE, HALVED)


def test_a_block_that_is_merged_overlaps_by_its_share_of_the_merged_one():
    assert_array_equal(expected_agreement([HALVED, WHOLE])[0], [0.5, 1, 1, 0.5])


def test_better_models_count_more():
    """The best model of half of the starts is the second best of all with probability 1/2, the third best with 1/4."""
    of_blocks, overall = expected_agreement([WHOLE, WHOLE, HALVED])
    assert_allclose(of_blocks, [(2 * 1 + 0.5) / 3, 1, 1])
    assert overall == pytest.approx((2 + adjusted_rand_score(WHOLE, HALVED)) / 3)


def test_one_model_says_nothing():
    assert expected_agreement([WHOLE]) == (None, None)


def test_neither_numbers_nor_the_order_of_nodes_matter():
    rng = np.random.default_rng(0)
    models = [rng.integers(4, size=60) for _ in range(3)]
    of_blocks, overall = expected_agreement(models)
    order = rng.permutation(60)
    reordered = expected_agreement([labels[order] for labels in models])
    assert_allclose(reordered[0], of_blocks)
    assert reordered[1] == pytest.approx(overall)
    numbers = [rng.permutation(4) for _ in models]
    renumbered = expected_agreement([new[labels] for new, labels in zip(numbers, models, strict=True)])
    assert_allclose(renumbered[0][numbers[0]], of_blocks)
    assert renumbered[1] == pytest.approx(overall)


def test_a_fit_states_the_stability_of_its_blocks(hard_fit):
    of_blocks, overall = expected_agreement([model.labels for model in hard_fit.consensus_models_])
    assert_array_equal(hard_fit.block_stability_, of_blocks)
    assert len(hard_fit.block_stability_) == hard_fit.block_model_.n_blocks
    assert (hard_fit.block_stability_ > 0).all()
    assert hard_fit.block_stability_.min() < 1
    assert 0 < hard_fit.block_agreement_ == overall < 1


def test_blocks_that_every_start_finds_are_stable(network, fitted):
    assert_array_equal(fitted.block_stability_, np.ones(3))
    assert fitted.block_agreement_ == 1
    chunks = RowChunks.from_blocks([network.features[:120], network.features[120:]])
    assert BlockModelSelector(12, **QUICK).fit(chunks, adjacency=network.adjacency).block_agreement_ == 1


@pytest.mark.parametrize("options", [{"n_candidates": 4}, {"block_model": np.arange(200) % 3}])
def test_nothing_is_stated_from_one_model_or_about_given_blocks(network, options):
    selector = fit(network, **options)
    assert selector.block_stability_ is None
    assert selector.block_agreement_ is None
    assert "another seed" not in repr(selector.describe_block(0))


def test_the_description_of_a_block_shows_its_stability(hard_fit):
    for block, stability in enumerate(hard_fit.block_stability_):
        found = hard_fit.describe_block(block)
        assert found.stability == stability
        shown = f"Expected overlap with the closest block found with another seed: {stability:.2f}."
        assert shown in repr(found)
        assert shown in found._repr_html_()


def test_blocks_of_the_paper_have_no_stability(network):
    selector = BMGUFS(12, n_blocks=3, n_candidates=6, random_state=0).fit(network.features, adjacency=network.adjacency)
    assert selector.describe_block(0).stability is None
