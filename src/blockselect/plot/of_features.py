"""Plots of features: scores, lift in each block, stability, and the share of the block structure explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from blockselect.base import ScoreSelector
from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.inspection.stability import selection_stability
from blockselect.plot.common import (
    AROUND,
    BLUE,
    GREY,
    INK,
    MAX_NUMBERED,
    axes_or_new,
    bare,
    block_names_of,
    label_blocks,
    legible,
    names_of,
    of_selector,
    with_blocks,
)
from blockselect.utils.arrays import FloatArray, best_first
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers, check_whole
from blockselect.utils.wording import count, lift_in_cell, number, per_cent

SHOWN = 20  # number of features for which names are legible
SIZES = "number of top-ranked features (log scale)"
_MAX_HIGH_NUMBERED = 20  # with more blocks than this, no cell contains a number
_LARGEST = 3.0  # log₂ lift (8 times) at which the colour saturates


def scores(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    support: NDArray[np.bool_] | None = None,
    feature_names: Sequence[Any] | None = None,
    ranking: ArrayLike | None = None,
    n_shown: int = SHOWN,
) -> Axes:
    """Draw the scores of the top features as bars with their names; unselected features are grey.

    Parameters
    ----------
    source : fitted selector, or array of shape (m,)
        Any selector of this package, or the scores themselves.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    support : boolean array of shape (m,), optional
        Which features are selected; by default those of the selector, or all features of an array.
    feature_names : sequence of str, optional
        By default the names that the selector knows, or ``x0``, ``x1``, …
    ranking : array of shape (m,), optional
        Rank of each feature, 1 for the best; by default that of the selector, or by decreasing score for an array.
    n_shown : int, default=20
        Number of features to show.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    check_whole("n_shown", n_shown, 1)
    if isinstance(source, ScoreSelector):
        values, selected = of_selector(source, "scores_", "scores"), source.support_
        ranking = source.ranking_ if ranking is None else ranking
    else:
        values = as_numbers("source", source, (None,), "one score per feature, (m,)")
        selected = np.ones(len(values), dtype=bool)
    names = names_of(source, feature_names, len(values))
    selected = selected if support is None else _one_each("support", support, len(values)) > 0
    ranks = None if ranking is None else _one_each("ranking", ranking, len(values))
    shown = (best_first(values) if ranks is None else np.argsort(ranks))[:n_shown]
    ax.barh(range(len(shown)), values[shown], color=[BLUE if selected[i] else GREY for i in shown], height=0.7)
    for place, score in enumerate(values[shown]):
        ax.annotate(number(score), (score, place), (3, 0), textcoords="offset points", va="center", fontsize=7)
    _name_rows(ax, [names[index] for index in shown])
    ax.set_xlim(0, 1.12 * max(float(values.max(initial=0.0)), 1e-12))
    ax.set_xlabel("score")
    ax.set_title("Scores, best first", loc="left")
    bare(ax, grid=None)
    ax.tick_params(axis="y", length=0)
    return ax


def features_by_block(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    feature_names: Sequence[Any] | None = None,
    block_names: Sequence[Any] | None = None,
    n_shown: int = SHOWN,
) -> Axes:
    """Draw the lift of each feature in each block: how many times as common it is there as in the whole network.

    Parameters
    ----------
    source : fitted selector with blocks, or array of shape (d, k)
        For a selector, its top selected features are shown; an array contains the lift of each feature in each block.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    feature_names : sequence of str, optional
        Names of all features of the selector, or of the rows of the array.
    block_names : sequence of k str, optional
        By default the names in `blocks_` of the selector, or 0, 1, … If names do not fit, blocks are numbered.
    n_shown : int, default=20
        Number of features to show.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        shown = with_blocks(source)._selected_in_order()[:n_shown]
        lift = with_blocks(source)._markers().lift[:, shown].T
        every = names_of(source, feature_names, len(source.scores_))
        names = [every[index] for index in shown]
    else:
        lift = as_numbers("source", source, (None, None), "the lift of each feature in each block, (m, k)")
        names = names_of(source, feature_names, len(lift))[:n_shown]
        lift = lift[:n_shown]
    _draw_lift(ax, lift)
    label_blocks(ax, block_names_of(source, block_names, lift.shape[1]))
    _name_rows(ax, names)
    ax.set_title("Lift of each feature in each block", loc="left")
    return ax


def _draw_lift(ax: Axes, lift: FloatArray) -> None:
    amount = np.log2(np.maximum(lift, 2.0**-_LARGEST))
    ax.imshow(amount, cmap=AROUND, vmin=-_LARGEST, vmax=_LARGEST, aspect="auto", interpolation="nearest")
    if lift.shape[1] > _MAX_HIGH_NUMBERED:
        return
    lowest = -np.inf if lift.shape[1] <= MAX_NUMBERED else 0.0  # with many blocks, only high lifts are numbered
    for (row, column), value in np.ndenumerate(lift):
        if abs(amount[row, column]) >= 0.58 and amount[row, column] > lowest:  # at least 1.5, or at most two thirds
            colour = "white" if amount[row, column] > 0.75 * _LARGEST else INK
            ax.text(column, row, lift_in_cell(float(value)), ha="center", va="center", fontsize=7, color=colour)


def stability(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    ranking: ArrayLike | None = None,
    support: NDArray[np.bool_] | None = None,
    X: Any = None,
    adjacency: Any = None,
    n_resamples: int = 8,
) -> Axes:
    """Draw the probability that each feature would be selected again, by rank; selected features have filled dots.

    Parameters
    ----------
    source : fitted selector, or array of shape (m,)
        For a selector, the stability is estimated by :func:`blockselect.selection_stability`, which takes a while. An
        array contains the stability itself.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    ranking : array of shape (m,), optional
        Rank of each feature, where 1 is the best; by default an array is drawn in its own order.
    support : boolean array of shape (m,), optional
        Which features are selected; by default all features of an array.
    X, adjacency
        For a selector: the network it was fitted to, which is resampled.
    n_resamples : int, default=8
        Number of resampled graphs, if the stability is estimated.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        if X is None:
            raise ParameterError("X", "is missing; pass the fitted network, which is resampled: X=X, adjacency=A.")
        values = selection_stability(source, X, adjacency=adjacency, n_resamples=n_resamples)
        ranking, support = source.ranking_, source.support_
    else:
        values = as_numbers("source", source, (None,), "one value per feature, (m,)")
    order = np.arange(len(values)) if ranking is None else np.argsort(_one_each("ranking", ranking, len(values)))
    selected = np.ones(len(values), dtype=bool) if support is None else _one_each("support", support, len(values)) > 0
    shown = order[: max(2 * int(selected.sum()), SHOWN)]
    for part, colour, face in ((~selected[shown], GREY, "white"), (selected[shown], BLUE, BLUE)):
        places = np.flatnonzero(part)
        ax.plot(places + 1, values[shown[places]], "o", color=colour, markerfacecolor=face, markersize=4)
    mean = f" (mean of selected features: {values[selected].mean():.2f})" if selected.any() else ""
    ax.set_title(f"Stability by rank{mean}", loc="left")
    ax.set(xlabel="feature rank", ylabel="stability", ylim=(-0.05, 1.05), xlim=(0.5, len(shown) + 0.5))
    bare(ax)
    return ax


def explained(
    source: ScoreSelector | Mapping[str, Any] | tuple[ArrayLike, ArrayLike],
    ax: Axes | None = None,
    *,
    n_selected: int | None = None,
) -> Axes:
    """Draw how much of the block structure the top features explain, compared with random and all features if known.

    Parameters
    ----------
    source : fitted BlockModelSelector or BMGUFS, mapping, or a pair of arrays
        A selector, ``summary["explained"]``, or numbers of features and the shares that they explain. For a
        BlockModelSelector fitted to row chunks, only the selected features are shown.
    ax : matplotlib axes, optional
        Axes to draw on; by default a new figure.
    n_selected : int, optional
        Number of selected features, marked by a line if the curve reaches it; by default that of the selector.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        found = _explained_by(with_blocks(source))
        n_selected = source.n_features_ if n_selected is None else n_selected
    else:
        found = source
    of_all = found.get("all") if isinstance(found, Mapping) else None
    curve = _curve(found)
    sizes, highest = curve["n_features"].to_numpy(), max(curve.drop(columns="n_features").max().max(), of_all or 0.0)
    places = np.log2(sizes)
    ax.plot(places, curve["share"], "o-", color=BLUE, markersize=4)
    if "random" in curve:
        ax.plot(places, curve["random"], "--", color=GREY)
        last = (places[-1], curve["random"].iloc[-1])
        ax.annotate("random", last, (0, 4), textcoords="offset points", ha="right")
    if of_all is not None:
        ax.axhline(of_all, color=GREY, linestyle=":")
        ax.annotate(f"all features: {per_cent(of_all)}", (places[0], of_all), (0, 4), textcoords="offset points")
    named = sizes_with_room(sizes.tolist())
    ax.set_xticks(np.log2(named), [count(int(size)) for size in named])
    ax.yaxis.set_major_formatter(lambda value, _: per_cent(value))
    ax.set(xlabel=SIZES, ylim=(0, 1.15 * (highest or 1.0)))
    ax.set_title("Block structure explained (R²)", loc="left")
    if n_selected and n_selected <= sizes[-1]:
        place, is_right = np.log2(n_selected), n_selected**2 > sizes[-1]
        ax.axvline(place, color=INK, linestyle="--", linewidth=0.8)
        ax.annotate(  # above all curves, on the side with more room
            f"selected: {count(n_selected)}",
            (place, 0.98),
            (-4 if is_right else 4, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="top",
        )
    bare(ax)
    return ax


def sizes_with_room(sizes: Sequence[int]) -> list[int]:
    """The increasing `sizes` that fit as labels of a log axis: the last, and each far enough from the next one kept."""
    kept = [sizes[-1]]
    for size in reversed(sizes):
        if log2(kept[0] / size) >= max(log2(sizes[-1]), 1) / 8:
            kept.insert(0, size)
    return kept


def _explained_by(selector: BlockGuidedSelector) -> Any:
    """The curve that the fit kept or, after a fit to row chunks, the shares of the selected features."""
    if selector.block_model_.n_blocks == 1:
        raise ParameterError("source", "has only one block, so there is nothing to explain; pass a selector with more.")
    found = selector._fit_result.explained
    if found is None and hasattr(selector, "explained_"):
        return np.arange(1, len(selector.explained_) + 1), selector.explained_
    return found


def _curve(found: Any) -> pd.DataFrame:
    """Numbers of features and the shares they explain, with the shares of random features if known."""
    columns = ["n_features", "share"]
    try:
        curve = pd.DataFrame(found["curve"] if isinstance(found, Mapping) else dict(zip(columns, found, strict=True)))
        as_numbers("source", curve[columns], (None, 2), "at least one number of features")
    except (KeyError, TypeError, ValueError) as error:
        raise ParameterError(
            "source",
            'has no curve; pass a selector that has selected features, summary["explained"], or two arrays of the same '
            "length: numbers of features and shares.",
        ) from error
    return curve


def _one_each(parameter: str, values: Any, n_features: int) -> FloatArray:
    return as_numbers(parameter, values, (n_features,), f"one value for each of the {n_features} features")


def _name_rows(ax: Axes, names: list[str]) -> None:
    """Write names along the y axis, the first at the top."""
    ax.set_yticks(range(len(names)), [legible(name) for name in names])
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
