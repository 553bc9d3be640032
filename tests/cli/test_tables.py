"""Tables on the command line: any id column, dropped columns, text, and labels and blocks from files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from blockselect import BlockModelSelector
from blockselect.cli.inputs import label_like_columns
from blockselect.inputs import check_attributed_graph

QUICK = ("--top", "4", "--resamples", "0", "--set", "n_candidates=3")


@pytest.fixture
def table(network, tmp_path):
    """Features with two columns of text, a class label, and the ids in the last column."""
    features = pd.read_csv(network.features)
    ids = features.pop("id")
    made = features.assign(
        kind=np.where(network.graph.classes, "cell", "leaf"), note="x", **{"class": network.graph.classes + 1}
    )
    made.assign(id=ids).to_csv(tmp_path / "table.csv", index=False)
    return ["--features", tmp_path / "table.csv", "--graph", network.edges]


@pytest.fixture
def labels(network, tmp_path):
    """The planted blocks as names, in reverse order of the nodes."""
    names = [f"team {block}" for block in network.graph.classes]
    rows = pd.DataFrame({"node": [f"n{node}" for node in range(60)], "team": names})
    rows.iloc[::-1].to_csv(tmp_path / "labels.csv", index=False)
    return tmp_path / "labels.csv"


def selected(folder):
    return pd.read_csv(folder / "selected.csv")["feature"].tolist()


def test_a_table_can_be_used_as_it_is(run, table, network, tmp_path):
    columns = ("--id-column", "id", "--drop", "class", "--drop", "note", "--one-hot")
    result = run("select", *table, *columns, *QUICK, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert record["counts"]["features"] == 32  # 30 and two kinds
    assert record["input"]["drop"] == ["class", "note"]
    assert (record["input"]["id_column"], record["input"]["one_hot"]) == ("id", True)
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")["feature"].tolist()
    assert {"kind=cell", "kind=leaf"} <= set(scores)
    assert not {"class", "note=x"} & set(scores)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "--id-column id --drop class --drop note --one-hot" in page  # the command that repeats the run


def test_the_same_options_serve_a_comparison(run, table):
    columns = ("--id-column", "id", "--drop", "class", "--drop", "kind", "--drop", "note")
    result = run("compare", *table, *columns, "--methods", "variance", "--top", 4, "--runs", 1, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["counts"]["features"] == 30


def test_a_class_label_among_the_features_is_noticed(run, table, tmp_path):
    columns = ("--id-column", "id", "--drop", "kind", "--drop", "note")
    result = run("select", *table, *columns, *QUICK, "--out", tmp_path / "out")
    assert "warning: the feature 'class' looks like a class label" in result.stderr
    assert "--drop class" in result.stderr


def graph_with(name, values):
    features = np.random.default_rng(0).random((len(values), 3))
    features[:, 1] = values
    return check_attributed_graph(features, np.eye(len(values))[::-1], feature_names=["a", name, "b"])


COUNTS = np.random.default_rng(1).poisson(0.4, 60)


@pytest.mark.parametrize(
    ("name", "values", "is_label"),
    [
        ("class", np.arange(60) % 3, True),
        ("Class_Label", np.arange(60) % 5 + 1, True),
        ("y", np.arange(60) % 2 + 1, True),
        ("class", COUNTS, False),  # a word of this name: most nodes do not have it
        ("class", (COUNTS > 0), False),
        ("cluster", np.where(np.arange(60) % 3 == 1, 4, np.arange(60) % 3), True),  # 1 and 3 do not occur
        ("target", np.arange(60), False),  # too many values
        ("label", np.linspace(0, 1, 60), False),
        ("age", np.arange(60) % 3, False),
        ("classical", np.arange(60) % 3, False),
        ("class", np.ones(60), False),
    ],
)
def test_only_what_is_named_and_numbered_like_a_label_is_one(name, values, is_label):
    assert bool(label_like_columns(graph_with(name, values))) == is_label


def test_labels_are_shown_and_change_nothing(run, network, labels, tmp_path):
    for folder, more in (("plain", ()), ("labelled", ("--labels", labels))):
        result = run("select", *network.options, *more, *QUICK, "--out", tmp_path / folder)
        assert result.exit_code == 0, result.stderr
    for file in ("selected.csv", "scores.csv", "nodes.csv"):
        assert (tmp_path / "plain" / file).read_bytes() == (tmp_path / "labelled" / file).read_bytes()
    page = (tmp_path / "labelled" / "report.html").read_text(encoding="utf-8")
    assert all(f"team {block}" in page for block in range(3))
    assert "team 0" not in (tmp_path / "plain" / "report.html").read_text(encoding="utf-8")
    record = json.loads((tmp_path / "labelled" / "run.json").read_text(encoding="utf-8"))
    assert record["input"]["labels"]["file"] == "labels.csv"


def test_labels_without_blocks_have_no_effect_and_say_so(run, network, labels, tmp_path):
    options = ("--labels", labels, "--method", "variance", "--top", 4)
    result = run("select", *network.options, *options, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: known labels have no effect")
    (message,) = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))["warnings"]
    assert result.stderr == f"warning: {message}\n"
    assert f"<ul><li>{message}</li></ul>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("method", [(), ("--paper",)])
def test_blocks_may_come_from_a_file(run, network, labels, tmp_path, method):
    options = (*method, "--block-model", labels, "--top", 4, "--resamples", 0)
    result = run("select", *network.options, *options, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    blocks = pd.read_csv(tmp_path / "out" / "nodes.csv")["block"]
    assert pd.crosstab(blocks, network.graph.classes).gt(0).sum(axis=1).tolist() == [1, 1, 1]
    record = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert record["input"]["block_model"]["file"] == "labels.csv"
    assert record["selector"]["block_model"] == "labels"
    if not method:
        selector = BlockModelSelector(4, block_model=network.graph.classes, random_state=0)
        selector.fit(network.graph.features.toarray(), adjacency=network.graph.adjacency)
        chosen = [network.names[column] for column in selector.get_support(indices=True)]
        assert sorted(selected(tmp_path / "out")) == sorted(chosen)


def test_options_without_effect_are_named_as_options(run, network, labels, tmp_path):
    options = ("--block-model", labels, "--blocks", 2, "--top", 4, "--resamples", 0)
    result = run("select", *network.options, *options, "--out", tmp_path / "out")
    assert "warning: --blocks is 2, which has no effect" in result.stderr


def refused(run, *arguments):
    result = run("select", *arguments, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_what_is_neither_a_family_nor_a_file_is_refused(run, network):
    message = refused(run, *network.options, "--block-model", "spektral")
    assert "'spektral' is neither a file of labels nor one of mixed, smoothed, spectral" in message


def test_a_family_is_no_setting_of_the_paper(run, network):
    message = refused(run, *network.options, "--paper", "--blocks", 3, "--block-model", "spectral")
    assert "--block-model must be" in message


@pytest.mark.parametrize("option", ["--labels", "--block-model"])
def test_labels_that_do_not_fit_are_refused(run, network, labels, tmp_path, option):
    rows = pd.read_csv(labels)
    rows.iloc[3:].to_csv(tmp_path / "few.csv", index=False)
    assert "3 id(s) have no label, several labels or no matching node, such as" in refused(
        run, *network.options, option, tmp_path / "few.csv"
    )


def test_files_of_labels_are_never_replaced(run, network, labels, tmp_path):
    labels.rename(tmp_path / "nodes.csv")
    result = run("select", *network.options, "--labels", tmp_path / "nodes.csv", *QUICK, "--out", tmp_path)
    assert "nodes.csv would replace an input file" in result.stderr


@pytest.mark.parametrize("option", [("--id-column", "id"), ("--drop", "a"), ("--one-hot",)])
def test_options_for_tables_go_with_tables(run, option, tmp_path):
    np.save(tmp_path / "f.npy", np.eye(4))
    assert f"{option[0]} can only be used with --features" in refused(run, "--dataset", "cora", *option)
    message = refused(run, "--features", tmp_path / "f.npy", *option)
    assert f"{option[0]} is for tables (.csv" in message


def test_errors_name_the_cure(run, table, network, tmp_path):
    assert "give --id-column id" in refused(run, *table, "--drop", "kind", "--drop", "note")
    assert "--drop kind, turn all text columns into indicators with --one-hot" in refused(
        run, *table, "--id-column", "id"
    )
    with (tmp_path / "more.csv").open("w") as file:
        file.write(network.edges.read_text() + "n0,stranger\n")
    message = refused(run, "--features", network.features, "--graph", tmp_path / "more.csv")
    assert "give --unknown-nodes drop" in message
    message = refused(run, "--features", network.edges, "--graph", network.features)
    assert "the two files are swapped" in message
