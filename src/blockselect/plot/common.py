"""Code shared by all plots: colours, axes, labels, and checks of the input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from sklearn.utils.validation import check_is_fitted

from blockselect.base import ScoreSelector
from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_names
from blockselect.utils.wording import count, cut, feature_labels, visible

# The style starts from matplotlib's own defaults, so that a user's settings do not change the figures of a report.
STYLE: list[Any] = ["default", {"font.size": 9, "axes.titlesize": 10, "axes.titlelocation": "left"}]
INK, GREY = "#222222", "#b5b5b5"
BLUE, AMBER = "#0b62b8", "#b26200"  # distinguishable by colour-blind readers and in grey
AMOUNTS = LinearSegmentedColormap.from_list("amounts", ["#ffffff", BLUE])
AROUND = LinearSegmentedColormap.from_list("around", ["#f5e7cd", "#ffffff", BLUE])  # white means "as expected"
MAX_NUMBERED = 12  # with more blocks than this, the cells of a matrix contain no numbers
LINE = 0.17  # inches per line of names
_SMALLEST = 4.5  # smallest font size of block names, in points


def axes_or_new(ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
    """Return the given axes, or those of a new pyplot figure (size in inches), which notebooks show automatically."""
    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        raise ParameterError("ax", f"is of type {type(ax).__name__}; expected matplotlib axes: plt.subplots()[1].")
    from matplotlib import pyplot as plt  # imported only when a figure is to be shown

    return plt.subplots(figsize=size, layout="constrained")[1]


def bare(ax: Axes, *, grid: str | None = "y") -> None:
    """Remove the frame and draw light grid lines along one axis."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(axis=grid, color="#e6e6e6", linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def label_blocks(ax: Axes, names: Sequence[str], *, sizes: Sequence[int] | None = None, rows: bool = False) -> None:
    """Name the blocks along the x axis and, if `rows`, the y axis; if names do not fit, number some of the blocks."""
    room = points(ax, is_square=rows) / max(len(names), 1)
    step, shown = 1, [legible(name) for name in names]
    if 0.8 * room < _SMALLEST:
        step, shown = -(-len(names) // MAX_NUMBERED), [str(block) for block in range(len(names))]
    ticks, font = range(0, len(names), step), min(0.8 * step * room, 8.0)
    ax.set_xticks(ticks, shown[::step], rotation=rotation(shown, step * room, font), fontsize=font)
    ax.set_xlabel("block")
    if rows:
        nodes = [""] * len(names) if sizes is None else [f"  ({count(size)})" for size in sizes]
        ax.set_yticks(ticks, [shown[block] + nodes[block] for block in ticks], fontsize=font)
        ax.set_ylabel("block" if sizes is None else "block (nodes)")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def rotation(names: Iterable[str], room: float, font: float) -> int:
    """Rotation of names along the x axis: 0 if each fits into `room` (points), 90 degrees otherwise."""
    return 90 if 0.65 * font * max(map(len, names), default=0) > room else 0


def points(ax: Axes, *, is_square: bool) -> float:
    """The width of the axes in points, or of the largest square in them."""
    return float(72 / ax.figure.dpi * (min(ax.bbox.size) if is_square else ax.bbox.width))


def of_selector(selector: ScoreSelector, attribute: str, what: str) -> Any:
    """Return a fitted attribute; `what` names it in the error for selectors that do not have it."""
    check_is_fitted(selector)
    if not hasattr(selector, attribute):
        raise ParameterError(
            "source", f"is a {type(selector).__name__}, which has no {what}; pass a selector that does."
        )
    return getattr(selector, attribute)


def with_blocks(selector: ScoreSelector) -> BlockGuidedSelector:
    """Return the selector; raise an error if it has no blocks."""
    of_selector(selector, "block_model_", "blocks")
    assert isinstance(selector, BlockGuidedSelector)
    return selector


def names_of(source: Any, feature_names: Any, n_features: int) -> list[str]:
    """The given names or, by default, those stored in the selector, or x0, x1, …"""
    names = getattr(source, "feature_names_in_", None) if feature_names is None else feature_names
    return feature_labels(check_names(names, n_features, "feature name", "column"), n_features)


def block_names_of(source: Any, block_names: Any, n_blocks: int) -> list[str]:
    """The given names or, by default, those in `blocks_` of the selector, or 0, 1, …"""
    if block_names is None:
        block_names = source._block_names() if isinstance(source, BlockGuidedSelector) else range(n_blocks)
    if len(block_names) != n_blocks:
        raise ParameterError("block_names", f"has {len(block_names)} entries for {n_blocks} blocks; pass one for each.")
    return [str(name) for name in block_names]


def legible(name: str) -> str:
    """A name as shown in a plot: shortened, and with dollar signs escaped, which would start mathtext."""
    return visible(cut(name)).replace("$", r"\$")
