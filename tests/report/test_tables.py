"""The CSV files contain exactly the numbers and names of the summary."""

from __future__ import annotations

import copy
import csv
import io

import numpy as np
import pandas as pd

from blockselect import check_attributed_graph
from blockselect.blockmodels.description import interval
from blockselect.report import blocks_table, nodes_table, scores_table, selected_table

MEASURES = ["beyond_chance", "explained_more", "explained_alone", "stability"]


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_selected_table_reads_back_exactly(summary):
    rows = read(selected_table(summary))
    after = ["prevalence", "marked_block", "block_name", "lift", "n_marked_blocks", "block_0", "block_1", "block_2"]
    assert list(rows[0]) == ["rank", "feature", "score", *MEASURES, *after]
    assert len(rows) == len(summary["selected"])
    for row, selected in zip(rows, summary["selected"], strict=True):
        assert (int(row["rank"]), row["feature"]) == (selected["rank"], selected["name"])
        assert float(row["score"]) == selected["score"]
        for measure in MEASURES:
            assert float(row[measure]) == selected[measure]
        assert float(row["prevalence"]) == selected["prevalence"]
        assert row["marked_block"] == ("" if selected["marked_block"] is None else str(selected["marked_block"]))
        assert row["block_name"] == (selected["block_name"] or "")
        assert (float(row["lift"]), int(row["n_marked_blocks"])) == (selected["lift"], selected["n_marked_blocks"])
        assert [float(row[f"block_{block}"]) for block in range(3)] == selected["block_means"]


def test_the_interval_of_a_marker_does_not_begin_at_one():
    assert interval({"lift_low": 1.02, "lift_high": 2.34}) == "(1.02 to 2.3)"
    assert interval({"lift_low": 6.51, "lift_high": 12.3}) == "(6.5 to 12)"


def test_scores_table_has_every_feature_by_rank(summary):
    rows, order = read(scores_table(summary)), np.argsort(summary["ranking"])
    assert list(rows[0]) == ["rank", "feature", "score", "selected", *MEASURES]
    assert [int(row["rank"]) for row in rows] == list(range(1, 31))
    assert [row["feature"] for row in rows] == [summary["feature_names"][column] for column in order]
    assert [float(row["score"]) for row in rows] == [summary["scores"][column] for column in order]
    for measure in MEASURES:
        assert [float(row[measure]) for row in rows] == [summary["measures"][measure][column] for column in order]
    assert [row["selected"] for row in rows] == ["1"] * 7 + ["0"] * 23


def test_measures_that_were_not_computed_have_no_column(summary):
    without = {**summary, "measures": {}}
    assert scores_table(without).startswith("rank,feature,score,selected\n")
    assert selected_table(without).startswith("rank,feature,score,prevalence,marked_block,block_name,lift,n_")


def test_names_with_commas_quotes_and_line_breaks_survive(summary):
    names = ['a,b "c"\nd', " ünïcode", *summary["feature_names"][2:]]
    changed = {**copy.deepcopy(summary), "feature_names": names}
    changed["selected"][0]["name"] = names[0]
    assert sorted(row["feature"] for row in read(scores_table(changed))) == sorted(names)
    assert read(selected_table(changed))[0]["feature"] == names[0]


def test_no_selected_feature_leaves_the_header(summary):
    lines = selected_table({**summary, "selected": []}).splitlines()
    assert lines == [
        "rank,feature,score,beyond_chance,explained_more,explained_alone,stability,prevalence,marked_block,block_name,"
        "lift,n_marked_blocks,block_0,block_1,block_2"
    ]


def test_blocks_table_has_the_table_of_the_selector_and_densities(selector, summary):
    rows, table = read(blocks_table(selector.blocks_, summary)), selector.blocks_
    blocks = summary["blocks"]
    assert list(rows[0]) == ["block", *table.columns, "small", "density_to_0", "density_to_1", "density_to_2"]
    for block, row in enumerate(rows):
        assert int(row["size"]) == blocks["sizes"][block]
        assert [float(row[f"density_to_{other}"]) for other in range(3)] == blocks["density"][block]
        for column in ("name", "markers", "other_markers", "linked_to", "typical_nodes", "branch"):
            assert row[column] == table[column][block]
        assert (float(row["stability"]), float(row["share_within"])) == (
            table["stability"][block],
            table["share_within"][block],
        )


def test_nodes_table_says_which_node_is_in_which_block():
    features = np.array([[1, 0, 2], [0, 0, 0], [3, 1, 1]])
    links = pd.DataFrame({"source": ["a", "c"], "target": ["b", "c"], "weight": [5, 1]})
    graph = check_attributed_graph(features, links, node_ids=["a", "b", "c"])
    chosen, labels, names = np.array([0, 1]), np.array([1, 1, 0]), np.array(["perl", "=ruby"], dtype=object)
    rows = read(nodes_table(graph, chosen, labels, names))
    assert rows[0] == {"id": "a", "block": "1", "block_name": "'=ruby", "degree": "1", "selected_features": "1"}
    assert list(read(nodes_table(graph, chosen))[0]) == ["id", "degree", "selected_features"]
    assert [row["selected_features"] for row in rows] == ["1", "0", "2"]
    assert [row["degree"] for row in rows] == ["1", "1", "1"]


def test_a_name_that_looks_like_a_formula_is_written_as_text(summary):
    dangerous = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", " =1+1", "\t=1", "＝1"]
    harmless = ["gene", "-1.5", "+2", "a=b", "", "'=quoted"]
    names = [*dangerous, *harmless]
    for name in names:
        changed = copy.deepcopy(summary)
        changed["selected"][0]["name"] = name
        (written,) = [row["feature"] for row in read(selected_table(changed)) if row["rank"] == "1"]
        assert written == (f"'{name}" if name in dangerous else name)
