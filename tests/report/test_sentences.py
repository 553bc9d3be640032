"""Sentences state the numbers of the result, in words for newcomers."""

from __future__ import annotations

import re

import pytest

from blockselect.report import sentences

DETAILS = {
    "title": "cora",
    "asked": 7,
    "method": "BlockModelSelector",
    "versions": {"blockselect": "1.0"},
    "seeded": True,
}


def test_the_headline_counts(summary):
    assert sentences.headline(summary, DETAILS) == "7 of 30 features explain the structure of cora"
    none = {**summary, "counts": {**summary["counts"], "selected_features": 0}}
    assert sentences.headline(none, DETAILS) == "None of 30 features explains the structure of cora"


def test_three_sentences_say_what_was_asked_found_and_to_be_kept_in_mind(summary):
    asked, found, mind = sentences.lead(summary, DETAILS)
    assert asked.startswith("You asked which 7 features best explain who links to whom, among 80 nodes with ")
    assert found.startswith("There are 3 blocks, groups of nodes that link alike (as asked for); groups made from the ")
    assert "chance of" in mind


def test_share_within_blocks_is_that_of_the_links(summary, selector, graph):
    labels, links = selector.labels_, graph.adjacency.tocoo()
    inside = labels[links.row] == labels[links.col]
    assert sentences.share_within(summary) == pytest.approx(links.data[inside].sum() / links.data.sum())


def test_what_the_cut_explains_and_how_few_come_close(summary):
    curve = [{"n_features": size, "share": share} for size, share in ((1, 0.2), (4, 0.69), (7, 0.7), (28, 0.9))]
    text = sentences.how_sure({**summary, "explained": curve})
    assert text == (
        "The 7 selected explain 70 % of what the blocks explain; the first 4 come within 5 % of that; 28 would explain "
        "90 %."
    )


def test_a_cut_budget_and_a_missing_seed_are_stated(summary):
    effort = {"was_cut": True, "candidates": {"made": 4, "asked": 12}}
    text = sentences.how_made({**summary, "effort": effort}, {**DETAILS, "seeded": False})
    assert "(4 of 12 that were asked for, to keep to the budget)" in text
    assert "No seed was set" in text


def test_redundancy_is_stated():
    assert sentences.redundancy_found({"redundancy": None}) == "Fewer than two features are selected."
    found = {"n_alike": 0, "n_compared": 5, "pairs": [{"correlation": 0.312}]}
    assert "the highest correlation is 0.312" in sentences.redundancy_found({"redundancy": found})
    assert "2 of 5" in sentences.redundancy_found({"redundancy": {**found, "n_alike": 2}})


def test_the_strongest_are_those_with_the_highest_scores_in_whatever_order_they_entered(summary):
    named = zip(summary["selected"], "abcd", (1, 9, 5, 7), strict=False)
    rows = [{**row, "name": name, "score": score} for row, name, score in named]
    text = sentences.which_features({**summary, "selected": rows})
    assert re.sub("[\u2068\u2069]", "", text).startswith("The strongest are b, d and c;")


def test_what_the_selected_leave_out_is_stated(summary):
    whole = {**summary, "counts": {**summary["counts"], "nodes_without_selected_features": 0}}
    assert sentences.lead(whole, DETAILS)[2].endswith("; every node has at least one of the selected features.")
    one = {**summary, "counts": {**summary["counts"], "nodes_without_selected_features": 1}}
    assert sentences.lead(one, DETAILS)[2].endswith(
        "; 1 node has none of the selected features (1.2 %), so these say nothing about it."
    )


def test_no_agreement_is_claimed_where_it_cannot_be_measured(summary):
    k = summary["blocks"]["count"]
    even = {**summary, "blocks": {**summary["blocks"], "induced_profile": [[1 / k] * k] * k}}
    assert sentences.agreement(even) is None
    assert sentences.does_it_fit(even).endswith(" of the links stay within a block.")
    assert "The features repeat how blocks connect" in sentences.does_it_fit(summary)
