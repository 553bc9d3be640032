"""The panel: networks of every kind of feature with known markers, and what a method is worth on them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.quality.panel_networks import Cell, plant_cell
from benchmarks.quality.panel_trials import DENSITIES

EVERY = [(kind, density) for kind, densities in DENSITIES.items() for density in densities]


def values_of(network):
    features = network.graph.features
    return features.toarray() if sparse.issparse(features) else features


@pytest.mark.parametrize(("kind", "density"), EVERY)
def test_features_have_the_kind_and_density_asked_for(kind, density):
    values = values_of(plant_cell(Cell(kind, density, 4, 400), seed=0))
    assert values.shape == (400, 4 * 4 * 5)
    assert np.mean(values != 0) == pytest.approx(density, abs=0.1)
    whole = (values == np.round(values)).all()
    of_kind = (kind in ("counts", "binary"), kind == "signed", kind != "binary")
    assert (whole, values.min() < 0, values.max() > 1) == of_kind


@pytest.mark.parametrize(("kind", "density"), EVERY)
def test_markers_differ_in_their_block_and_noise_nowhere(kind, density):
    network = plant_cell(Cell(kind, density, 4, 2000), seed=1)
    values, blocks = values_of(network), planted_blocks(4, 2000, seed=1)
    values = values / values.std(axis=0)
    means = np.array([values[blocks == block].mean(axis=0) for block in range(4)])
    apart = np.abs(means - values.mean(axis=0)).max(axis=0)
    markers = np.flatnonzero(network.marks >= 0)
    assert len(markers) == 16
    assert np.median(apart[markers]) > 1.5 * np.median(apart[network.marks < 0])


def planted_blocks(n_blocks, n_nodes, seed):
    from blockselect import make_attributed_blocks

    return make_attributed_blocks(
        n_nodes, n_blocks, mean_degree=20, n_informative=0, n_redundant=0, n_noise=1, random_state=seed
    ).blocks


def test_precision_and_coverage_count_markers_and_blocks():
    network = plant_cell(Cell("binary", 0.1, 4, 200), seed=0)
    first = [int(np.flatnonzero(network.marks == block)[0]) for block in range(4)]
    noise = np.flatnonzero(network.marks < 0)[:4].tolist()
    assert (network.precision(np.array(first)), network.coverage(np.array(first))) == (1, 1)
    assert (network.precision(np.array(first[:2] + noise[:2])), network.coverage(np.array(first[:2]))) == (0.5, 0.5)
    assert (network.precision(np.array(noise)), network.coverage(np.array(noise))) == (0, 0)
    assert (network.precision(np.array([], dtype=int)), network.coverage(np.array([], dtype=int))) == (0, 0)


def test_regimes_change_how_blocks_connect():
    whole, thin = (
        plant_cell(Cell("binary", 0.1, 4, 200, regime), seed=0).graph for regime in ("assortative", "sparse")
    )
    assert thin.n_links < whole.n_links / 3
