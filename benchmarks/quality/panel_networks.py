"""Planted networks with signed, positive, count or binary features, and with few or many blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.preprocessing import StandardScaler

from benchmarks.quality.regimes import find_regime
from blockselect.datasets.planted import make_attributed_blocks
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph

MARKERS_A_BLOCK = 4
NOISE_A_MARKER = 4  # noise features per marker, with its values at random nodes
STRENGTHS = (2.0, 6.0)  # shift of the weakest and the strongest markers, in standard errors of a block mean
MEAN_DEGREE = 20.0  # unless the regime specifies another value
_DENSE = 0.5  # features with at least this share of non-zeros are a NumPy array

Draw = Callable[[float, np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True, slots=True)
class Cell:
    """One kind of network."""

    kind: str  # a key of KINDS
    density: float  # approximate share of non-zero values
    n_blocks: int
    n_nodes: int
    regime: str = "assortative"  # a key of REGIMES


@dataclass(frozen=True, slots=True, eq=False)
class PanelNetwork:
    """A network, with the block that each feature marks."""

    graph: AttributedGraph
    n_blocks: int
    marks: np.ndarray  # (m,) block, -1 for noise

    def precision(self, selected: np.ndarray) -> float:
        """Share of the selected features that mark a block."""
        return float(np.mean(self.marks[selected] >= 0)) if len(selected) else 0.0

    def coverage(self, selected: np.ndarray) -> float:
        """Share of the blocks that at least one selected feature marks."""
        found = self.marks[selected]
        return len(np.unique(found[found >= 0])) / self.n_blocks


def _signed(density: float, shift: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Standardised normal values with means shifted up or down by `shift` sds; a random part of them is zero."""
    shift = shift * rng.choice([-1, 1], size=shift.shape[1]) / density**0.5
    standard = StandardScaler().fit_transform(rng.normal(size=shift.shape) + shift)
    return standard if density >= 1 else standard * (rng.random(shift.shape) < density)


def _positive(density: float, shift: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Positive values with a long tail and means shifted up by `shift` sds; a random part of them is zero."""
    shape = 2.0  # shape of the gamma distribution, which equals its mean and its variance
    relative_sd = ((shape + 1) / (shape * density) - 1) ** 0.5  # including the zeros
    values = rng.gamma(shape, size=shift.shape) * (1 + shift * relative_sd)
    return values if density >= 1 else values * (rng.random(shift.shape) < density)


def _counts(density: float, shift: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Poisson counts with rates shifted up by `shift` sds."""
    rate = -np.log1p(-min(density, 0.995))
    return rng.poisson(rate + shift * rate**0.5).astype(np.float64)


def _binary(density: float, shift: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Binary values whose frequency is shifted up by about `shift` sds."""
    odds = logit(density) + shift / (density * (1 - density)) ** 0.5
    return (rng.random(shift.shape) < expit(odds)).astype(np.float64)


KINDS: dict[str, Draw] = {"signed": _signed, "positive": _positive, "counts": _counts, "binary": _binary}


def plant_cell(cell: Cell, seed: int) -> PanelNetwork:
    """Plant a network. Marker strength differs between blocks, so the highest scores cover only some blocks."""
    rng = np.random.default_rng(seed)
    links = {"mean_degree": MEAN_DEGREE, **find_regime(cell.regime)}
    frame = make_attributed_blocks(
        cell.n_nodes, cell.n_blocks, n_informative=0, n_redundant=0, n_noise=1, random_state=seed, **links
    )
    marks = np.repeat(np.arange(cell.n_blocks), MARKERS_A_BLOCK)
    strengths = rng.permutation(np.linspace(*STRENGTHS, cell.n_blocks))[marks] / (cell.n_nodes / cell.n_blocks) ** 0.5
    markers = KINDS[cell.kind](cell.density, (frame.blocks[:, None] == marks) * strengths, rng)
    noise = rng.permuted(np.tile(markers, NOISE_A_MARKER), axis=0)
    order = rng.permutation(markers.shape[1] + noise.shape[1])
    features: Any = np.hstack([markers, noise])[:, order]
    if cell.density < _DENSE:
        features = sparse.csr_array(features)
    every = np.append(marks, np.full(noise.shape[1], -1))[order]
    graph = check_attributed_graph(features, frame.adjacency, non_negative=False)
    return PanelNetwork(graph, cell.n_blocks, every)
