"""Plots of losses, candidates and comparisons show the numbers that they are given."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from matplotlib import figure
from numpy.testing import assert_allclose

from blockselect import plot
from blockselect.evaluation.comparison_result import ComparisonRow, Figure
from blockselect.plot.common import BLUE
from blockselect.utils.errors import ParameterError
from made_fits import fit_paper


def test_losses_share_an_axis_relative_to_their_start(network, ax):
    selector = fit_paper(network)
    plot.losses(selector, ax)
    for line, kind in zip(ax.lines, ("reconstruction", "profile"), strict=True):
        values = getattr(selector.history_, kind)
        assert_allclose(line.get_ydata(), values / values[0])
    same = plot.losses({"reconstruction": [2.0, 1.0], "profile": [4.0, 1.0]}, figure.Figure().subplots())
    assert [line.get_ydata()[-1] for line in same.lines] == [0.5, 0.25]


def test_those_kept_are_filled_on_the_line_of_their_family(selector, ax):
    plot.candidates(selector, ax)
    families = [tick.get_text() for tick in ax.get_yticklabels()]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    drawn = {
        (families[int(dot.get_ydata()[0])], dot.get_xdata()[0], dot.get_markerfacecolor() != "white") for dot in dots
    }
    rows = selector.candidates_table_.itertuples()
    assert drawn == {(row.family, row.gain, row.in_consensus) for row in rows}
    leads = {tuple(line.get_xdata()) for line in ax.lines if line.get_marker() != "o"}
    assert leads == {(row.gain_at_start, row.gain) for row in selector.candidates_table_.itertuples()}


def test_one_number_of_features_gives_bars_the_best_on_top(ax):
    plot.compare({"ours": 0.6, "theirs": 0.4}, ax)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["theirs", "ours"]
    assert [bar.get_width() for bar in ax.patches] == [0.4, 0.6]


def test_several_numbers_give_lines_with_their_names_and_failed_methods_are_left_out(ax):
    rows = [
        ComparisonRow("a", 8, figures={"nmi": Figure(0.2, 0)}),
        ComparisonRow("a", 16, figures={"nmi": Figure(0.3, 0)}),
        ComparisonRow("b", 8, figures={"nmi": Figure(0.3, 0)}),
        ComparisonRow("b", 16, figures={"nmi": Figure(0.5, 0)}),
        ComparisonRow("c", 8, error="failed"),
    ]
    plot.compare(rows, ax)
    assert [text.get_text() for text in ax.texts] == ["a", "b"]
    assert [line.get_color() == BLUE for line in ax.lines] == [False, True]


def test_names_of_lines_that_end_close_together_do_not_cover_each_other(ax):
    ends = {"a": 0.5, "b": 0.5001, "c": 0.4999, "far": 0.1}
    rows = [{"method": name, "n_features": d, "nmi": end * d / 16} for name, end in ends.items() for d in (8, 16)]
    plot.compare(rows, ax)
    ax.figure.canvas.draw()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 0.5 for below, above in pairwise(boxes))
    assert [text.xyann[1] for text in ax.texts if text.get_text() in ("c", "far")] == [0, 0]  # need no room


@pytest.mark.parametrize("source", [{"a": [1]}, {"reconstruction": []}, [1.0]])
def test_losses_that_are_missing_are_named(source, ax):
    with pytest.raises(ParameterError, match="expected losses by iteration under reconstruction"):
        plot.losses(source, ax)


def test_candidates_without_their_columns_are_refused(ax):
    with pytest.raises(ParameterError, match=r"has no column family, .*; pass candidates_table_"):
        plot.candidates([], ax)


def test_a_table_without_the_measure_is_refused(ax):
    with pytest.raises(ValueError, match="has no column accuracy"):
        plot.compare(pd.DataFrame({"method": ["a"], "n_features": [1]}), ax, measure="accuracy")
