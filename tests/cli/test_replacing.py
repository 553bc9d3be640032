"""Results never replace input files, and replace files of other programs only with --overwrite."""

from __future__ import annotations

import os
import shutil

import pytest

QUICK = ("--blocks", 3, "--top", 5, "--set", "n_candidates=1", "--resamples", 0)
SELECT = ("select", *QUICK)
MORAN = ("select", "--method", "morans-i", "--top", 5)
COMPARE = ("compare", "--protocol", "structure", "--methods", "variance", "--top", 5, "--runs", 1)


@pytest.fixture
def files(network, tmp_path):
    """A folder with copies of the files of the network, to which results may be written."""
    for path in (network.features, network.edges):
        shutil.copy(path, tmp_path)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def refuse(run, files):
    """Run a command that must be refused, check that no file has changed, and return the error message."""

    def invoke(*arguments):
        before = contents(files)
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (2, ""), result.stderr
        assert result.stderr.startswith("error: --out is ")
        assert result.stderr.count("\n") == 1
        assert contents(files) == before
        return result.stderr

    return invoke


def options(folder, features="features.csv", graph="edges.csv"):
    return ["--features", folder / features, "--graph", folder / graph]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (SELECT, "nodes.csv"),
        (SELECT, "scores.csv"),
        ((*SELECT, "--save-matrix"), "matrix.csv"),
        (MORAN, "nodes.csv"),
        ((*MORAN, "--save-matrix"), "matrix.csv"),
        (COMPARE, "comparison.csv"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--overwrite",)], ids=["plain", "overwrite"])
def test_features_are_not_replaced_by_a_result(refuse, files, monkeypatch, command, name, more):
    (files / "features.csv").rename(files / name)
    monkeypatch.chdir(files)
    complaint = f"{name} would replace an input file; name another folder"
    assert complaint in refuse(*command, "--features", name, "--graph", "edges.csv", "--out", ".", *more)
    assert complaint in refuse(*command, *options(files, name), "--out", files, *more)


def test_every_other_input_is_kept_too(refuse, files):
    for option in ("--graph", "--node-ids", "--feature-names"):
        shutil.copy(files / "edges.csv", files / "nodes.csv")
        arguments = ("select", "--features", files / "features.csv", option, files / "nodes.csv")
        assert "nodes.csv would replace an input file" in refuse(*arguments, "--out", files, "--overwrite")
    shutil.copy(files / "edges.csv", files / "comparison.md")
    arguments = (*COMPARE, *options(files), "--classes", files / "comparison.md")
    assert "comparison.md would replace an input file" in refuse(*arguments, "--out", files, "--overwrite")


@pytest.mark.parametrize("link", [os.link, os.symlink])
@pytest.mark.parametrize("input_is_the_link", [False, True])
def test_an_input_is_known_by_any_of_its_names(refuse, files, link, input_is_the_link):
    (files / "out").mkdir()
    ends = [files / "features.csv", files / "out" / "scores.csv"]
    if input_is_the_link:
        ends[0].rename(ends[1])
        ends.reverse()
    link(*ends)
    message = refuse(*SELECT, *options(files), "--out", files / "out", "--overwrite")
    assert "scores.csv would replace an input file" in message


def test_a_configuration_is_not_replaced_by_a_reproduction(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "small.toml").write_text("seed = 1")
    (tmp_path / "out" / "config.json").symlink_to(tmp_path / "small.toml")
    arguments = ("reproduce", "all", "--config", tmp_path / "small.toml", "--out", tmp_path / "out", "--overwrite")
    assert "config.json would replace an input file" in run(*arguments).stderr


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (SELECT, "report.html"),
        (SELECT, "run.json"),
        ((*SELECT, "--save-matrix"), "matrix.csv"),
        (MORAN, "selected.csv"),
        (COMPARE, "comparison.md"),
    ],
)
def test_a_file_of_somebody_else_is_replaced_only_if_asked_for(run, refuse, files, command, name):
    out = files / "out"
    out.mkdir()
    (out / name).write_text("mine")
    message = refuse(*command, *options(files), "--out", out)
    assert f"did not write: {name}; name another folder, or" in message
    assert "--overwrite" in message
    assert run(*command, *options(files), "--out", out, "--overwrite").exit_code == 0
    assert (out / name).read_bytes() != b"mine"


def test_a_folder_is_used_again_by_the_same_and_by_another_command(run, files):
    for command in (SELECT, MORAN, COMPARE, SELECT, (*SELECT, "--save-matrix"), COMPARE):
        result = run(*command, *options(files), "--out", files / "out")
        assert result.exit_code == 0, result.stderr


def test_results_are_replaced_even_if_they_were_changed_or_lead_nowhere(run, files):
    out = files / "out"
    run(*MORAN, *options(files), "--out", out)
    first = contents(out)
    (out / "nodes.csv").write_text("changed")
    (out / "scores.csv").unlink()
    (out / "scores.csv").symlink_to(files / "nowhere")
    assert run(*MORAN, *options(files), "--out", out).exit_code == 0
    assert contents(out) == first


def test_a_folder_is_named_by_a_link_that_leads_nowhere_yet_or_through_a_new_folder(run, files):
    (files / "link").symlink_to(files / "target")
    for out, target in ((files / "link", files / "target"), (files / "new" / "..", files)):
        result = run(*MORAN, *options(files), "--out", out)
        assert (result.exit_code, result.stderr) == (0, "")
        assert (target / "run.json").is_file()
    assert not (files / "new").exists()


@pytest.mark.parametrize(
    "record", [None, b"", b"[]", b"3", b"{}", b'{"versions": 3}', b'{"versions": {"numpy": "2.0"}}', b"\xff", b"{"]
)
def test_a_folder_is_ours_only_by_a_run_json_of_blockselect(run, refuse, files, record):
    out = files / "out"
    run(*MORAN, *options(files), "--out", out)
    if record is None:
        (out / "run.json").unlink()
    else:
        (out / "run.json").write_bytes(record)
    message = refuse(*MORAN, *options(files), "--out", out)
    assert (
        f"did not write: report.html, selected.csv, scores.csv and {1 if record is None else 2} more; name" in message
    )
    assert run(*MORAN, *options(files), "--out", out, "--overwrite").exit_code == 0
    assert run(*MORAN, *options(files), "--out", out).exit_code == 0
