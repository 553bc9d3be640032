"""`blockselect compare` writes a table of methods, continues after failures, and refuses bad input at once."""

from __future__ import annotations

import csv
import json
import os

import pandas as pd
import pytest
from sklearn.cluster import KMeans

from blockselect import BlockModelSelector
from blockselect.evaluation import evaluate_selection
from blockselect.registry import SELECTORS
from terminal import interrupt_on_terminal

FILES = ["comparison.csv", "comparison.html", "comparison.md", "run.json"]
QUICK = ("--methods", "block-model,variance", "--top", "4,8", "--runs", "2")


def table(folder):
    with (folder / "comparison.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="session")
def classes(network, tmp_path_factory):
    """The planted blocks as class names, in reverse order of the nodes."""
    path = tmp_path_factory.mktemp("classes") / "classes.csv"
    names = pd.Series(["red", "green", "blue"])[network.graph.classes].tolist()
    rows = pd.DataFrame({"id": [f"n{node}" for node in range(60)], "class": names})
    rows.iloc[::-1].to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def options(network, classes):
    return [*network.options, "--classes", classes]


@pytest.fixture(scope="session")
def done(run, options, tmp_path_factory):
    """One run: the folder and the result."""
    folder = tmp_path_factory.mktemp("done") / "out"
    return folder, run("compare", *options, *QUICK, "--out", folder)


def test_exactly_the_four_files_are_written(done):
    folder, result = done
    assert (result.exit_code, result.stderr) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == FILES


def test_the_table_has_all_features_and_each_method_at_each_number(done):
    rows = table(done[0])
    expected = [("all-features", 30), ("block-model", 4), ("block-model", 8), ("variance", 4), ("variance", 8)]
    assert [(row["method"], int(row["n_features"])) for row in rows] == expected
    assert all(row["error"] == "" for row in rows)
    assert all(float(row["seconds"]) > 0 for row in rows[1:])


def test_figures_are_those_of_the_library(done, network):
    graph = network.graph
    selector = BlockModelSelector(8, n_blocks=3, random_state=0)
    selector.fit(graph.features.toarray(), adjacency=graph.adjacency)
    scores = evaluate_selection(graph.features, graph.classes, selector.support_, n_runs=2)
    row = table(done[0])[2]
    assert float(row["accuracy"]) == pytest.approx(scores.accuracy, rel=1e-12)
    assert float(row["nmi_sd"]) == pytest.approx(scores.nmi_sd, rel=1e-9, abs=1e-12)
    assert float(row["coverage"]) == pytest.approx(1 - scores.n_zero_rows / graph.n_nodes)


def test_the_table_is_shown_with_each_method_named_once(done):
    folder, result = done
    for title in ("method", "selected", "ACC ± sd", "NMI ± sd", "seconds"):
        assert title in result.stdout
    assert result.stdout.count("block-model") == result.stdout.count("all-features") == 1
    assert f"{float(table(folder)[1]['accuracy']):.3f} ± " in result.stdout
    assert f"wrote {folder / 'comparison.html'}; also in this folder: comparison.csv" in result.stdout


def test_the_page_shows_figures_overlap_and_the_command(done):
    page = (done[0] / "comparison.html").read_text(encoding="utf-8")
    assert "Best by ACC: " in page
    assert f"{float(table(done[0])[1]['accuracy']):.3f} ± " in page
    assert "Jaccard index" in page
    assert "No other method selected " in page
    command = "blockselect compare --features features.csv --graph edges.csv --classes classes.csv"
    assert f"{command} --methods block-model,variance --top 4,8 --runs 2 --out comparison" in page


def test_the_text_has_the_table_and_how_it_was_made(done):
    page = (done[0] / "comparison.md").read_text(encoding="utf-8")
    assert "60 nodes" in page
    assert "| block-model | 4 | 4 |" in page
    assert "3 clusters, 2 runs with 10 starts each" in page
    assert "Failed" not in page


def test_the_record_holds_what_it_takes_to_repeat_the_run_and_no_time(done, classes):
    record = json.loads((done[0] / "run.json").read_text(encoding="utf-8"))
    assert record["command"] == "compare"
    assert record["settings"] == {"protocol": "clustering", "top": [4, 8], "blocks": 3, "runs": 2}
    assert record["seed"] == 0
    assert record["counts"] == {"nodes": 60, "links": record["counts"]["links"], "features": 30, "classes": 3}
    assert record["methods"]["block-model"]["n_blocks"] == 3
    assert record["methods"]["variance"] == {"class": "VarianceScore", "n_features_to_select": 8}
    assert record["input"]["classes"]["file"] == classes.name
    assert record["errors"] == {}
    assert "seconds" not in json.dumps(record)


def test_the_same_seed_gives_the_same_record_and_scores(run, options, done, tmp_path):
    run("compare", *options, *QUICK, "--out", tmp_path / "again")
    assert (tmp_path / "again" / "run.json").read_bytes() == (done[0] / "run.json").read_bytes()
    for ours, theirs in zip(table(tmp_path / "again"), table(done[0]), strict=True):
        assert {**ours, "seconds": None} == {**theirs, "seconds": None}


@pytest.mark.parametrize(
    ("protocol", "column", "shown"),
    [("classification", "averaged_accuracy", "averaged ± sd"), ("links", "auc", "AUC ± sd")],
)
def test_other_protocols_have_the_same_tables(run, options, tmp_path, protocol, column, shown):
    result = run("compare", *options, *QUICK, "--protocol", protocol, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = table(tmp_path / "out")
    assert [row["method"] for row in rows] == ["all-features"] + ["block-model"] * 2 + ["variance"] * 2
    assert all(0 <= float(row[column]) <= 1 and row[f"{column}_sd"] for row in rows)
    assert shown in result.stdout
    page = (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")
    assert f"| {shown} |" in page
    assert "2 runs" in page
    assert json.loads((tmp_path / "out" / "run.json").read_text())["settings"]["protocol"] == protocol


def test_a_page_is_safe_whatever_files_and_features_are_called(run, network, tmp_path):
    features = tmp_path / "a<img src=x>\x1b.csv"
    features.write_text(network.features.read_text().replace("gene_", "\x1b[31m<b>gene_"))
    options = ("--features", features, "--graph", network.edges, "--methods", "block-model,variance")
    result = run("compare", *options, "--top", 2, "--blocks", 59, "--runs", 1, "--out", tmp_path / "out")
    assert result.exit_code == 0
    shown = [result.output, *((tmp_path / "out" / f"comparison.{kind}").read_text() for kind in ("md", "html"))]
    assert "# Comparison on a&lt;img src=x&gt;?.csv" in shown[1]
    assert not any("\x1b" in text for text in shown)


def test_links_need_no_classes(run, network, tmp_path):
    result = run("compare", *network.options, *QUICK, "--protocol", "links", "--out", tmp_path / "out")
    assert result.exit_code == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["settings"]["blocks"] is None
    assert "classes" not in record["counts"]
    page = (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")
    assert "30 features; each method's own number of blocks" in page


def test_json_prints_the_rows_and_needs_no_folder(run, options):
    result = run("compare", *options, *QUICK, "--json")
    summary = json.loads(result.stdout)
    assert result.exit_code == 0
    assert [row["method"] for row in summary["rows"][1:]] == ["block-model"] * 2 + ["variance"] * 2
    assert summary["settings"]["top"] == [4, 8]


def test_quiet_says_nothing(run, options, tmp_path):
    result = run("compare", *options, *QUICK, "--quiet", "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES


def test_all_is_every_method_of_the_registry_and_numbers_are_sorted(run, options, tmp_path):
    options = [*options, "--methods", "all", "--top", "8,4,8", "--runs", 1, "--blocks", 2]
    result = run("compare", *options, "--out", tmp_path / "out")
    assert result.exit_code == 0
    rows = table(tmp_path / "out")
    methods = dict.fromkeys(row["method"] for row in rows)
    assert list(methods) == ["all-features", *SELECTORS]
    assert {row["method"]: row["error"] for row in rows if row["error"]} == {}
    assert [row["n_features"] for row in rows[1:3]] == ["4", "8"]


@pytest.fixture
def constant(tmp_path, network):
    """Every feature is 1 at every node."""
    features = pd.read_csv(network.features)
    features.iloc[:, 1:] = 1
    features.to_csv(tmp_path / "constant.csv", index=False)
    return ["--features", tmp_path / "constant.csv", "--graph", network.edges]


def test_a_method_that_fails_is_a_row_and_a_line_and_the_others_go_on(run, network, classes, tmp_path):
    features = pd.read_csv(network.features)
    features.iloc[:, 1:] += 1  # no zeros are left, so all features are constant when converted to binary
    features.to_csv(tmp_path / "features.csv", index=False)
    files = ["--features", tmp_path / "features.csv", "--graph", network.edges, "--classes", classes]
    methods = ["--methods", "variance,mmpop", "--top", "4,8", "--runs", "2"]
    result = run("compare", *files, *methods, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr.startswith("failed: mmpop: binarize is True, which leaves every feature constant")
    assert result.stderr.count("\n") == 1
    assert "failed" in result.stdout
    rows = table(tmp_path / "out")
    assert [row["error"] == "" for row in rows] == [True, True, True, False, False]
    page = (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")
    assert "## Failed\n\n- mmpop: binarize is True" in page
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert list(record["errors"]) == ["mmpop"]


def test_only_if_all_methods_fail_the_command_does(run, constant, classes, tmp_path):
    methods = ["--methods", "variance,morans-i", "--top", "4", "--runs", "1"]
    result = run("compare", *constant, "--classes", classes, *methods, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert [row["error"] == "" for row in table(tmp_path / "out")] == [True, False, False]


def test_warnings_name_the_method(run, network, classes, tmp_path):
    features = pd.read_csv(network.features)
    features.iloc[:, 6:] = 1
    features.to_csv(tmp_path / "features.csv", index=False)
    files = ["--features", tmp_path / "features.csv", "--graph", network.edges, "--classes", classes]
    result = run("compare", *files, "--methods", "variance", "--top", 8, "--runs", 1, "--out", tmp_path / "out")
    assert result.stderr.startswith("warning: variance: only 5 of the 8 requested features")
    assert table(tmp_path / "out")[1]["n_selected"] == "5"


@pytest.fixture
def refuse(run, tmp_path, monkeypatch):
    """Run, check that no method ran and nothing was left behind, and return the error message."""

    def unexpected(*arguments, **options):
        raise AssertionError("work began before the input was checked")

    monkeypatch.setattr(KMeans, "fit", unexpected)

    def invoke(*arguments, out="results"):
        before = sorted(tmp_path.rglob("*"))
        result = run("compare", *arguments, "--out", tmp_path / out)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before
        return result.stderr

    return invoke


def test_an_unknown_method_is_refused_with_the_known_and_a_guess(refuse, options):
    message = refuse(*options, "--methods", "variance,morans-l")
    assert "no method is called 'morans-l'; choose one of: block-model, " in message
    assert "Did you mean morans-i?" in message
    assert "no method is called ''" in refuse(*options, "--methods", "variance,")


def test_an_unknown_protocol_is_refused_with_the_known(refuse, options):
    message = refuse(*options, "--protocol", "link")
    known = "clustering, classification, links, structure"
    assert f"no protocol is called 'link'; choose one of: {known}. Did you mean links?" in message


@pytest.mark.parametrize("top", ["half", "0.5", "", "4,,8", "4 8"])
def test_what_is_no_list_of_numbers_is_refused(refuse, options, top):
    assert f"--top is {top!r}; expected whole numbers separated by commas" in refuse(*options, "--top", top)


def test_more_than_the_network_has_is_refused(refuse, options):
    assert "--top is 0; expected a whole number, from 1 to 30" in refuse(*options, "--top", "4,0")
    assert "--top is 31; expected a whole number, from 1 to 30" in refuse(*options, "--top", "4,31")
    assert "--blocks is 61; expected a whole number, from 1 to 60" in refuse(*options, "--top", "4", "--blocks", 61)


@pytest.mark.parametrize(
    ("option", "value"), [("--runs", 0), ("--workers", 0), ("--seed", -1), ("--blocks", 0), ("--runs", "many")]
)
def test_values_out_of_range_are_refused(refuse, options, option, value):
    assert option in refuse(*options, option, value)


def test_classes_are_needed_and_come_from_one_place(refuse, network, classes):
    assert "--protocol clustering needs known classes" in refuse(*network.options, "--protocol", "clustering")
    assert "a --dataset has its own classes" in refuse("--dataset", "cora", "--classes", classes)
    assert "'--classes'" in refuse(*network.options, "--classes", "nowhere.csv")
    assert "either --dataset NAME or --features FILE" in refuse("--top", 4)
    assert "Did you mean cora?" in refuse("--dataset", "coar")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.iloc[1:], "1 id(s) have no label, several labels or no matching node, such as ['n0']"),
        (
            lambda rows: pd.concat([rows, rows.iloc[:2]]),
            "2 id(s) have no label, several labels or no matching node, such as ['n0', 'n1']",
        ),
        (
            lambda rows: pd.concat([rows, rows.iloc[:1].assign(id="zoe")]),
            "1 id(s) have no label, several labels or no matching node, such as ['zoe']",
        ),
        (lambda rows: rows.assign(**{"class": " "}), "60 id(s) have no label"),
        (lambda rows: rows.assign(**{"class": "red"}), "all nodes belong to class 'red'"),
        (lambda rows: rows.assign(more=1), "it has 3 columns; expected two"),
    ],
)
def test_classes_that_do_not_fit_the_nodes_are_refused(refuse, network, tmp_path, change, message):
    names = [f"c{block}" for block in network.graph.classes]
    rows = pd.DataFrame({"id": [f"n{node}" for node in range(60)], "class": names})
    change(rows).to_csv(tmp_path / "classes.csv", index=False)
    assert message in refuse(*network.options, "--classes", tmp_path / "classes.csv", "--top", 4)


def test_without_a_folder_the_table_is_printed_and_nothing_written(run, network, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("compare", *network.options, "--runs", 1)
    assert result.exit_code == 0
    assert "explained ± sd" in result.stdout
    assert "coverage: share of the nodes" in result.stdout
    for method in ("all-features", "block-model", "morans-i", "hotspot", "variance"):
        assert method in result.stdout
    assert "wrote" not in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_place_for_the_result_is_needed_and_must_be_a_folder(run, refuse, options, tmp_path):
    result = run("compare", *options, "--quiet")
    assert (result.exit_code, result.stderr.startswith("error: no output is requested")) == (2, True)
    (tmp_path / "taken").write_text("x")
    assert "is a file; name a folder" in refuse(*options, out="taken")


def test_files_appear_all_together_or_not_at_all(run, options, tmp_path, monkeypatch):
    written = []

    def full_disk(descriptor):
        if written:
            raise OSError(28, "No space left on device")
        written.append(descriptor)

    monkeypatch.setattr(os, "fsync", full_disk)
    result = run("compare", *options, *QUICK, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_nodes_of_a_matrix_are_named_by_their_row(run, network, tmp_path):
    import numpy as np

    np.save(tmp_path / "features.npy", network.graph.features.toarray())
    rows = pd.DataFrame({"id": range(60), "class": network.graph.classes})
    rows.to_csv(tmp_path / "classes.csv", index=False)
    files = ["--features", tmp_path / "features.npy", "--classes", tmp_path / "classes.csv"]
    result = run("compare", *files, *QUICK, "--json")
    assert json.loads(result.stdout)["counts"]["classes"] == 3
    assert result.stderr.startswith("warning: no --graph is given, so each node is linked to its nearest neighbours")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals to open here")
def test_progress_is_drawn_on_a_terminal_and_ctrl_c_stops_all(options, tmp_path):
    endless = ["compare", *options, "--methods", "variance", "--top", "4", "--runs", "1000000"]
    code, stdout, shown = interrupt_on_terminal([*endless, "--out", tmp_path / "out"], once_shown=b"all-features")
    assert (code, stdout) == (130, b"")
    assert b"Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


def test_without_classes_methods_are_compared_by_the_links_they_explain(run, network, tmp_path):
    options = ("--methods", "variance,morans-i", "--top", 4, "--runs", 2, "--out", tmp_path / "out")
    result = run("compare", *network.options, *options)
    assert result.exit_code == 0, result.stderr
    assert "explained ± sd" in result.stdout
    assert "coverage: share of the nodes" in result.stdout
    rows = table(tmp_path / "out")
    assert all(float(row["explained_links"]) >= 0 for row in rows)
    assert rows[1]["agreement"] == rows[2]["agreement"] != ""
    page = (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")
    assert "No classes are used" in page
    assert "| coverage |" in page
    assert "Coverage is the share of the nodes" in page
