"""Graphs with node attributes, standard input, and tables of other programs, on the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from blockselect import BlockModelSelector
from terminal import without_stages

networkx = pytest.importorskip("networkx")

QUICK = ("--top", 2, "--blocks", 2, "--set", "n_candidates=2", "--resamples", 0)


@pytest.fixture(scope="module")
def karate(tmp_path_factory):
    """The karate club with two more attributes, as networkx writes it."""
    graph = networkx.karate_club_graph()
    for node in graph:
        graph.nodes[node].update(friends=len(graph[node]), even=node % 2)
    path = tmp_path_factory.mktemp("karate") / "karate.graphml"
    networkx.write_graphml(graph, path)
    return path


def record(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_one_file_selects_as_the_graph_in_memory(run, karate, tmp_path):
    result = run("select", "--graph", karate, *QUICK, "--save-matrix", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.startswith("read 34 nodes from karate.graphml, 3 attributes\n")
    assert record(tmp_path)["input"]["notes"] == ["read 34 nodes from karate.graphml, 3 attributes"]
    selector = BlockModelSelector(2, n_blocks=2, n_candidates=2, random_state=0).fit(networkx.read_graphml(karate))
    scores = pd.read_csv(tmp_path / "scores.csv").set_index("feature")["score"]
    expected = selector.table().set_index("feature")["score"]
    pd.testing.assert_series_equal(
        scores.sort_index(), expected.sort_index(), check_index_type=False, check_dtype=False
    )
    assert pd.read_csv(tmp_path / "matrix.csv").shape == (34, 3)


@pytest.mark.parametrize("option", ["--graph", "--features"])
def test_labels_may_be_an_attribute_which_is_then_no_feature(run, karate, tmp_path, option):
    more = ("--label-attribute", "club", "--drop", "even")
    result = run("select", option, karate, *more, "--top", 1, *QUICK[2:], "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert "read 34 nodes from karate.graphml, 1 attribute, 2 dropped" in result.stderr
    assert pd.read_csv(tmp_path / "scores.csv")["feature"].tolist() == ["friends"]
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Officer" in page
    assert "--label-attribute club" in page
    assert record(tmp_path)["input"]["label_attribute"] == "club"


def test_labels_may_be_a_column_and_serve_as_classes(run, network, tmp_path):
    table = pd.read_csv(network.features).assign(team=[f"team {one}" for one in network.graph.classes])
    table.to_csv(tmp_path / "f.csv", index=False)
    files = ("--features", tmp_path / "f.csv", "--graph", network.edges, "--label-attribute", "team")
    result = run("compare", *files, "--methods", "variance", "--top", 4, "--runs", 1, "--json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["settings"]["protocol"], summary["counts"]["features"]) == ("clustering", 30)


def test_labels_have_one_source(run, karate):
    twice = ("--labels", karate, "--label-attribute", "club", "--json")
    assert "use only one of them" in run("select", "--graph", karate, *twice).stderr
    message = run("select", "--graph", karate, "--label-attribute", "clan", "--json").stderr
    assert "no node has an attribute 'clan'" in message


@pytest.mark.parametrize("option", ["--features", "--graph"])
def test_one_file_may_come_from_standard_input(network, tmp_path, option):
    files = {"--features": network.features, "--graph": network.edges}
    content = files[option].read_bytes()
    arguments = [str(part) for name, path in files.items() for part in (name, "-" if name == option else path)]
    command = [sys.executable, "-m", "blockselect", "select", *arguments, "--method", "variance", "--top", "3"]
    done = subprocess.run([*command, "--out", tmp_path], input=content, capture_output=True, check=False)
    assert (done.returncode, without_stages(done.stderr.decode())) == (0, "")
    assert record(tmp_path)["input"][option[2:]]["file"] == "stdin.csv"
    done = subprocess.run([*command, "--json"], input=b"", capture_output=True, text=False, check=False)
    assert without_stages(done.stderr.decode()) == "error: stdin.csv is empty; check how it was written.\n"


def test_standard_input_is_one_file(run):
    assert (
        "both -, but standard input can supply only one file"
        in run("select", "--features", "-", "--graph", "-", "--json").stderr
    )


def test_options_of_tables_are_named_in_errors_and_help(run, tmp_path):
    (tmp_path / "f.csv").write_text("cleo;1;1\nann;1,5;\nbob;0;2\n")
    (tmp_path / "e.txt").write_text("# friends\nann bob\nbob cleo\n")
    files = ("select", "--features", tmp_path / "f.csv", "--graph", tmp_path / "e.txt", "--method", "variance")
    settings = [("--no-header",), ("--decimal", ","), ("--fill", "0")]
    for at, words in enumerate(["give --no-header", "give --decimal ,", "row 2 ('ann'), column '2' is empty"]):
        given = [word for setting in settings[:at] for word in setting]
        message = run(*files, "--top", 1, *given, "--json").stderr
        assert words in message
    assert "give --fill 0" in message
    assert "--drop 2" in message
    result = run(*files, "--top", 1, "--no-header", "--decimal", ",", "--fill", 0, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    given = record(tmp_path / "out")["input"]
    assert (given["header"], given["decimal"], given["fill"]) == (False, ",", 0)
    assert given["notes"] == result.stderr.splitlines()
    assert given["notes"][-1] == (
        "read e.txt as edges without a header: source and target, blanks between them, below 1 line of comments"
    )
    assert run(*files, "--top", 1, "--no-header", "--decimal", ",", "--fill", 0, "--quiet", "--json").stderr == ""


def test_a_weight_is_chosen_by_option(run, network, tmp_path):
    edges = pd.read_csv(network.edges).assign(year=2020)
    edges.to_csv(tmp_path / "e.csv", index=False)
    message = run("select", "--features", network.features, "--graph", tmp_path / "e.csv", "--json").stderr
    assert "--weight year" in message
    assert "--weight none" in message
    assert "weight=" not in message
