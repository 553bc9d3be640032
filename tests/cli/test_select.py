"""`blockselect select` writes the results of the selector, with the same bytes each time."""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import re
import shutil
import sys
from contextlib import nullcontext
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from scipy import sparse

import blockselect
from blockselect import (
    BMGUFS,
    BlockModelSelector,
    Descent,
    load_cora,
    make_attributed_blocks,
    selection_stability,
)
from blockselect.cli.inputs import hash_matrix
from blockselect.consensus import search
from blockselect.inputs import nearest_neighbour_graph
from blockselect.report import draw_overview, render_png, summarize
from blockselect.utils.wording import per_cent, times

FILES = [
    "blocks.csv",
    "diagnostics.png",
    "nodes.csv",
    "overview.png",
    "report.html",
    "run.json",
    "scores.csv",
    "selected.csv",
]
QUICK = ("--blocks", 3, "--top", 5, "--set", "n_candidates=6", "--resamples", 3)
SAME = {"n_blocks": 3, "n_candidates": 6, "random_state": 0}
PAPER = ("--paper", "--blocks", 3, "--top", 5)


def record_of(folder):
    return json.loads((folder / "run.json").read_text())


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def table(path):
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def selector(network):
    """The selector that the command should fit with QUICK."""
    selector = BlockModelSelector(5, **SAME)
    return selector.fit(network.graph.features.toarray(), adjacency=network.graph.adjacency)


@pytest.fixture(scope="module")
def done(run, network, tmp_path_factory):
    """One run with QUICK: its folder, which tests must not change, and its stdout."""
    folder = tmp_path_factory.mktemp("done") / "out"
    result = run("select", *network.options, *QUICK, "--out", folder)
    assert (result.exit_code, result.stderr) == (0, "")
    return folder, result.stdout


@pytest.fixture(scope="module")
def folder(done):
    return done[0]


def test_exactly_these_files_are_there(folder):
    assert sorted(path.name for path in folder.iterdir()) == FILES


def test_scores_are_those_of_the_selector_and_stability_is_that_of_the_selection(folder, selector, network):
    rows, order = table(folder / "scores.csv"), np.argsort(selector.ranking_)
    assert [row["feature"] for row in rows] == [network.names[column] for column in order]
    assert_allclose([float(row["score"]) for row in rows], selector.scores_[order], rtol=1e-12)
    assert [int(row["rank"]) for row in rows] == selector.ranking_[order].tolist()
    assert [row["selected"] == "1" for row in rows] == selector.support_[order].tolist()
    assert [row["beyond_chance"] == "1" for row in rows] == selector.beyond_chance_[order].tolist()
    for column in ("explained_more", "explained_alone"):
        assert_allclose([float(row[column]) for row in rows], getattr(selector, f"{column}_")[order], rtol=1e-12)
    graph = network.graph
    stability = selection_stability(selector, graph.features.toarray(), adjacency=graph.adjacency, n_resamples=3)
    assert_allclose([float(row["stability"]) for row in rows], stability[order], rtol=1e-9)


def test_table_page_files_and_terminal_have_one_order_in_which_scores_fall(done, network, selector):
    folder, shown = done
    best = selector.table().query("selected")
    names = [network.names[column] for column in best["column"]]
    assert best["score"].is_monotonic_decreasing
    selected, scores = (table(folder / name) for name in ("selected.csv", "scores.csv"))
    assert [row["feature"] for row in selected] == names
    assert [row["feature"] for row in scores][:5] == names
    for rows in (selected, scores):
        falling = [float(row["score"]) for row in rows]
        assert falling == sorted(falling, reverse=True)
    assert re.findall(r"^ *\d+ +(gene_\d+)", shown, re.MULTILINE) == names
    page = (folder / "report.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'id="data">(.*?)</script>', page)
    assert [row[0] for row in json.loads(data)["rows"]] == [row["feature"] for row in scores]
    assert re.findall(r'data-label="feature"><bdi title="(gene_\d+)"', page) == names


def test_terminal_and_page_begin_with_what_the_selected_features_explain(done, selector):
    folder, shown = done
    sentence, *_ = shown.splitlines()
    share = per_cent(selector.levels_["explained"].iloc[-1])
    assert sentence == f"The 5 selected features explain {share} of the structure (3 blocks)."
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert re.search(r'<p class="lead">(.*?)</p>', page)[1].replace("\N{NO-BREAK SPACE}", " ") == sentence
    record = record_of(folder)
    assert record["explained"]["share"] == pytest.approx(selector.explained_[-1])
    assert [level["n_blocks"] for level in record["levels"]] == selector.levels_["n_blocks"].tolist()
    assert_allclose([level["explained"] for level in record["levels"]], selector.levels_["explained"])


def test_terminal_page_and_record_say_why_blocks_were_refined(done, selector):
    folder, shown = done
    assert selector.refined_
    sentence = f"The blocks were refined with the features, because {selector.refine_reason_}."
    assert sentence in shown.splitlines()
    assert sentence in (folder / "report.html").read_text(encoding="utf-8")
    assert record_of(folder)["refine"] == {"made": True, "automatic": True, "reason": selector.refine_reason_}


def test_rows_in_the_wrong_order_are_doubted_by_terminal_page_and_record(run, network, tmp_path):
    table = pd.read_csv(network.features)
    rows = np.random.default_rng(0).permutation(len(table))
    table.assign(id=table["id"].to_numpy()[rows]).to_csv(tmp_path / "features.csv", index=False)
    files = ("--features", tmp_path / "features.csv", "--graph", network.edges)
    result = run("select", *files, *QUICK, "--out", tmp_path / "out")
    headline, question, *_ = result.stdout.splitlines()
    assert headline == "No evidence that the 5 selected features are associated with the links."
    assert question.endswith(" Are the rows of the feature matrix in the same order as the nodes of the graph?")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<h1>No evidence that the 5 selected features are associated with the links in " in page
    assert question in page
    assert record_of(tmp_path / "out")["network_evidence"]["is_clear"] is False


def test_columns_of_the_terminal_say_what_each_feature_adds_and_explains_alone(done, network, selector):
    shown = done[1]
    first = int(np.argmin(selector.ranking_))
    shares = (selector.explained_more_[first], selector.explained_alone_[first])
    more, alone = (per_cent(share, zeros=True) for share in shares)
    assert re.search(r"score +adds +alone +stability +marks", shown)
    assert re.search(rf"{network.names[first]} +\S+ +{more} +{alone} ", shown)


def test_selected_features_come_with_their_block_means(folder, selector, network):
    rows = table(folder / "selected.csv")
    best = np.argsort(selector.ranking_)[:5]
    assert [row["feature"] for row in rows] == [network.names[column] for column in best]
    features, labels = network.graph.features.toarray(), selector.block_model_.labels
    for row, column in zip(rows, best, strict=True):
        means = [features[labels == block, column].mean() for block in range(3)]
        assert_allclose([float(row[f"block_{block}"]) for block in range(3)], means, rtol=1e-12)


def test_nodes_and_blocks_say_who_is_where_and_what_marks_it(folder, selector, network):
    nodes, blocks = table(folder / "nodes.csv"), table(folder / "blocks.csv")
    assert [int(row["block"]) for row in nodes] == selector.labels_.tolist()
    assert [row["id"] for row in nodes] == [f"n{node}" for node in range(60)]
    assert [int(row["size"]) for row in blocks] == selector.block_model_.block_sizes.tolist()
    names = [row["name"] for row in blocks]
    assert len(set(names)) == 3
    assert record_of(folder)["block_names"] == names
    assert [row["block_name"] for row in nodes] == [names[block] for block in selector.labels_]
    for row in table(folder / "selected.csv"):
        marked = [block["block"] for block in blocks if row["feature"] in block["markers"].split(", ")]
        assert len(marked) == int(row["n_marked_blocks"])
        assert row["marked_block"] in (marked or [""])
        assert row["block_name"] == (names[int(row["marked_block"])] if marked else "")


def test_the_terminal_names_the_blocks(done):
    folder, shown = done
    blocks = sorted(table(folder / "blocks.csv"), key=lambda row: -int(row["size"]))
    named = [f"{row['name']} ({row['size']})" for row in blocks]
    assert f"Blocks (number of nodes): {named[0]}, {named[1]} and {named[2]}." in shown
    for row in table(folder / "selected.csv"):
        marks = f"{row['block_name']} ({times(float(row['lift']))})" if row["block_name"] else "none"
        assert re.search(rf"{row['feature']} .* {re.escape(marks)}", shown)


def test_the_selected_features_are_saved_in_the_format_they_came_in(run, network, selector, tmp_path):
    result = run("select", *network.options, *QUICK, "--out", tmp_path / "out", "--save-matrix")
    assert result.exit_code == 0, result.stderr
    rows = table(tmp_path / "out" / "matrix.csv")
    chosen = selector.get_support(indices=True)
    assert list(rows[0]) == ["id", *(network.names[column] for column in chosen)]
    values = [[float(row[network.names[column]]) for column in chosen] for row in rows]
    assert_allclose(values, network.graph.features.toarray()[:, chosen])


@pytest.mark.parametrize(("of_features", "of_links"), [(1e-3, 1), (1e3, 1e6), (1e-6, 1e-6)])
def test_the_unit_in_which_a_file_gives_its_numbers_does_not_matter(
    run, network, folder, tmp_path, of_features, of_links
):
    features, links = pd.read_csv(network.features, index_col=0), pd.read_csv(network.edges)
    (features * of_features).to_csv(tmp_path / "features.csv")
    links.assign(weight=float(of_links)).to_csv(tmp_path / "edges.csv", index=False)
    files = ("--features", tmp_path / "features.csv", "--graph", tmp_path / "edges.csv")
    result = run("select", *files, *QUICK, "--out", tmp_path / "scaled")
    assert result.exit_code == 0, result.stderr
    before, after = (table(one / "scores.csv") for one in (folder, tmp_path / "scaled"))
    for column in ("feature", "rank", "selected"):
        assert [row[column] for row in after] == [row[column] for row in before]
    for column in ("score", "stability"):
        assert_allclose([float(row[column]) for row in after], [float(row[column]) for row in before], atol=1e-8)


def test_run_record_holds_settings_versions_and_hashes(folder, selector, network):
    record = json.loads((folder / "run.json").read_text())
    assert record["selector"] == {"class": "BlockModelSelector", **selector.get_params(deep=False)}
    assert record["n_resamples"] == 3
    assert record["versions"]["blockselect"] == blockselect.__version__
    assert record["versions"]["python"] == platform.python_version()
    assert record["versions"]["numpy"] == np.__version__
    assert record["versions"]["scikit-learn"] == sklearn.__version__
    assert "scipy" in record["versions"]
    for kind, path in (("features", network.features), ("graph", network.edges)):
        expected = {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        assert record["input"][kind] == expected
    assert record["counts"]["nodes"] == 60
    assert record["counts"]["links"] == network.graph.n_links
    assert record["relative_error"] == pytest.approx(selector.block_model_.relative_error)
    assert record["n_blocks"] == selector.block_model_.n_blocks
    for column in ("family", "in_consensus"):
        assert [row[column] for row in record["candidates"]] == selector.candidates_table_[column].tolist()
    assert record["warnings"] == []


def test_overview_is_the_picture_of_the_summary(run, folder, network):
    summary = json.loads(run("select", *network.options, *QUICK, "--json").stdout)
    assert (folder / "overview.png").read_bytes() == render_png(draw_overview(summary))


def test_same_input_and_seed_give_the_same_bytes(run, network, folder, tmp_path):
    run("select", *network.options, *QUICK, "--out", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(folder)


def test_another_seed_is_recorded_and_used(run, network, tmp_path):
    options = ("select", *network.options, *QUICK, "--blocks", 9, "--set", "n_candidates=1")
    for seed in (1, 2):
        run(*options, "--seed", seed, "--out", tmp_path / str(seed))
    first, second = (json.loads((tmp_path / seed / "run.json").read_text()) for seed in "12")
    assert (first["selector"]["random_state"], second["selector"]["random_state"]) == (1, 2)
    assert first["candidate_errors"] != second["candidate_errors"]


def test_files_of_an_earlier_run_are_replaced_and_others_left_alone(run, network, done, tmp_path):
    folder = shutil.copytree(done[0], tmp_path / "out")
    (folder / "notes.txt").write_text("mine")
    assert run("select", *network.options, *QUICK, "--top", 4, "--out", folder).exit_code == 0
    assert len(table(folder / "selected.csv")) == 4
    assert (folder / "notes.txt").read_text() == "mine"
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "notes.txt"])


def test_folders_on_the_way_are_made(run, network, tmp_path):
    assert run("select", *network.options, *QUICK, "--out", tmp_path / "a" / "b").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == FILES


def test_json_is_the_summary_and_the_only_thing_on_stdout(run, network):
    result = run("select", *network.options, *QUICK, "--json")
    summary = json.loads(result.stdout)
    assert len(summary["selected"]) == 5
    assert summary["feature_names"] == network.names
    assert summary["nodes"]["ids"] == [f"n{node}" for node in range(60)]
    assert np.bincount(summary["nodes"]["blocks"]).tolist() == summary["blocks"]["sizes"]
    assert result.stderr == ""


def test_json_and_files_together(run, network, folder, tmp_path):
    result = run("select", *network.options, *QUICK, "--json", "--out", tmp_path / "both")
    assert len(json.loads(result.stdout)["selected"]) == 5
    assert contents(tmp_path / "both") == contents(folder)


def test_quiet_says_nothing(run, network, tmp_path):
    result = run("select", *network.options, *QUICK, "--quiet", "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_summary_names_the_best_features_and_the_files(done, network, selector):
    folder, shown = done
    best = network.names[int(selector.ranking_.argmin())]
    assert f"1  {best} " in shown
    assert f"wrote {folder / 'report.html'}; also in this folder: selected.csv" in " ".join(shown.split())
    assert "There are 3 blocks of nodes with similar connection patterns (as requested). Selected 5 f" in shown
    assert "Selected 5 features that best explain the blocks; " in shown
    assert "The selected features:" in shown
    assert "candidate block models" not in shown


def test_details_are_shown_where_they_are_asked_for(run, network, tmp_path):
    result = run("select", *network.options, *QUICK, "-v", "--out", tmp_path / "out")
    for name in FILES:
        assert f"wrote {tmp_path / 'out' / name}" in result.stdout
    for detail in (
        "0 isolated nodes, 0 empty features",
        "block sizes: ",
        "relative error of the block model: 0.",
        "based on ",
    ):
        assert detail in result.stdout


def test_names_cannot_steer_the_terminal_or_pass_as_markup(run, network, tmp_path):
    lines = network.features.read_text().splitlines()
    header = "id," + ",".join(f"[red]\x1b[31mgene_{column}" for column in range(30))
    odd = tmp_path / "odd.csv"
    odd.write_text("\n".join([header, *lines[1:]]))
    result = run("select", "--features", odd, "--graph", network.edges, *QUICK, "--out", tmp_path / "out")
    assert "\x1b" not in result.stdout
    assert "[red]?[31mgene_" in result.stdout
    assert "[red]\x1b[31mgene_0" in (tmp_path / "out" / "scores.csv").read_text()


def test_a_share_of_the_features_can_be_asked_for(run, network):
    options = ("--blocks", 3, "--top", 0.2, "--set", "n_candidates=2", "--resamples", 0, "--json")
    result = run("select", *network.options, *options)
    assert len(json.loads(result.stdout)["selected"]) == 6


def test_as_many_features_as_explain_enough_are_selected_if_nothing_is_said(run, network):
    result = run("select", *network.options, "--blocks", 3, "--set", "n_candidates=2", "--resamples", 0, "--json")
    summary = json.loads(result.stdout)
    before, last = np.cumsum([row["explained_more"] for row in summary["selected"]])[-2:]
    assert before < 0.8 * summary["explained"]["all"] <= last


def test_half_of_the_features_are_selected_by_other_methods_if_nothing_is_said(run, network):
    result = run("select", *network.options, "--method", "variance", "--json")
    assert len(json.loads(result.stdout)["selected"]) == 15


def test_without_a_graph_neighbours_by_the_features_are_linked(run, network, tmp_path):
    result = run("select", "--features", network.features, *QUICK, "--out", tmp_path / "out")
    assert "no --graph: each node linked to its 10 nearest neighbours in the features" in result.stdout
    record = record_of(tmp_path / "out")
    assert record["input"]["graph"] == {"nearest_neighbours": 10}
    assert "warning: no --graph is given" in result.stderr
    assert record["warnings"][0].startswith("no --graph is given")
    fitted = BlockModelSelector(5, **SAME, n_neighbors=10).fit(network.graph.features.toarray())
    scores = [float(row["score"]) for row in table(tmp_path / "out" / "scores.csv")]
    assert_allclose(scores, fitted.scores_[np.argsort(fitted.ranking_)], rtol=1e-9)


def test_sparse_matrix_files_give_the_same_scores_as_tables(run, network, folder, tmp_path):
    sparse.save_npz(tmp_path / "features.npz", network.graph.features)
    sparse.save_npz(tmp_path / "graph.npz", network.graph.adjacency)
    options = ("--features", tmp_path / "features.npz", "--graph", tmp_path / "graph.npz")
    summary = json.loads(run("select", *options, *QUICK, "--json").stdout)
    expected = {int(row["rank"]): float(row["score"]) for row in table(folder / "scores.csv")}
    assert_allclose(summary["scores"], [expected[rank] for rank in summary["ranking"]], rtol=1e-9)


def test_without_a_graph_the_number_of_neighbours_can_be_given(run, network, tmp_path):
    for method in ((), PAPER):
        options = (*QUICK, *method, "--neighbors", 4, "--out", tmp_path / "out")
        result = run("select", "--features", network.features, *options)
        assert result.exit_code == 0, result.stderr
        record = record_of(tmp_path / "out")
        assert record["input"]["graph"] == {"nearest_neighbours": 4}
        assert record["selector"]["n_neighbors"] == 4
        assert "no --graph" not in result.stderr


def test_paper_is_bmgufs_itself_with_its_own_solver(run, network, tmp_path):
    result = run("select", *network.options, *PAPER, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    record = record_of(tmp_path / "out")
    selector = BMGUFS(5, n_blocks=3, random_state=0)
    selector.fit(network.graph.features.toarray(), adjacency=network.graph.adjacency)
    solver = {"class": "Descent", **Descent(gradient="paper", tol=0.0).get_params()}
    assert record["selector"] == {"class": "BMGUFS", **selector.get_params(deep=False), "solver": solver}
    assert (record["sparsity"], record["n_iter"], record["candidates"]) == (selector.sparsity_, 200, None)
    rows = table(tmp_path / "out" / "scores.csv")
    assert list(rows[0]) == ["rank", "feature", "score", "selected"]  # no stability, unless it is requested
    by_rank = selector.scores_[np.argsort(selector.ranking_)]
    assert_allclose([float(row["score"]) for row in rows], by_rank, rtol=1e-9, atol=1e-15)
    assert "candidate block models" not in result.stdout


def test_stability_of_the_paper_is_estimated_if_asked_for(run, network):
    options = (*PAPER, "--set", "n_candidates=1", "--set", "solver__max_iter=5", "--resamples", 3, "--json")
    summary = json.loads(run("select", *network.options, *options).stdout)
    assert list(summary["measures"]) == ["stability"]


def test_stability_can_be_switched_off(run, network):
    options = ("--blocks", 3, "--set", "n_candidates=2", "--resamples", 0, "--json")
    assert "stability" not in json.loads(run("select", *network.options, *options).stdout)["measures"]


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        (
            ("--paper",),
            {
                "sparsity": 0.5,
                "profile_ratio": 0.25,
                "device": "cpu",
                "solver__gradient": "exact",
                "solver__max_iter": 6,
                "solver__tol": 0.5,
                "solver__memory_limit": 1e9,
                "solver__dtype": "float32",
            },
        ),
        (("--block-model", "onmtf", "--jobs", 1), {"refine": False, "binarize": True}),
        (("--method", "ndfs"), {"weights": "binary", "max_iter": 5, "initial_clusters": None}),
    ],
)
def test_every_setting_reaches_the_selector(run, network, tmp_path, method, settings):
    shared = ("--seed", 11, "--blocks", 4, "--top", 3, "--resamples", 0)
    arguments = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    result = run("select", *network.options, *method, *shared, *arguments, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    selector = record_of(tmp_path / "out")["selector"]
    own = {"random_state": 11, "n_blocks": 4, "n_features_to_select": 3}
    if "--block-model" in method:
        own |= {"block_model": "onmtf", "n_jobs": 1}
    for name, value in {**settings, **own}.items():
        found = (selector["solver"] if name.startswith("solver__") else selector)[name.removeprefix("solver__")]
        assert (found, type(found)) == (value, type(value))


def test_an_option_without_effect_is_one_warning(run, network, tmp_path):
    result = run("select", *network.options, *QUICK, "--set", "max_blocks=4", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: max_blocks is 4, which has no effect: it only limits --blocks auto;")
    assert result.stderr.count("\n") == 1


def test_the_most_blocks_to_choose_from_can_be_given(run, network):
    options = ("--set", "max_blocks=2", "--top", 5, "--set", "n_candidates=2", "--resamples", 0, "--json")
    assert json.loads(run("select", *network.options, *options).stdout)["blocks"]["count"] == 2


def test_features_that_match_the_graph_come_with_p_and_q_values(run, tmp_path):
    planted = make_attributed_blocks(200, 3, mean_degree=10, random_state=0)
    sparse.save_npz(tmp_path / "features.npz", planted.features)
    sparse.save_npz(tmp_path / "graph.npz", planted.adjacency)
    files = ("--features", tmp_path / "features.npz", "--graph", tmp_path / "graph.npz")
    options = ("--top", "auto", "--blocks", 3, "--set", "n_candidates=6", "--resamples", 0)
    result = run("select", *files, *options, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    rows = table(tmp_path / "out" / "scores.csv")
    assert list(rows[0]) == [
        "rank",
        "feature",
        "score",
        "selected",
        "beyond_chance",
        "explained_more",
        "explained_alone",
        "p_value",
        "q_value",
    ]
    found = [row["feature"] for row in rows if float(row["q_value"]) <= 0.1]
    assert found
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "p ≤ 0.025" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert f"{len(found)} features are associated with the links beyond chance," in page
    assert sorted(found) == sorted(row["feature"] for row in table(tmp_path / "out" / "selected.csv"))


def test_terminal_page_and_attribute_give_the_same_reason_for_the_number_of_blocks(run, network, tmp_path):
    options = ("--top", 5, "--set", "max_blocks=2", "--set", "n_candidates=6", "--resamples", 0)
    shown = run("select", *network.options, *options, "--out", tmp_path / "out").stdout
    selector = BlockModelSelector(5, max_blocks=2, n_candidates=6, random_state=0)
    reason = selector.fit(network.graph.features, adjacency=network.graph.adjacency).n_blocks_reason_
    assert reason == "the most that max_blocks=2 allows, so there may be more"
    sentence = f"There are 2 blocks of nodes with similar connection patterns ({reason})"
    assert f"{sentence}. Selected 5 features" in shown
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"{sentence}.</p>" in page
    assert page.count("the most that") == shown.count("the most that") == 1  # no other reason


def test_the_summary_says_how_many_blocks_and_candidates_were_chosen(run, network, tmp_path):
    options = ("--top", 5, "--set", "n_candidates=12", "--resamples", 0)
    shown = run("select", *network.options, *options, "-v", "--out", tmp_path / "auto").stdout
    record = record_of(tmp_path / "auto")
    assert f"There are {record['n_blocks']} blocks of nodes with similar connection patterns (" in shown
    kept = [row["in_consensus"] for row in record["candidates"]]
    assert f"based on {sum(kept)} of {len(kept)} candidate block models (" in shown


def test_a_search_that_was_cut_is_shown_and_recorded(run, network, done, tmp_path, monkeypatch):
    assert "the network is large" not in done[1]
    monkeypatch.setattr(search, "BUDGET", 1.0)
    options = (*QUICK, "--set", "n_candidates=9", "--resamples", 8, "--out", tmp_path / "cut")
    shown = run("select", *network.options, *options, "-v").stdout
    assert "Because the network is large, fewer block models were tried" in shown
    assert "search limited to 3 of 9 candidates and at most 5 of 50 rounds" in shown
    record = record_of(tmp_path / "cut")
    assert record["effort"]["candidates"] == {"asked": 9, "made": 3}
    assert record["n_resamples"] == 5


class Cells:
    """The attributes of an AnnData that are read, so that the test does not need anndata."""

    layers = uns = {}  # noqa: RUF012

    def __init__(self, features, adjacency):
        self.X, self.obsp = features, {"connectivities": adjacency}
        self.obs_names, self.var_names = (pd.Index(range(n)).astype(str) for n in features.shape)


@pytest.mark.parametrize("says_so", [True, False])
def test_q_values_on_a_graph_made_from_the_features_come_with_the_warning_of_the_library(
    run, tmp_path, monkeypatch, says_so
):
    planted = make_attributed_blocks(100, 3, mean_degree=10, random_state=0)
    features = planted.features.toarray()
    cells = Cells(features, planted.adjacency if says_so else nearest_neighbour_graph(features, 5))
    cells.uns = {"neighbors": {"params": {"method": "umap"}}} if says_so else {}
    (tmp_path / "cells.h5ad").write_bytes(b"any")
    monkeypatch.setitem(sys.modules, "anndata", SimpleNamespace(read_h5ad=lambda path: cells))
    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(Group=dict, File=lambda path: nullcontext({})))
    with pytest.warns(UserWarning, match="p-values and q-values are meaningless") as issued:
        BlockModelSelector("auto", **SAME).fit(cells, adjacency="connectivities")
    file = tmp_path / "cells.h5ad"
    options = ("--top", "auto", "--blocks", 3, "--set", "n_candidates=6", "--resamples", 3)
    shown = run("select", "--features", file, "--graph", file, *options, "--out", tmp_path / "out").stderr
    expected = [str(warning.message).replace("adjacency", "--graph", 1) for warning in issued]
    assert shown == "".join(f"warning: {message}\n" for message in expected)
    assert record_of(tmp_path / "out")["warnings"] == expected
    page = unescape((tmp_path / "out" / "report.html").read_text(encoding="utf-8")).replace("\N{NO-BREAK SPACE}", " ")
    assert all(f"<li>{message}</li>" in page for message in expected)
    assert "which match such links by construction, so q-values are meaningless" in page
    for claim in ("p ≤ 0.025", "features are associated with the links beyond chance,"):
        assert claim not in page


def test_no_discovery_is_a_warning_and_an_empty_table(run, network, tmp_path):
    """Features that were shuffled over the nodes are not associated with the graph."""
    features = network.graph.features.toarray()
    rng = np.random.default_rng(0)
    np.save(tmp_path / "features.npy", np.column_stack([rng.permutation(column) for column in features.T]))
    sparse.save_npz(tmp_path / "graph.npz", network.graph.adjacency)
    files = ("--features", tmp_path / "features.npy", "--graph", tmp_path / "graph.npz")
    options = ("--top", "auto", "--set", "n_candidates=4", "--resamples", 0)
    result = run("select", *files, *options, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: no feature matches the graph better than chance")
    assert table(tmp_path / "out" / "selected.csv") == []


def test_too_few_scores_are_one_line_of_warning_even_when_quiet(run, network, tmp_path):
    options = ("--paper", "--top", 25, "--blocks", 3, "--set", "sparsity=4", "--quiet", "--out", tmp_path / "out")
    result = run("select", *network.options, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("warning: only 1 of the 25 requested features")
    record = record_of(tmp_path / "out")
    assert "".join(f"warning: {message}\n" for message in record["warnings"]) == result.stderr
    assert len(table(tmp_path / "out" / "selected.csv")) == record["counts"]["selected_features"] < 25


def test_cora_by_name_is_the_cora_of_the_package(run, tmp_path):
    quick = ("--blocks", 7, "--set", "n_candidates=6", "--resamples", 0)
    result = run("select", "--dataset", "cora", *quick, "--top", 64, "--out", tmp_path / "out")
    assert "cora: 2,708 nodes, 5,278 links, 1,433 features.\nThere are 7 blocks of nodes " in result.stdout
    cora = load_cora()
    fitted = BlockModelSelector(64, n_blocks=7, n_candidates=6, random_state=0)
    fitted.fit(cora)
    best = [row["name"] for row in summarize(fitted)["selected"]]
    assert [row["feature"] for row in table(tmp_path / "out" / "selected.csv")] == best
    record = record_of(tmp_path / "out")
    assert record["input"]["dataset"] == "cora"
    assert record["input"]["graph"] == {"sha256": hash_matrix(cora.adjacency)}


def test_content_hash_is_of_the_numbers_not_of_how_they_are_held():
    features = make_attributed_blocks(40, 2, mean_degree=5, random_state=0).features
    same = hash_matrix(features)
    assert hash_matrix(features.toarray()) == same
    assert hash_matrix(features.astype(np.float32)) == same
    changed = features.copy()
    changed.data[0] += 1
    assert hash_matrix(changed) != same
    assert hash_matrix(sparse.csr_array(features[:, ::-1])) != same


def test_details_of_the_paper_have_its_sparsity_and_no_candidates_kept(run, network, tmp_path):
    quick = ("--set", "n_candidates=2", "--resamples", 0, "--set", "solver__max_iter=5")
    result = run("select", *network.options, *PAPER, *quick, "--set", "sparsity=0.5", "-v", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert "sparsity: 0.5" in result.stdout
    assert "iterations: 5" in result.stdout
    assert "candidate block models" not in result.stdout
