"""Charts put numbers where they belong: higher is higher, the cut after the last selected, scales of their own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from blockselect.report.charts import (
    HEIGHT,
    WIDTH,
    explained_chart,
    loss_chart,
    matrix_chart,
    node_places,
    rank_chart,
    ticks,
)

SHARES = ((1, 0.01), (2, 0.03), (4, 0.06), (5, 0.065), (8, 0.12))
CURVE = [{"n_features": size, "share": share, "random": share / 4} for size, share in SHARES]
EXPLAINED = {"share": 0.06, "all": 0.2, "curve": CURVE}


def test_ticks_are_round_and_within():
    assert ticks(0, 1, 4) == [0, 0.25, 0.5, 0.75, 1]
    assert ticks(1, 256, 5) == [100, 200]
    assert ticks(3, 3, 4) == [3]


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
    assert chart["points"][0]["title"] == "1 feature: 1 %; as many random ones: 0.2 %"
    alone = explained_chart({**EXPLAINED, "all": None}, 4)
    assert [line["kind"] for line in alone["lines"]] == ["random"]


def test_the_cut_of_the_curve_is_at_the_selected_number():
    chart = explained_chart(EXPLAINED, 4)
    assert chart["cut"] == chart["points"][2]["x"]
    assert explained_chart(EXPLAINED, 0)["cut"] is None


def test_the_cut_by_rank_is_between_the_last_selected_and_the_next():
    chart = rank_chart([0.9, 0.8, 0.2], ["a", "b", "c"], [True, True, False], "stability")
    assert chart["points"][1]["x"] < chart["cut"] < chart["points"][2]["x"]
    assert [point["on"] for point in chart["points"]] == [True, True, False]
    assert chart["points"][2]["title"] == "c (rank 3): stability 0.2"
    assert rank_chart([0.9, 0.8], ["a", "b"], [True, True], "stability")["cut"] is None
    assert rank_chart([0.9, 0.8, 0.2], ["a", "b", "c"], [True, False, True], "stability")["cut"] is None


def test_losses_that_do_not_change_are_drawn():
    assert loss_chart([1.0, 1.0])["path"].startswith("M")


@pytest.mark.parametrize("k", [1, 12, 40])
def test_a_matrix_is_relative_to_its_largest_and_few_blocks_have_numbers(k):
    values = np.arange(k * k, dtype=float).reshape(k, k) - 1
    chart = matrix_chart(values, "density", diverging=True)
    assert len(chart["cells"]) == k * k
    assert max(float(cell["alpha"]) for cell in chart["cells"]) == (0.5 if k <= 12 else 1)
    assert chart["cells"][0]["less"]
    assert bool(chart["cells"][0]["text"]) is (k <= 12)
    assert len(chart["labels"]) <= 20


def test_nothing_has_no_sign():
    values = np.array([[0.02, -0.02], [50.0, -50.0]])
    cells = matrix_chart(values, "difference", diverging=True)["cells"]
    assert [cell["text"] for cell in cells] == ["0", "0", "50.0", "-50.0"]
    assert cells[3]["title"] == "blocks 1 and 1: difference -50"
    assert [cell["text"] for cell in matrix_chart(np.abs(values), "density")["cells"]] == ["0", "0", "100", "100"]


LABELS = np.array([1, 0, 1, 0, 1, 0, 1, 0])
TWO = sparse.csr_array((LABELS[:, None] == LABELS).astype(float) - np.eye(8))


def test_linked_nodes_are_drawn_closer_than_others_in_the_unit_square():
    places = node_places(TWO, LABELS)
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    linked = TWO.toarray() > 0
    assert distance[linked].max() < distance[~linked & ~np.eye(8, dtype=bool)].min()
    assert (places >= 0).all()
    assert (places <= 1).all()
