"""Planted networks agree with their parameters and with the recorded ground truth."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from blockselect.datasets import make_attributed_blocks, planted_features
from blockselect.datasets.planted import STRUCTURES, triangle_pairs
from blockselect.datasets.planted_features import VALUES

MANY = {"n_nodes": 6000, "n_informative": 40, "n_redundant": 40, "n_noise": 40, "n_decoys": 40}


@pytest.fixture(params=[2**28, 0], ids=["all nodes", "non-zeros"])
def either_draw(request, monkeypatch):
    """Small networks draw one value per node, large ones only the non-zero values; the distributions are the same."""
    monkeypatch.setattr(planted_features, "_CELLS", request.param)


def observed_density(adjacency, blocks):
    """Share of linked pairs of different nodes for each pair of blocks, and the number of these pairs."""
    membership = np.eye(blocks.max() + 1)[blocks]
    sizes = membership.sum(axis=0)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    return membership.T @ (adjacency @ membership) / pairs, pairs


def block_effect(features, blocks):
    """n times the share of a feature's variance that lies between blocks: chi-square for pure noise."""
    dense = features.toarray()
    membership = np.eye(blocks.max() + 1)[blocks]
    sizes = membership.sum(axis=0)
    means = membership.T @ dense / sizes[:, None]
    return (sizes[:, None] * (means - dense.mean(axis=0)) ** 2).sum(axis=0) / dense.var(axis=0)


def assert_density_is_met(planted):
    density, pairs = observed_density(planted.adjacency, planted.blocks)
    # On the diagonal each pair is counted in both orders.
    distinct = np.where(np.eye(planted.n_blocks, dtype=bool), pairs / 2, pairs)
    error = np.sqrt(planted.density * (1 - planted.density) / distinct)
    assert (np.abs(density - planted.density) <= 4 * error).all()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_structure_is_met_within_sampling_error(structure):
    planted = make_attributed_blocks(
        2000, 4, structure=structure, mean_degree=30, block_weights=[4, 3, 2, 1], random_state=1
    )
    assert_density_is_met(planted)
    assert planted.adjacency.sum() / 2000 == pytest.approx(30, rel=0.03)


def test_density_of_ones_own_is_met_within_sampling_error():
    density = [[0.0, 0.3, 0.01], [0.3, 1.0, 0.0], [0.01, 0.0, 0.2]]
    planted = make_attributed_blocks(600, 3, density=density, random_state=2)
    assert_array_equal(planted.density, density)
    assert_density_is_met(planted)


def test_each_pair_of_nodes_is_as_likely_as_any_other():
    """Over many graphs, all pairs are linked equally often, within and between blocks."""
    total = np.zeros((9, 9))
    n_graphs = 500
    for seed in range(n_graphs):
        planted = make_attributed_blocks(
            9, 2, density=np.full((2, 2), 0.5), n_informative=1, n_redundant=0, n_noise=0, random_state=seed
        )
        order = np.argsort(planted.blocks, kind="stable")
        total += planted.adjacency.toarray()[np.ix_(order, order)]
    share = total[np.triu_indices(9, 1)] / n_graphs
    assert (np.abs(share - 0.5) < 4.5 * 0.5 / np.sqrt(n_graphs)).all()


def test_structures_differ_as_their_names_say():
    assortative, disassortative, core = (
        make_attributed_blocks(structure=name, random_state=0).density
        for name in ("assortative", "disassortative", "core-periphery")
    )
    off = ~np.eye(4, dtype=bool)
    assert assortative.diagonal().min() > assortative[off].max()
    assert disassortative.diagonal().max() < disassortative[off].min()
    assert (np.diff(core, axis=0) < 0).all()


def test_mixing_is_the_weakest_density_over_the_strongest():
    for structure in STRUCTURES:
        density = make_attributed_blocks(structure=structure, mixing=0.3, random_state=0).density
        assert density.min() / density.max() == pytest.approx(0.3)


def test_block_weights_give_the_sizes():
    planted = make_attributed_blocks(101, 3, block_weights=[1, 1, 2], mean_degree=5, random_state=0)
    assert_array_equal(np.bincount(planted.blocks), [25, 25, 51])


def test_roles_are_counted_and_mark_what_is_informative():
    planted = make_attributed_blocks(n_informative=5, n_redundant=7, n_noise=11, n_decoys=3, random_state=0)
    roles, counts = np.unique(planted.roles, return_counts=True)
    counted = dict(zip(roles.tolist(), counts.tolist(), strict=True))
    assert counted == {"informative": 5, "redundant": 7, "noise": 11, "decoy": 3}
    assert planted.is_informative.sum() == 12
    assert not planted.is_informative[planted.roles == "noise"].any()


def test_only_informative_features_follow_the_blocks(either_draw):
    planted = make_attributed_blocks(**MANY, random_state=3)
    effect = block_effect(planted.features, planted.blocks)
    # 21.1 is passed by chance once in 10,000 (chi-square, three degrees of freedom).
    assert effect[planted.is_informative].min() > 21.1
    assert effect[~planted.is_informative].max() < 21.1


def test_decoys_follow_a_partition_that_the_graph_does_not(either_draw):
    planted = make_attributed_blocks(**MANY, random_state=4)
    decoys = planted.roles == "decoy"
    assert block_effect(planted.features, planted.decoy_blocks)[decoys].min() > 21.1
    density, _ = observed_density(planted.adjacency, planted.decoy_blocks)
    assert_allclose(density, density.mean(), rtol=0.15)


def test_without_decoys_there_is_no_decoy_partition():
    assert make_attributed_blocks(random_state=0).decoy_blocks is None


@pytest.mark.parametrize("values", VALUES)
def test_noise_is_as_frequent_and_varies_as_much_as_informative_features(values, either_draw):
    planted = make_attributed_blocks(1000, n_informative=400, n_redundant=0, n_noise=400, values=values, random_state=5)
    dense = planted.features.toarray()
    for statistic in (dense.mean(axis=0), dense.var(axis=0)):
        informative, noise = (statistic[planted.roles == role] for role in ("informative", "noise"))
        spread = np.sqrt(informative.var() / 400 + noise.var() / 400)
        assert abs(informative.mean() - noise.mean()) < 3 * spread


@pytest.mark.parametrize("values", VALUES)
def test_signal_is_the_ratio_of_the_frequencies(values, either_draw):
    counts = {"n_informative": 6, "n_redundant": 0, "n_noise": 0}
    planted = make_attributed_blocks(60000, 2, signal=5, frequency=(0.1, 0.1), values=values, random_state=6, **counts)
    means = np.array([planted.features[planted.blocks == block].mean(axis=0) for block in (0, 1)])
    assert_allclose(np.sort(means, axis=0), np.tile([[0.1], [0.5]], 6), rtol=0.05)


def test_every_block_is_home_to_a_feature(either_draw):
    planted = make_attributed_blocks(
        5000, 5, n_informative=5, n_redundant=0, n_noise=0, frequency=(0.1, 0.2), random_state=7
    )
    means = np.array([planted.features[planted.blocks == block].mean(axis=0) for block in range(5)])
    at_home = means > 2 * means.min(axis=0)
    assert at_home.any(axis=1).all()
    assert (at_home.sum(axis=0) <= 2).all()


@pytest.mark.parametrize("values", VALUES)
def test_copies_resemble_their_originals_and_keep_their_values(values, either_draw):
    planted = make_attributed_blocks(**MANY, copy_noise=0.2, values=values, random_state=8)
    dense = planted.features.toarray()
    copies = np.flatnonzero(planted.roles == "redundant")
    originals = planted.copied_from[copies]
    assert (planted.roles[originals] == "informative").all()
    assert (np.delete(planted.copied_from, copies) == -1).all()
    assert_array_equal(np.sort(dense[:, copies], axis=0), np.sort(dense[:, originals], axis=0))
    correlation = [np.corrcoef(dense[:, a], dense[:, b])[0, 1] for a, b in zip(copies, originals, strict=True)]
    # Of the 20 % that swap, few keep their value, by chance.
    assert_allclose(correlation, 0.8, atol=0.08)


def test_every_node_is_equally_likely_to_receive_a_swapped_value(either_draw):
    """Nodes with and without the feature are equally likely, wherever they are."""
    options = {"n_informative": 1, "n_redundant": 4000, "n_noise": 0, "copy_noise": 1.0, "frequency": (0.5, 0.5)}
    planted = make_attributed_blocks(12, 2, mean_degree=4, signal=1, random_state=3, **options)
    copies = planted.features.toarray()[:, planted.roles == "redundant"]
    share = copies[:, 0].sum() / 12
    assert 0.2 < share < 0.8
    assert_allclose(copies.mean(axis=1), share, atol=4.5 * np.sqrt(share * (1 - share) / 4000))


def test_rows_are_sorted_and_hold_no_feature_twice(either_draw):
    planted = make_attributed_blocks(500, values="counts", n_decoys=10, random_state=0)
    assert planted.features.has_canonical_format
    assert planted.features.data.min() >= 1


def test_without_copy_noise_copies_are_exact(either_draw):
    planted = make_attributed_blocks(n_informative=3, n_redundant=4, copy_noise=0, random_state=0)
    dense = planted.features.toarray()
    copies = np.flatnonzero(planted.roles == "redundant")
    assert_array_equal(dense[:, copies], dense[:, planted.copied_from[copies]])


def test_position_tells_nothing_about_a_role():
    places = [np.flatnonzero(make_attributed_blocks(random_state=seed).is_informative).mean() for seed in range(40)]
    # 30 of 100 places without replacement: mean 49.5, standard deviation 4.43.
    assert np.mean(places) == pytest.approx(49.5, abs=4 * 4.43 / np.sqrt(40))


def test_values_are_binary_or_counts(either_draw):
    binary, counts = (make_attributed_blocks(values=kind, random_state=0).features.data for kind in VALUES)
    assert_array_equal(np.unique(binary), [1.0])
    assert counts.max() > 1
    assert_array_equal(counts, np.round(counts))


def test_every_feature_is_somewhere_however_rare(either_draw):
    planted = make_attributed_blocks(20, 2, mean_degree=4, frequency=(1e-9, 1e-8), random_state=0)
    assert (planted.features.sum(axis=0) >= 1).all()


def test_a_large_network_is_drawn_link_by_link():
    """A hundred thousand nodes have five billion pairs, too many to visit each."""
    planted = make_attributed_blocks(
        100_000, 3, mean_degree=6, n_informative=2, n_redundant=0, n_noise=0, random_state=0
    )
    assert planted.graph.n_links == pytest.approx(300_000, rel=0.02)
    assert planted.graph.n_self_loops == 0


@pytest.mark.parametrize("row", [2, 10**5, 10**8, 3 * 10**8 + 1, 10**9])
def test_rows_of_a_triangle_begin_and_end_exactly_at_any_size(row):
    """From about 10**8 rows on, the square root alone is off by one row."""
    start = row * (row - 1) // 2
    rows, columns = triangle_pairs(np.array([start - 1, start, start + row - 1, start + row]))
    assert_array_equal(rows, [row - 1, row, row, row + 1])
    assert_array_equal(columns, [row - 2, 0, row - 1, 0])


def test_a_generator_is_used_as_it_stands():
    first = make_attributed_blocks(random_state=np.random.default_rng(5))
    assert (first.adjacency != make_attributed_blocks(random_state=5).adjacency).nnz == 0
    rng = np.random.default_rng(5)
    make_attributed_blocks(random_state=rng)
    assert (first.adjacency != make_attributed_blocks(random_state=rng).adjacency).nnz > 0


@given(
    n_nodes=st.integers(12, 60),
    n_blocks=st.integers(2, 4),
    structure=st.sampled_from(sorted(STRUCTURES)),
    values=st.sampled_from(sorted(VALUES)),
    counts=st.tuples(*[st.integers(1, 6)] * 4),
    sparse=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_any_network_is_sound_and_its_seed_repeats_it(n_nodes, n_blocks, structure, values, counts, sparse, seed):
    def make():
        return make_attributed_blocks(
            n_nodes,
            n_blocks,
            structure=structure,
            mean_degree=2,
            mixing=0.2,
            values=values,
            sparse=sparse,
            random_state=seed,
            **dict(zip(("n_informative", "n_redundant", "n_noise", "n_decoys"), counts, strict=True)),
        )

    planted, again = make(), make()
    adjacency = planted.adjacency.toarray()
    assert adjacency.shape == (n_nodes, n_nodes)
    assert planted.features.shape == (n_nodes, sum(counts))
    assert planted.roles.shape == planted.copied_from.shape == (sum(counts),)
    assert_array_equal(np.unique(planted.blocks), np.arange(n_blocks))
    assert_array_equal(planted.graph.classes, planted.blocks)
    assert_array_equal(adjacency, adjacency.T)
    assert set(np.unique(adjacency)) <= {0.0, 1.0}
    assert not adjacency.diagonal().any()
    assert isinstance(planted.features, np.ndarray) != sparse
    assert_array_equal(adjacency, again.adjacency.toarray())
    assert np.abs(planted.features - again.features).max() == 0
    assert_array_equal(planted.roles, again.roles)
    assert_array_equal(planted.blocks, again.blocks)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_nodes": 1}, "n_nodes is 1; expected a whole number, at least 2"),
        ({"n_nodes": 30.0}, "n_nodes is 30.0; expected a whole number"),
        ({"n_blocks": 1}, "n_blocks is 1; expected a whole number, at least 2"),
        ({"n_blocks": True}, "n_blocks is True; expected a whole number"),
        ({"n_nodes": 3, "n_blocks": 4}, "3 nodes leave block 3 of 4 empty; raise n_nodes"),
        ({"block_weights": [1, 2]}, "block_weights is .* expected 4 positive numbers"),
        ({"block_weights": [1, 2, 0, 1]}, "block_weights is .* expected 4 positive numbers"),
        ({"block_weights": [1, 1, 1, 1e9]}, "leave block 0 of 4 empty.*block_weights less unequal"),
        ({"structure": "ring"}, "no structure is called 'ring'; choose one of: .*core-periphery"),
        ({"mean_degree": 400}, "mean_degree is 400; expected a finite number from 0 to 85.25"),
        ({"mean_degree": -1}, "mean_degree is -1; expected a finite number"),
        ({"mean_degree": 0}, "no link was drawn among 300 nodes; raise mean_degree or n_nodes"),
        ({"mean_degree": 0, "n_nodes": 4, "mixing": 0}, "no link was drawn among 4 nodes; raise mean_degree"),
        ({"density": np.zeros((4, 4))}, "no link was drawn among 300 nodes; raise density or n_nodes"),
        ({"mixing": 1.5}, "mixing is 1.5; expected a finite number from 0 to 1"),
        ({"n_nodes": 4, "mixing": 0}, "mean_degree is 10.0; expected a finite number from 0 to 0"),
        ({"density": np.zeros((3, 3))}, r"density has shape \(3, 3\); expected a symmetric matrix of shape \(4, 4\)"),
        ({"density": np.full((4, 4), 1.5)}, "density contains 1.5 at row 0, column 0, which is outside"),
        ({"density": np.full((4, 4), np.nan)}, "density contains nan at row 0, column 0, which is outside"),
        ({"density": np.triu(np.full((4, 4), 0.5))}, "expected a symmetric matrix"),
        ({"n_informative": -1}, "n_informative is -1; expected a whole number, at least 0"),
        ({"n_informative": 0}, "n_informative is 0, .* that redundant features could copy; increase it"),
        (
            {"n_informative": 0, "n_redundant": 0, "n_noise": 0},
            "n_informative is 0, so there are no features",
        ),
        ({"signal": 0.5}, "signal is 0.5; expected a finite number at least 1"),
        ({"signal": np.inf}, "signal is inf; expected a finite number"),
        ({"signal": 8}, "signal times the highest frequency is 1.6; .*lower signal or frequency"),
        ({"frequency": 0.1}, "frequency is 0.1; expected two numbers with 0 < lowest"),
        ({"frequency": (0.2, 0.1)}, "expected two numbers with 0 < lowest ≤ highest"),
        ({"frequency": (0, 0.1)}, "expected two numbers with 0 < lowest ≤ highest"),
        ({"copy_noise": "much"}, "copy_noise is 'much'; expected a finite number from 0 to 1"),
        ({"random_state": -1}, "expected non-negative integer"),
        ({"values": "ternary"}, "no kind of values is called 'ternary'; choose one of: binary, counts"),
    ],
)
def test_errors_say_what_came_and_what_to_do(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_attributed_blocks(**{"random_state": 0} | parameters)


@pytest.mark.parametrize(
    ("options", "of_all_nodes", "of_non_zeros"),
    [
        ({}, "488eb37c25f6f7de", "bf6b9d5415ccf2d0"),
        (
            {"values": "counts", "n_decoys": 7, "structure": "core-periphery", "copy_noise": 0.4},
            "f2fd8f83255ecd90",
            "2e7686a7aacd84ae",
        ),
        (
            {
                "structure": "disassortative",
                "block_weights": [1, 2, 3, 4],
                "frequency": (1e-4, 0.01),
                "n_redundant": 33,
            },
            "95dab159e7c924b1",
            "014cad7326c9fbbc",
        ),
        (
            {"density": np.full((4, 4), 0.05) + np.eye(4) / 10, "n_nodes": 211, "values": "counts", "signal": 9.0},
            "6c7a9f67a7dbebb6",
            "1721d893aa4cdc83",
        ),
    ],
)
def test_a_seed_gives_the_same_network_in_every_version(options, of_all_nodes, of_non_zeros, monkeypatch):
    for cells, expected in ((2**28, of_all_nodes), (0, of_non_zeros)):
        monkeypatch.setattr(planted_features, "_CELLS", cells)
        made = make_attributed_blocks(**options, random_state=12)
        parts = [made.blocks, made.roles, made.copied_from]
        parts += [made.features.indptr, made.features.indices, made.features.data]
        parts += [made.adjacency.indptr, made.adjacency.indices, made.adjacency.data, made.density.round(12)]
        parts += [] if made.decoy_blocks is None else [made.decoy_blocks]
        text = "".join(str(part.tolist()) for part in parts)
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == expected
