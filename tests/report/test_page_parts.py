"""Parts of the page: steps of the heat map, cards of blocks, numbers beside the ordered graph."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from blockselect.report import page_parts


@pytest.mark.parametrize(
    ("lift", "step", "text"),
    [(0.0, "m3", "0"), (0.3, "m2", "0.3"), (0.6, "m1", "0.6"), (1.0, "z", ""), (2.0, "p1", "2.0"), (5.0, "p2", "5.0")],
)
def test_a_cell_is_a_step_around_as_expected_with_its_number(lift, step, text):
    cell = page_parts.heat_cell(lift)
    assert (cell["step"], cell["text"]) == (step, text)


def test_large_lifts_have_no_digits_behind_the_point():
    assert page_parts.heat_cell(41.4)["text"] == "41"


def test_features_are_ordered_by_the_block_they_mark(summary):
    blocks = [row["block"] for row in page_parts.heat_map(summary)["rows"]]
    assert blocks == sorted(blocks)
    assert len(blocks) == 7


def test_a_heat_map_has_all_features_up_to_a_megabyte_and_says_what_it_leaves_out(summary):
    few = page_parts.heat_map(summary)
    assert (len(few["rows"]), few["left_out"], few["titled"]) == (7, 0, True)
    some = page_parts.heat_map({**summary, "selected": summary["selected"] * 300})
    assert (len(some["rows"]), some["left_out"], some["titled"]) == (2100, 0, False)
    many = page_parts.heat_map({**summary, "selected": summary["selected"] * 2000})
    assert (len(many["rows"]), many["left_out"]) == (13_333, 667)


def test_cards_hold_sizes_markers_and_links(summary):
    cards = page_parts.cards(summary)
    assert [card["size"] for card in cards] == sorted(summary["blocks"]["sizes"], reverse=True)
    assert sum(len(card["markers"]) for card in cards) == sum(
        row["marked_block"] is not None for row in summary["selected"]
    )
    weights = summary["blocks"]["link_weights"]
    for card in cards:
        of_block = weights[card["block"]]
        assert card["within_share"] == pytest.approx(of_block[card["block"]] / sum(of_block))


def test_numbers_of_small_blocks_do_not_overlap(summary):
    crowded = {**summary, "blocks": {**summary["blocks"], "sizes": [10] * 40}}
    named = [place["middle"] for place in page_parts.boundaries(crowded) if place["named"]]
    assert min(later - earlier for earlier, later in pairwise(named)) >= 30
    assert len(named) == 14


def test_small_blocks_are_listed_together(summary):
    blocks = {**summary["blocks"], "sizes": [2000, 5, 9], "small": [1, 2]}
    crowded = {**summary, "blocks": blocks, "counts": {**summary["counts"], "nodes": 2014}}
    assert [card["block"] for card in page_parts.cards(crowded)] == [0]
    small = page_parts.other_blocks(crowded)
    assert ([block["size"] for block in small["blocks"]], small["size"], small["share"]) == ([9, 5], 14, "0.7 %")
    assert small["are_small"]
    assert page_parts.other_blocks(summary) is None


def test_of_fifty_blocks_the_largest_have_cards_and_the_others_are_listed(summary):
    sizes = list(range(31, 81))
    first = summary["blocks"]["described"][0]
    blocks = {"count": 50, "sizes": sizes, "described": [first] * 50}
    rows = [{**row, "block_lifts": [1.0] * 50} for row in summary["selected"]]
    crowded = {**summary, "selected": rows, "blocks": {**summary["blocks"], **blocks}}
    assert [card["block"] for card in page_parts.cards(crowded)] == list(range(49, 37, -1))
    others = page_parts.other_blocks(crowded)
    assert [block["block"] for block in others["blocks"]] == list(range(37, -1, -1))
    assert (others["size"], others["are_small"]) == (sum(sizes[:38]), False)
    assert others["blocks"][-1]["markers"][0]["name"] == first["markers"][0]["feature"]
    assert page_parts.heat_map(summary)["numbered"]
    assert not page_parts.heat_map(crowded)["numbered"]


def test_patterns_that_hardly_differ_are_said_to_do_so(summary):
    assert page_parts.densities(summary)["furthest"].startswith("The largest difference: the features tie block ")
    same = {**summary["blocks"], "feature_pattern": summary["blocks"]["link_pattern"]}
    assert page_parts.densities({**summary, "blocks": same})["furthest"] == "The two patterns hardly differ"


def test_measures_by_rank_have_the_names_of_the_features_and_the_selected_filled(summary):
    assert page_parts.by_rank(summary, "q_value") is None
    points = page_parts.by_rank(summary, "stability")["points"]
    assert [point["on"] for point in points] == [True] * 7 + [False] * 13
    first = summary["selected"][0]["name"]
    assert points[0]["title"].startswith(f"{first} (rank 1): stability ")


def test_blocks_are_drawn_with_areas_by_size_and_lines_by_density(summary):
    drawn = page_parts.block_drawing(summary)
    sizes = summary["blocks"]["sizes"]
    assert [circle["block"] for circle in drawn["circles"]] == [0, 1, 2]
    areas = [circle["radius"] ** 2 for circle in drawn["circles"]]
    assert areas == pytest.approx([max(areas) * size / max(sizes) for size in sizes])
    widest = max(drawn["lines"], key=lambda line: line["width"])
    density = np.triu(summary["blocks"]["density"], 1)
    i, j = np.unravel_index(density.argmax(), density.shape)
    assert widest["title"].startswith(f"blocks {i} and {j}: density of links ")
    assert all(f"{size} nodes" in circle["title"] for circle, size in zip(drawn["circles"], sizes, strict=True))
    best = [block["markers"][0]["feature"] if block["markers"] else "" for block in summary["blocks"]["described"]]
    assert [circle["name"] for circle in drawn["circles"]] == best


def test_a_long_name_below_a_block_keeps_its_end(summary):
    described = [
        {**block, "markers": [{**row, "feature": "tag:use::gameplaying"} for row in block["markers"]]}
        for block in summary["blocks"]["described"]
    ]
    drawn = page_parts.block_drawing({**summary, "blocks": {**summary["blocks"], "described": described}})
    assert {circle["name"] for circle in drawn["circles"]} <= {"…:gameplaying", ""}


@pytest.mark.parametrize("count", [1, 41])
def test_one_block_and_very_many_are_not_drawn(summary, count):
    assert page_parts.block_drawing({**summary, "blocks": {**summary["blocks"], "count": count}}) is None


def test_a_loss_that_rises_is_told_from_one_that_falls_and_the_default_has_none(summary):
    assert page_parts.loss_charts(summary) == []
    losses = {"reconstruction": [2.0, 1.0], "profile": [1.0, 3.0]}
    assert [loss["rises"] for loss in page_parts.loss_charts({**summary, "loss_history": losses})] == [False, True]
