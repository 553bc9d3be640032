"""The tables read back as the numbers and names they were made from."""

from __future__ import annotations

import copy
import csv
import io

from blockselect.report import scores_table, selected_table


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_selected_table_reads_back_exactly(summary):
    rows = read(selected_table(summary))
    assert list(rows[0]) == ["rank", "feature", "score", "stability", "block_0", "block_1", "block_2"]
    assert len(rows) == len(summary["selected"])
    for row, selected in zip(rows, summary["selected"], strict=True):
        assert (int(row["rank"]), row["feature"]) == (selected["rank"], selected["name"])
        assert float(row["score"]) == selected["score"]
        assert float(row["stability"]) == selected["stability"]
        assert [float(row[f"block_{block}"]) for block in range(3)] == selected["block_means"]


def test_scores_table_has_every_feature_in_the_order_of_the_columns(summary):
    rows = read(scores_table(summary))
    assert list(rows[0]) == ["feature", "score", "rank", "selected", "stability"]
    assert [row["feature"] for row in rows] == summary["feature_names"]
    assert [float(row["score"]) for row in rows] == summary["scores"]
    assert [int(row["rank"]) for row in rows] == summary["ranking"]
    assert [float(row["stability"]) for row in rows] == summary["measures"]["stability"]
    chosen = {row["index"] for row in summary["selected"]}
    assert [column for column, row in enumerate(rows) if row["selected"] == "1"] == sorted(chosen)


def test_measures_that_were_not_computed_have_no_column(summary):
    without = {**summary, "measures": {}}
    assert scores_table(without).startswith("feature,score,rank,selected\n")
    assert selected_table(without).startswith("rank,feature,score,block_0,")


def test_names_with_commas_quotes_and_line_breaks_survive(summary):
    names = ['a,b "c"\nd', " ünïcode", *summary["feature_names"][2:]]
    changed = {**copy.deepcopy(summary), "feature_names": names}
    changed["selected"][0]["name"] = names[0]
    assert [row["feature"] for row in read(scores_table(changed))] == names
    assert read(selected_table(changed))[0]["feature"] == names[0]


def test_no_selected_feature_leaves_the_header(summary):
    assert selected_table({**summary, "selected": []}) == "rank,feature,score,stability,block_0,block_1,block_2\n"
