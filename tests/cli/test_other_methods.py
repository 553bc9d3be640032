"""`blockselect select --method NAME`: every method of the registry, by its own scores."""

from __future__ import annotations

import csv
import json
from html import unescape

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blockselect import SELECTORS, make_selector


@pytest.mark.parametrize("method", ["morans-i", "variance", "mcfs", "mmpop"])
def test_the_scores_are_those_of_the_library(run, network, tmp_path, method):
    result = run("select", *network.options, "--method", method, "--top", 5, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["nodes.csv", "report.html", "run.json", "scores.csv", "selected.csv"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"The features were selected with {SELECTORS[method].title} (blockselect " in unescape(page)
    assert f"Selected 5 features by {SELECTORS[method].title}; " in result.stdout
    seeded = "random_state" in SELECTORS[method].selector().get_params()
    selector = make_selector(method, 5, random_state=0 if seeded else None)
    graph = {} if SELECTORS[method].guidance in ("features", "none") else {"adjacency": network.graph.adjacency}
    selector.fit(network.graph.features.toarray(), **graph)
    with (tmp_path / "out" / "scores.csv").open() as file:
        scores = [float(row["score"]) for row in csv.DictReader(file)]
    assert_allclose(scores, selector.scores_[np.argsort(selector.ranking_)], rtol=1e-9, atol=1e-12)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert (record["method"], record["selector"]["class"]) == (method, type(selector).__name__)


def test_nodes_are_written_without_blocks_and_the_matrix_if_asked_for(run, network, tmp_path):
    result = run("select", *network.options, "--method", "variance", "--top", 5, "--save-matrix", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    chosen = make_selector("variance", 5).fit(network.graph.features.toarray()).get_support(indices=True)
    held = (network.graph.features.toarray()[:, chosen] != 0).sum(axis=1)
    with (tmp_path / "nodes.csv").open() as file:
        nodes = list(csv.DictReader(file))
    assert list(nodes[0]) == ["id", "degree", "selected_features"]
    assert [int(node["selected_features"]) for node in nodes] == held.tolist()
    assert f"{np.count_nonzero(held == 0)} nodes have none of them" in result.stdout
    (matrix,) = tmp_path.glob("matrix*")
    assert matrix.name in result.stdout


def test_stability_is_estimated_if_asked_for(run, network):
    options = ("--method", "morans-i", "--top", 5, "--resamples", 3, "--json")
    summary = json.loads(run("select", *network.options, *options).stdout)
    assert len(summary["measures"]["stability"]) == 30
    assert summary["method"] == "morans-i"


def test_the_default_and_the_paper_have_names_too(run, network, tmp_path):
    quick = ("--blocks", 3, "--top", 5, "--set", "n_candidates=2", "--resamples", 0)
    for one, other in ((("--method", "block-model"), ()), (("--method", "bmgufs"), ("--paper",))):
        results = [run("select", *network.options, *quick, *way, "--json") for way in (one, other)]
        assert json.loads(results[0].stdout) == json.loads(results[1].stdout)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--method", "mcf"), "no method is called 'mcf'; choose one of: block-model, bmgufs, "),
        (
            ("--method", "mcfs", "--paper"),
            "--paper means --method bmgufs, but --method is 'mcfs'; use only one of them.",
        ),
        (("--method", "variance", "--seed", 1), "--seed cannot be used with --method variance; leave out one of them"),
        (
            ("--method", "mcfs", "--set", "tol=1"),
            "no parameter of mcfs is called 'tol'; choose one of: weights, width.",
        ),
        (("--method", "mcfs", "--set", "widht=1"), "Did you mean width?"),
        (("--method", "mcfs", "--set", "weights=round"), "weights must be"),
        (("--method", "variance", "--set", "tol=1"), "--set cannot be used with --method variance, which has no other"),
        (("--method", "morans-i", "--neighbors", 5), "--neighbors cannot be combined with a graph"),
        (("--method", "mcfs", "--top", "auto"), "--top must be"),
        (("--method", "mcfs", "--top", 31), "--top is 31 but there are 30 features"),
    ],
)
def test_what_a_method_does_not_have_is_refused(run, network, tmp_path, options, complaint):
    result = run("select", *network.options, *options, "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr
    assert not (tmp_path / "out").exists()


def test_what_files_warn_of_is_said_and_no_more_where_quiet(run, network, tmp_path):
    text = network.edges.read_text()
    (tmp_path / "edges.csv").write_text(f"{text.rstrip()}\nn0,stranger\n")
    files = ("--features", network.features, "--graph", tmp_path / "edges.csv", "--unknown-nodes", "drop")
    result = run("select", *files, "--method", "morans-i", "--top", 5, "--quiet", "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "warning: 1 link(s) of nodes without features are left out.\n"
    result = run("compare", *files, "--methods", "variance", "--top", 5, "--runs", 1, "--quiet", "--json")
    assert result.exit_code == 0
    assert result.stderr == "warning: 1 link(s) of nodes without features are left out.\n"


def test_a_graph_made_from_the_features_is_no_evidence(run, network):
    features = network.options[network.options.index("--features") + 1]
    result = run("select", "--features", features, "--method", "morans-i", "--neighbors", 5, "--top", 5, "--json")
    assert json.loads(result.stdout)["network_evidence"] is None


def test_neighbours_of_a_method_that_links_nodes_by_the_features_can_be_given_beside_a_graph(run, network, tmp_path):
    options = ("--method", "mcfs", "--blocks", 3, "--top", 5, "--neighbors", 4, "--out", tmp_path / "out")
    assert run("select", *network.options, *options).exit_code == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["selector"]["n_neighbors"] == 4
