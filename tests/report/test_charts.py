"""Charts put numbers in the right place: higher values are higher, and the cut follows the last selected feature."""

from __future__ import annotations

from itertools import pairwise

import pytest

from blockselect.report.charts import (
    HEIGHT,
    WIDTH,
    boundaries,
    explained_chart,
    icicle,
    loss_chart,
    rank_chart,
    ticks,
)

SHARES = ((1, 0.01), (2, 0.03), (4, 0.06), (5, 0.065), (8, 0.12))
CURVE = [{"n_features": size, "share": share, "random": share / 4} for size, share in SHARES]
EXPLAINED = {"share": 0.06, "all": 0.2, "curve": CURVE}


def test_ticks_are_round_and_within():
    assert ticks(0, 1, 4) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(1, 256, 5) == [100, 200]
    assert ticks(1, 1, 5, whole=True) == [1]
    assert ticks(0, 3, 5, whole=True) == [0, 1, 2, 3]


def test_each_doubling_takes_the_same_room_and_all_points_are_inside():
    points = explained_chart(EXPLAINED, 4)["points"]
    first, second, third, _, last = (point["x"] for point in points)
    assert second - first == pytest.approx(third - second, abs=0.2)
    assert all(0 < point["x"] < WIDTH and 0 < point["y"] < HEIGHT for point in points)
    assert [point["y"] for point in points] == sorted((point["y"] for point in points), reverse=True)
    assert last > third


@pytest.mark.parametrize("last", [8, 64, 800, 2048])
def test_numbers_of_features_stand_below_the_curve_without_overlap(last):
    sizes = sorted({2**power for power in range(12) if 2**power <= last} | {last})
    curve = [{"n_features": size, "share": 0.5, "random": 0.1} for size in sizes]
    ticks = explained_chart({"all": None, "curve": curve}, 1)["x_ticks"]
    assert ticks[-1]["text"] == f"{last:,}"
    assert len(ticks) >= 4
    assert min(b["at"] - a["at"] for a, b in pairwise(ticks)) >= 40


def heights(path):
    return [float(place.split()[1]) for place in path.removeprefix("M").split("L")]


def test_the_axis_fits_the_shares_and_lines_of_random_and_all_features_have_their_names():
    chart = explained_chart(EXPLAINED, 4)
    random, of_all = chart["lines"]
    assert [line["kind"] for line in chart["lines"]] == ["random", "all"]
    assert min(heights(of_all["path"])) < 0.25 * HEIGHT  # the highest share is near the top
    assert max(heights(of_all["path"])) < min(heights(chart["path"]))
    assert all(low > high for low, high in zip(heights(random["path"]), heights(chart["path"]), strict=True))
    assert [name["text"] for name in chart["names"]] == ["random", "all features: 20 %"]
    assert chart["points"][0]["title"] == "1 feature: 1 %; random features: 0.2 %"
    alone = explained_chart({**EXPLAINED, "all": None}, 4)
    assert [line["kind"] for line in alone["lines"]] == ["random"]


def test_the_cut_of_the_curve_is_at_the_selected_number():
    chart = explained_chart(EXPLAINED, 4)
    assert chart["cut"] == chart["points"][2]["x"]
    assert explained_chart(EXPLAINED, 0)["cut"] is None


def by_rank(values, n_selected, measure="stability", selected=None):
    """The chart of features a, b, …, which are ranked in this order."""
    return rank_chart(
        {
            "measures": {measure: values},
            "ranking": list(range(1, len(values) + 1)),
            "feature_names": list("abcdef"),
            "selected": [{"index": index} for index in selected or range(n_selected)],
        },
        measure,
    )


def test_the_cut_by_rank_is_between_the_last_selected_and_the_next():
    chart = by_rank([0.9, 0.8, 0.2], 2)
    assert chart["points"][1]["x"] < chart["cut"] < chart["points"][2]["x"]
    assert [point["off"] for point in chart["points"]] == [False, False, True]
    assert chart["points"][2]["title"] == "c (rank 3): stability 0.2"
    assert by_rank([0.9, 0.8], 2)["cut"] is None
    assert by_rank([0.9, 0.8, 0.2], 2, selected=[0, 2])["cut"] is None


def test_measures_by_rank_have_the_names_of_the_features_and_the_selected_filled(summary):
    assert rank_chart(summary, "q_value") is None
    points = rank_chart(summary, "stability")["points"]
    assert [point["off"] for point in points] == [False] * 7 + [True] * 13
    first = summary["selected"][0]["name"]
    assert points[0]["title"].startswith(f"{first} (rank 1): stability ")


def test_a_measure_without_bound_has_an_axis_that_fits_it():
    chart = by_rank([30.0, -10.0], 1, "degree")
    assert [tick["text"] for tick in chart["y_ticks"]] == ["0", "20"]
    assert 0 < chart["points"][0]["y"] < 0.25 * HEIGHT < 0.75 * HEIGHT < chart["points"][1]["y"] < HEIGHT


def test_losses_that_do_not_change_are_drawn():
    assert loss_chart([1.0, 1.0])["path"].startswith("M")


def test_numbers_of_small_blocks_do_not_overlap():
    named = [place["middle"] for place in boundaries([10] * 40) if place["named"]]
    assert min(later - earlier for earlier, later in pairwise(named)) >= 19
    assert len(named) == 20


TREE = [
    [{"name": "a", "blocks": [0, 2]}, {"name": "one", "blocks": [1]}],
    [{"name": "zero", "blocks": [0]}, {"name": "one", "blocks": [1]}, {"name": "two", "blocks": [2]}],
]


def test_the_tree_is_a_table_whose_cells_span_the_blocks_of_a_group_and_the_levels_at_which_it_stays():
    spans = [[(cell["name"], cell["rows"], cell["columns"]) for cell in row] for row in icicle(TREE, [0, 2, 1])]
    assert spans == [[("a", 2, 1), ("zero", 1, 1)], [("two", 1, 1)], [("one", 1, 2)]]
