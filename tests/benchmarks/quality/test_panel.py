"""The panel: what a method is worth on planted networks, one row per fit, stored; tables against the best rival."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.quality import panel, panel_trials
from benchmarks.quality.panel_networks import KINDS, Cell
from benchmarks.quality.panel_tables import OURS, make_tables, render
from benchmarks.quality.panel_trials import cells, is_tried, measure


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_takes_every_kind(kind):
    (row,) = measure(Cell(kind, 0.5, 4, 300), OURS, seed=0, limit=60)
    assert row["precision"] > 0.3  # chance: 0.2


def test_a_method_that_cannot_take_the_features_is_a_row_with_its_error():
    (row,) = measure(Cell("signed", 1.0, 4, 200), "mmpop", seed=0, limit=60)  # which values are zero: none
    assert "constant" in row["error"]


def test_a_fit_that_takes_too_long_is_a_row_with_its_error():
    (row,) = measure(Cell("binary", 0.1, 4, 2000), "mmpop", seed=0, limit=0.01)
    assert row["error"] == "took more than 0.01 seconds."


def test_tables_are_written_and_the_same_command_fits_nothing_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(panel, "cells", lambda full: [Cell("counts", 0.1, 4, 100)])
    arguments = ["--methods", OURS, "variance", "hotspot", "--seeds", "2"]
    arguments += ["--out", str(tmp_path), "--docs", str(tmp_path)]
    panel.main(arguments)
    shown = capsys.readouterr().out
    table = pd.read_csv(tmp_path / "quality" / "panel.csv")
    assert table["method"].tolist() == [OURS, "variance", "hotspot"]
    assert table["networks"].tolist() == [2, 2, 2]
    monkeypatch.setattr(panel_trials, "plant_cell", None)
    panel.main(arguments)
    assert capsys.readouterr().out == shown
    panel.main([*arguments, "--methods", OURS, "variance", "hotspot", "morans-i", "--stored"])
    assert capsys.readouterr().out == shown  # no fit of Moran's I
    with pytest.raises(SystemExit, match="no method is called 'moran'"):
        panel.main([*arguments, "--again", "moran"])


def test_the_full_panel_holds_what_the_small_one_has():
    small, full = list(cells(full=False)), list(cells(full=True))
    assert set(small) < set(full)
    assert max(cell.n_nodes for cell in full) == 20_000
    assert {cell.n_blocks for cell in full} == {4, 12, 20, 40}
    assert len({cell.regime for cell in full}) == 4


def test_slow_methods_are_tried_in_fewer_cells_the_largest_sparse_ones_among_them():
    every = list(cells(full=True))
    tried = [cell for cell in every if is_tried("ndfs", cell)]
    assert all(is_tried("mmpop", cell) for cell in every)
    assert Cell("binary", 0.1, 20, 10_000) in tried
    assert {cell.kind for cell in tried} == set(KINDS)
    assert all(cell.n_nodes <= 10_000 for cell in tried)


def test_each_score_has_a_best_rival_of_its_own():
    place = {"kind": "binary", "regime": "sparse", "density": 0.1, "n_blocks": 4, "n_nodes": 9, "seed": 0}

    def row(method, precision, coverage, error=None):
        figures = {"precision": precision, "coverage": coverage, "seconds": 1.0}
        return {**place, "method": method, "error": error, **(figures if error is None else {})}

    tables = make_tables([row(OURS, 0.9, 0.5), row("a", 0.8, 0.1), row("b", 0.2, 0.7), row("c", 0, 0, "too late.")])
    line = tables["panel_against_best_rival"].iloc[0]
    assert line[["precision_rival", "coverage_rival", "rivals"]].tolist() == ["a", "b", 2]
    shown = render(tables)
    assert "Precision: above the best rival of the cell in 1 of 1 cells" in shown
    assert "Coverage: above the best rival of the cell in 0 of 1 cells" in shown
    assert "| binary, 10%, sparse | 4 | 9 | **0.90** | 0.80 a | 0.50 | 0.70 b |" in shown
    assert "c: too late. (1 cells)" in shown
