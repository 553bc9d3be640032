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
    assert [card["size"] for card in cards] == summary["blocks"]["sizes"]
    assert sum(len(card["markers"]) for card in cards) == sum(
        row["marked_block"] is not None for row in summary["selected"]
    )
    weights = summary["blocks"]["link_weights"]
    assert cards[0]["within_share"] == pytest.approx(weights[0][0] / sum(weights[0]))


def test_numbers_of_small_blocks_do_not_overlap(summary):
    crowded = {**summary, "blocks": {**summary["blocks"], "sizes": [10] * 40}}
    named = [place["middle"] for place in page_parts.boundaries(crowded) if place["named"]]
    assert min(later - earlier for earlier, later in pairwise(named)) >= 22
    assert len(named) == 20


def test_small_blocks_share_a_card(summary):
    blocks = {**summary["blocks"], "sizes": [2000, 5, 9], "small": [1, 2]}
    crowded = {**summary, "blocks": blocks, "counts": {**summary["counts"], "nodes": 2014}}
    assert [card["block"] for card in page_parts.cards(crowded)] == [0]
    small = page_parts.small_card(crowded)
    assert ([block["size"] for block in small["blocks"]], small["size"], small["share"]) == ([5, 9], 14, "0.7 %")
    assert page_parts.small_card(summary) is None


def test_scores_of_a_set_are_dots_with_the_selected_filled(summary):
    by_score = np.argsort(-np.array(summary["scores"]), kind="stable")
    first = [{**row, "index": int(index)} for row, index in zip(summary["selected"], by_score, strict=False)]
    cut = page_parts.score_curve({**summary, "selected": first})
    assert (cut["points"], cut["cut"] is not None) == ([], True)
    spread = page_parts.score_curve({**summary, "selected": [*first[:-1], {**first[-1], "index": int(by_score[9])}]})
    assert [at for at, point in enumerate(spread["points"]) if point["on"]] == [0, 1, 2, 3, 4, 5, 9]
    assert spread["cut"] is None
    heights = [point["y"] for point in spread["points"]]
    assert heights == sorted(heights)


def test_columns_of_the_portfolio_are_named_in_words():
    names = [page_parts.column_title(name) for name in ("guide", "explained_8", "standard_error")]
    assert names == ["guide", "explained, 8 clusters", "standard error"]


def test_profiles_that_hardly_differ_are_said_to_do_so(summary):
    assert page_parts.densities(summary)["furthest"].startswith("the features tie block ")
    same = {**summary["blocks"], "induced_profile": summary["blocks"]["target_profile"]}
    assert page_parts.densities({**summary, "blocks": same})["furthest"] == "they hardly differ"


def test_a_single_score_or_none_above_zero_makes_no_curve(summary):
    assert page_parts.score_curve(summary) is not None
    assert page_parts.score_curve({**summary, "scores": [0.0] * len(summary["scores"])}) is None
    assert page_parts.score_curve({**summary, "scores": [1.0], "selected": summary["selected"][:1]}) is None
