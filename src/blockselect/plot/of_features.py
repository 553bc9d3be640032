"""Plots of features: their scores, where they are common, how stable they are, how many are enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from blockselect.arrays import FloatArray
from blockselect.base import ScoreSelector, best_first
from blockselect.errors import ParameterError
from blockselect.inspection.markers import block_markers
from blockselect.inspection.stability import selection_stability
from blockselect.plot.ink import AROUND, BLUE, GREY, INK, axes_or_new, bare, title
from blockselect.plot.sources import names_of, numbers, of_selector, recall
from blockselect.scalars import check_whole
from blockselect.wording import count, cut, feature_labels, lift_in_cell, number, per_cent, visible

SHOWN = 20  # features whose names are legible
_WRITTEN = 12  # blocks up to which numbers stand in the cells
_LARGEST = 3.0  # log₂ lift at which colour saturates: 8 times


def scores(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    support: NDArray[np.bool_] | None = None,
    feature_names: Sequence[Any] | None = None,
    ranking: ArrayLike | None = None,
    n_shown: int = SHOWN,
) -> Axes:
    """Scores of the best features as bars, with their names; those that are not selected in grey.

    Parameters
    ----------
    source : fitted selector, or array of shape (m,)
        The scores. Any selector of this package will do.
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    support : boolean array of shape (m,), optional
        Which are selected; a selector's own otherwise, and all for an array.
    feature_names : sequence of str, optional
        A selector's own otherwise, or ``x0``, ``x1``, …
    ranking : array of shape (m,), optional
        Rank of each feature, 1 is on top; a selector's own otherwise, and by falling score for an array.
    n_shown : int, default=20
        Features to show.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    values, selected, names = _read(source, support, feature_names)
    check_whole("n_shown", n_shown, 1)
    ranks = getattr(source, "ranking_", None) if ranking is None else _one_each("ranking", ranking, len(values))
    shown = (best_first(values) if ranks is None else np.argsort(ranks))[:n_shown]
    places = np.arange(len(shown))
    ax.barh(places, values[shown], color=[BLUE if selected[i] else GREY for i in shown], height=0.7)
    for place, index in zip(places, shown, strict=True):
        ax.annotate(
            number(values[index]), (values[index], place), (3, 0), textcoords="offset points", va="center", fontsize=7
        )
    _name_rows(ax, [names[index] for index in shown])
    ax.set_xlim(0, 1.12 * max(float(values.max(initial=0.0)), 1e-12))
    ax.set_xlabel("score")
    title(ax, "Scores, the best first")
    bare(ax, grid=None)
    ax.tick_params(axis="y", length=0)
    return ax


def features_by_block(
    source: ScoreSelector | ArrayLike,
    ax: Axes | None = None,
    *,
    X: Any = None,
    feature_names: Sequence[Any] | None = None,
    n_shown: int = SHOWN,
) -> Axes:
    """How many times as common each feature is in each block as in all nodes (lift).

    Parameters
    ----------
    source : fitted selector with blocks, or array of shape (d, k)
        A selector shows its best selected features; an array holds the lift of each feature in each block.
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    X : array or sparse matrix, optional
        The features of the fit; may be left out while they are in memory.
    feature_names : sequence of str, optional
        Of the columns of X, or of the rows of the array.
    n_shown : int, default=20
        Features to show.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        check_is_fitted(source)
        if not hasattr(source, "labels_"):
            raise ParameterError("source", f"is a {type(source).__name__}, which finds no blocks; pass lifts instead.")
        matrix = source._features_again(recall(source)[0] if X is None else X)
        shown = source._selected_in_order()[:n_shown]
        _, _, every = _read(source, None, feature_names)
        lift = block_markers(matrix, source.labels_).lift[:, shown].T
        names = [every[index] for index in shown]
    else:
        every_lift = numbers("source", source, (None, None), "the lift of each feature in each block, (m, k)")
        lift = every_lift[:n_shown]
        names = feature_labels(names_of(feature_names, len(every_lift)), len(every_lift))[:n_shown]
    _draw_lift(ax, lift)
    _name_rows(ax, names)
    title(ax, "Times as common in the block as in all nodes")
    return ax


def _draw_lift(ax: Axes, lift: FloatArray) -> None:
    amount = np.log2(np.maximum(lift, 2.0**-_LARGEST))
    ax.imshow(amount, cmap=AROUND, vmin=-_LARGEST, vmax=_LARGEST, aspect="auto", interpolation="nearest")
    n_blocks = lift.shape[1]
    ax.set_xticks(range(0, n_blocks, -(-n_blocks // 20)))
    ax.set_xlabel("block")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if n_blocks <= _WRITTEN:
        for (row, column), value in np.ndenumerate(lift):
            if abs(amount[row, column]) >= 0.58:  # 1.5 times, or two thirds
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
    """The chance of each feature to be selected again, by rank; selected features are filled.

    Parameters
    ----------
    source : fitted selector, or array of shape (m,)
        Of a selector it is estimated here, which takes as long as :func:`blockselect.selection_stability` does. An
        array holds the stability itself.
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    ranking : array of shape (m,), optional
        Rank of each feature, 1 is the best; an array is taken in its own order otherwise.
    support : boolean array of shape (m,), optional
        Which are selected; all of an array otherwise.
    X, adjacency
        Of a selector: the network of the fit; may be left out while it is in memory.
    n_resamples : int, default=8
        Resampled graphs, where it is estimated.

    Returns
    -------
    matplotlib axes
    """
    ax = axes_or_new(ax)
    if isinstance(source, ScoreSelector):
        X, adjacency = recall(source) if X is None else (X, adjacency)
        values = selection_stability(source, X, adjacency=adjacency, n_resamples=n_resamples)
        ranking, support = source.ranking_, source.support_
    else:
        values = numbers("source", source, (None,), "one value for each feature, (m,)")
    order = np.arange(len(values)) if ranking is None else np.argsort(_one_each("ranking", ranking, len(values)))
    selected = np.ones(len(values), dtype=bool) if support is None else _one_each("support", support, len(values)) > 0
    shown = order[: max(2 * int(selected.sum()), SHOWN)]
    for part, face in ((~selected[shown], "white"), (selected[shown], BLUE)):
        places = np.flatnonzero(part)
        ax.plot(
            places + 1,
            values[shown[places]],
            "o",
            color=BLUE if face == BLUE else GREY,
            markerfacecolor=face,
            markersize=4,
        )
    mean = f": {values[selected].mean():.2f} on average" if selected.any() else ""
    title(ax, f"Chance to be selected again{mean}")
    ax.set(xlabel="rank of the feature", ylabel="stability", ylim=(-0.05, 1.05), xlim=(0.5, len(shown) + 0.5))
    bare(ax)
    return ax


def explained(
    source: ScoreSelector | Mapping[str, Any] | tuple[ArrayLike, ArrayLike],
    ax: Axes | None = None,
    *,
    n_selected: int | None = None,
) -> Axes:
    """What the first features explain of which block a node is in, beside random and all features where known.

    Parameters
    ----------
    source : fitted BlockModelSelector, mapping, or a pair of arrays
        A selector, `explained` of a summary, or numbers of features and shares.
    ax : matplotlib axes, optional
        Where to draw; a new figure otherwise.
    n_selected : int, optional
        The cut to mark.
    """
    ax = axes_or_new(ax)
    curve = _read_explained(source)
    places = np.log2(curve.sizes)
    ax.plot(places, curve.shares, "o-", color=BLUE, markersize=4)
    if curve.random is not None:
        ax.plot(places, curve.random, "--", color=GREY)
        ax.annotate("random", (places[-1], curve.random[-1]), (0, 4), textcoords="offset points", ha="right")
    if curve.of_all is not None:
        ax.axhline(curve.of_all, color=GREY, linestyle=":")
        name = f"all features: {per_cent(curve.of_all)}"
        ax.annotate(name, (places[0], curve.of_all), (0, 4), textcoords="offset points")
    powers = [size for size in curve.sizes if float(np.log2(size)).is_integer()]
    ax.set_xticks(np.log2(powers), [count(int(size)) for size in powers])
    ax.yaxis.set_major_formatter(lambda value, _: per_cent(value))
    ax.set(xlabel="features, the best first", ylim=(0, 1.15 * (curve.highest or 1.0)))
    title(ax, "Block structure explained (R²)")
    if n_selected:
        place = np.log2(n_selected)
        ax.axvline(place, color=INK, linestyle="--", linewidth=0.8)
        is_right = place > places[-1] / 2
        ax.annotate(
            f"selected: {count(n_selected)}",
            (place, 0.98),  # above all lines
            (-4 if is_right else 4, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right" if is_right else "left",
            va="top",
        )
    bare(ax)
    return ax


class _Explained(NamedTuple):
    """Shares that numbers of features explain, and what they may be compared with."""

    sizes: FloatArray
    shares: FloatArray
    random: FloatArray | None = None
    of_all: float | None = None

    @property
    def highest(self) -> float:
        compared = self.shares if self.random is None else np.concatenate([self.shares, self.random])
        return max(float(compared.max()), self.of_all or 0.0)


def _read_explained(source: Any) -> _Explained:
    if isinstance(source, ScoreSelector):
        shares = of_selector(source, "explained_", "explained shares")
        numbers("source", shares, (None,), "a selector that has selected features")
        return _Explained(np.arange(1.0, len(shares) + 1), shares)
    if isinstance(source, tuple):
        if len(source) != 2:
            raise ParameterError("source", f"has {len(source)} parts; expected numbers of features, and their shares.")
        sizes = numbers("source", source[0], (None,), "at least one number of features")
        shares = numbers("source", source[1], (len(sizes),), f"{len(sizes)} shares, one for each number of features")
        return _Explained(sizes, shares)
    keys = ("n_features", "share", "random")
    points = source.get("curve", []) if isinstance(source, Mapping) else []
    if not points or not all(isinstance(point, Mapping) and point.keys() >= {*keys} for point in points):
        raise ParameterError("source", 'has no curve of n_features, share and random; pass summary["explained"].')
    sizes, shares, random = (np.array([point[key] for point in points], dtype=np.float64) for key in keys)
    return _Explained(sizes, shares, random, source.get("all"))


def _one_each(parameter: str, values: Any, n_features: int) -> FloatArray:
    return numbers(parameter, values, (n_features,), f"one for each of the {n_features} features")


def _read(
    source: Any, support: NDArray[np.bool_] | None, feature_names: Sequence[Any] | None
) -> tuple[FloatArray, NDArray[np.bool_], list[str]]:
    """Scores, which are selected, and names."""
    if isinstance(source, ScoreSelector):
        values, selected = of_selector(source, "scores_", "scores"), source.support_
        feature_names = getattr(source, "feature_names_in_", None) if feature_names is None else feature_names
    else:
        values = numbers("source", source, (None,), "one score for each feature, (m,)")
        selected = np.ones(len(values), dtype=bool)
    selected = selected if support is None else _one_each("support", support, len(values)) > 0
    return values, selected, feature_labels(names_of(feature_names, len(values)), len(values))


def _name_rows(ax: Axes, names: list[str]) -> None:
    """Names along the side, the first on top."""
    ax.set_yticks(range(len(names)), [_drawable(cut(name)) for name in names])
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)


def _drawable(name: str) -> str:
    """A name without what no font draws; a dollar sign is no mathematics."""
    return visible(name).replace("$", r"\$")
