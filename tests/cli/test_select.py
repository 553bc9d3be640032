"""`blockselect select` writes what the selector finds, the same each time."""

from __future__ import annotations

import csv
import hashlib
import json
import platform

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from scipy import sparse

import blockselect
from blockselect import PAPER, BlockModelSelector, load_cora, make_attributed_blocks
from blockselect.cli.inputs import hash_matrix
from blockselect.report import draw_overview, render_png, summarize

FILES = ["overview.png", "run.json", "scores.csv", "selected.csv"]
QUICK = ("--blocks", 3, "--top", 5, "--max-iter", 40, "--candidates", 6, "--resamples", 3)
SAME = {"n_blocks": 3, "max_iter": 40, "n_candidates": 6, "n_resamples": 3, "random_state": 0}


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def table(path):
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def selector(network):
    """What the command should come to with QUICK."""
    selector = BlockModelSelector(5, **SAME)
    return selector.fit(network.graph.features.toarray(), adjacency=network.graph.adjacency)


@pytest.fixture
def folder(run, network, tmp_path):
    result = run("select", *network.options, *QUICK, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    return tmp_path / "out"


def test_exactly_the_four_files_are_there(folder):
    assert sorted(path.name for path in folder.iterdir()) == FILES


def test_scores_are_those_of_the_selector(folder, selector, network):
    rows = table(folder / "scores.csv")
    assert [row["feature"] for row in rows] == network.names
    assert_allclose([float(row["score"]) for row in rows], selector.scores_, rtol=1e-12)
    assert [int(row["rank"]) for row in rows] == selector.ranking_.tolist()
    assert [row["selected"] == "1" for row in rows] == selector.support_.tolist()
    assert_allclose([float(row["stability"]) for row in rows], selector.stability_, rtol=1e-9)


def test_selected_features_come_with_their_block_means(folder, selector, network):
    rows = table(folder / "selected.csv")
    best = np.argsort(selector.ranking_)[:5]
    assert [row["feature"] for row in rows] == [network.names[column] for column in best]
    features, labels = network.graph.features.toarray(), selector.block_model_.labels
    for row, column in zip(rows, best, strict=True):
        means = [features[labels == block, column].mean() for block in range(3)]
        assert_allclose([float(row[f"block_{block}"]) for block in range(3)], means, rtol=1e-12)


def test_run_record_holds_settings_seed_versions_and_hashes(folder, selector, network):
    record = json.loads((folder / "run.json").read_text())
    assert {**record["settings"], "random_state": record["seed"]} == selector.get_params()
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
    assert [row["family"] for row in record["criteria"]] == selector.criteria_["family"].tolist()
    assert [row["voted"] for row in record["criteria"]] == selector.criteria_["voted"].tolist()
    assert record["warnings"] == []


def test_overview_is_the_picture_of_the_summary(run, folder, network):
    summary = json.loads(run("select", *network.options, *QUICK, "--json").stdout)
    assert (folder / "overview.png").read_bytes() == render_png(draw_overview(summary))


def test_same_input_and_seed_give_the_same_bytes(run, network, folder, tmp_path):
    run("select", *network.options, *QUICK, "--out", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(folder)


def test_another_seed_is_recorded_and_used(run, network, tmp_path):
    options = ("select", *network.options, *QUICK, "--blocks", 9, "--candidates", 1)
    for seed in (1, 2):
        run(*options, "--seed", seed, "--out", tmp_path / str(seed))
    first, second = (json.loads((tmp_path / seed / "run.json").read_text()) for seed in "12")
    assert (first["seed"], second["seed"]) == (1, 2)
    assert first["candidate_errors"] != second["candidate_errors"]


def test_older_files_are_replaced_and_others_left_alone(run, network, folder):
    (folder / "selected.csv").write_text("old")
    (folder / "notes.txt").write_text("mine")
    run("select", *network.options, *QUICK, "--out", folder)
    assert len(table(folder / "selected.csv")) == 5
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
    assert result.stderr == ""


def test_json_and_files_together(run, network, folder, tmp_path):
    result = run("select", *network.options, *QUICK, "--json", "--out", tmp_path / "both")
    assert json.loads(result.stdout)["n_iter"] == 40
    assert contents(tmp_path / "both") == contents(folder)


def test_quiet_says_nothing(run, network, tmp_path):
    result = run("select", *network.options, *QUICK, "--quiet", "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_account_names_the_best_features_and_the_files(run, network, selector, tmp_path):
    result = run("select", *network.options, *QUICK, "--out", tmp_path / "out")
    best = network.names[int(selector.scores_.argmax())]
    assert f"1   {best} " in result.stdout
    for name in FILES:
        assert f"wrote {tmp_path / 'out' / name}" in result.stdout
    assert result.stderr == ""


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
    result = run("select", *network.options, "--blocks", 3, "--top", 0.2, "--max-iter", 5, "--resamples", 0, "--json")
    assert len(json.loads(result.stdout)["selected"]) == 6


def test_half_of_the_features_are_selected_if_nothing_is_said(run, network):
    result = run("select", *network.options, "--blocks", 3, "--max-iter", 5, "--resamples", 0, "--json")
    assert len(json.loads(result.stdout)["selected"]) == 15


def test_without_a_graph_neighbours_by_the_features_are_linked(run, network, tmp_path):
    result = run("select", "--features", network.features, *QUICK, "--out", tmp_path / "out")
    assert "no --graph: each node linked with its 10 nearest by the features" in result.stdout
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["input"]["graph"] == {"nearest_neighbours": 10}
    fitted = BlockModelSelector(5, **SAME).fit(network.graph.features.toarray())
    scores = [float(row["score"]) for row in table(tmp_path / "out" / "scores.csv")]
    assert_allclose(scores, fitted.scores_, rtol=1e-9)


def test_sparse_matrix_files_give_the_same_scores_as_tables(run, network, folder, tmp_path):
    sparse.save_npz(tmp_path / "features.npz", network.graph.features)
    sparse.save_npz(tmp_path / "graph.npz", network.graph.adjacency)
    options = ("--features", tmp_path / "features.npz", "--graph", tmp_path / "graph.npz")
    summary = json.loads(run("select", *options, *QUICK, "--json").stdout)
    expected = [float(row["score"]) for row in table(folder / "scores.csv")]
    assert_allclose(summary["scores"], expected, rtol=1e-9)


def test_paper_preset_is_used_and_options_beside_it_win(run, network, tmp_path):
    options = ("select", *network.options, "--blocks", 3, "--top", 5, "--paper", "--quiet")
    run(*options, "--out", tmp_path / "paper")
    run(*options, "--gradient", "exact", "--sparsity", 0.5, "--max-iter", 7, "--out", tmp_path / "mixed")
    paper, mixed = (json.loads((tmp_path / name / "run.json").read_text()) for name in ("paper", "mixed"))
    assert {name: paper["settings"][name] for name in PAPER} == PAPER
    over = {"gradient": "exact", "sparsity": 0.5, "max_iter": 7}
    assert {name: mixed["settings"][name] for name in PAPER} == {**PAPER, **over}
    assert (mixed["sparsity"], mixed["n_iter"]) == (0.5, 7)


def test_every_setting_reaches_the_selector(run, network, tmp_path):
    settings = {
        "block-model": "onmtf",
        "candidates": 3,
        "guidance": 2,
        "profile-target": "density",
        "profile-ratio": 0.25,
        "sparsity": "paper",
        "gradient": "paper",
        "max-iter": 6,
        "tol": 0.5,
        "seed": 11,
        "device": "cpu",
        "dtype": "float32",
        "blocks": 4,
        "top": 3,
    }
    arguments = [part for name, value in settings.items() for part in (f"--{name}", value)]
    run("select", *network.options, *arguments, "--out", tmp_path / "out")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    names = {"candidates": "n_candidates", "blocks": "n_blocks", "top": "n_features_to_select"}
    assert record["seed"] == settings.pop("seed")
    for option, value in settings.items():
        assert record["settings"][names.get(option, option.replace("-", "_"))] == value
    assert record["relative_error"] == record["candidate_errors"][2]


def test_every_setting_of_the_consensus_and_the_refinement_reaches_the_selector(run, network, tmp_path):
    settings = {
        "--guidance": "consensus",
        "--resamples": 3,
        "--binarize": "yes",
        "--redundancy": 0.5,
        "--coverage": 2.0,
    }
    arguments = [part for pair in settings.items() for part in pair]
    run(
        "select",
        *network.options,
        *QUICK,
        *arguments,
        "--no-joint",
        "--evidence",
        "blocks",
        "--refine",
        "--out",
        tmp_path / "out",
    )
    record = json.loads((tmp_path / "out" / "run.json").read_text())["settings"]
    assert (record["guidance"], record["n_resamples"], record["binarize"]) == ("consensus", 3, True)
    assert record["evidence"] == "blocks"
    assert (record["joint"], record["refine"], record["redundancy"], record["coverage"]) == (False, True, 0.5, 2.0)


def test_features_that_match_the_graph_come_with_p_and_q_values(run, tmp_path):
    planted = make_attributed_blocks(200, 3, mean_degree=10, random_state=0)
    sparse.save_npz(tmp_path / "features.npz", planted.features)
    sparse.save_npz(tmp_path / "graph.npz", planted.adjacency)
    files = ("--features", tmp_path / "features.npz", "--graph", tmp_path / "graph.npz")
    options = ("--top", "auto", "--fdr", 0.2, "--null-rounds", 20, "--blocks", 3, "--candidates", 6, "--resamples", 0)
    result = run("select", *files, *options, "--max-iter", 5, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    rows = table(tmp_path / "out" / "scores.csv")
    assert list(rows[0]) == ["feature", "score", "rank", "selected", "p_value", "q_value"]
    found = [row["feature"] for row in rows if float(row["q_value"]) <= 0.2]
    assert found
    assert sorted(found) == sorted(row["feature"] for row in table(tmp_path / "out" / "selected.csv"))


def test_the_account_tells_how_many_blocks_were_chosen_and_who_voted(run, network, tmp_path):
    options = ("--top", 5, "--max-iter", 5, "--candidates", 12, "--resamples", 0)
    shown = run("select", *network.options, *options, "--out", tmp_path / "auto").stdout
    count = json.loads((tmp_path / "auto" / "run.json").read_text())["n_blocks"]
    assert f", {count} blocks (chosen), " in shown
    assert "guided by: 3 of 12 candidates (" in shown
    shown = run("select", *network.options, *QUICK, "--paper", "--guidance", 0, "--resamples", 0, "--json").stdout
    assert json.loads(shown)["criteria"] is None


def test_no_discovery_is_a_warning_that_names_the_option(run, network, tmp_path):
    options = ("--top", "auto", "--fdr", 1e-9, "--null-rounds", 3, "--candidates", 2, "--resamples", 0)
    result = run("select", *network.options, *options, "--out", tmp_path)
    assert result.exit_code == 0
    assert "at --fdr 1e-09, so none is selected" in result.stderr


def test_too_few_scores_are_one_line_of_warning_even_when_quiet(run, network, tmp_path):
    options = ("--top", 25, "--blocks", 3, "--sparsity", 4, "--quiet", "--out", tmp_path / "out")
    result = run("select", *network.options, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("warning: only ")
    assert result.stderr.count("\n") == 1
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [f"warning: {message}\n" for message in record["warnings"]] == [result.stderr]
    assert len(table(tmp_path / "out" / "selected.csv")) == record["counts"]["selected_features"] < 25


def test_cora_by_name_is_the_cora_of_the_package(run, tmp_path):
    quick = ("--blocks", 7, "--candidates", 6, "--resamples", 0)
    result = run("select", "--dataset", "cora", *quick, "--top", 64, "--out", tmp_path / "out")
    assert "2,708 nodes (0 isolated), 5,278 links, 7 blocks, 1,433 features (1 empty)" in result.stdout
    cora = load_cora()
    fitted = BlockModelSelector(64, n_blocks=7, n_candidates=6, n_resamples=0, random_state=0)
    fitted.fit(cora.features, adjacency=cora.adjacency)
    best = [row["name"] for row in summarize(fitted, cora)["selected"]]
    assert [row["feature"] for row in table(tmp_path / "out" / "selected.csv")] == best
    record = json.loads((tmp_path / "out" / "run.json").read_text())
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
