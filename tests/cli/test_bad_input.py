"""Bad input is one clear line on stderr, exit code 2, and nothing written."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

HUGE = "9" * 20  # more than any machine can count to
QUICK = ("--top", 3, "--blocks", 3, "--set", "n_candidates=2", "--resamples", 0)


@pytest.fixture
def refuse(run, tmp_path):
    """Run with --out, check that nothing was left behind, and return the error message."""

    def invoke(*arguments, out="results"):
        before = sorted(tmp_path.rglob("*"))
        result = run("select", *arguments, "--out", tmp_path / out)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.stderr
        assert sorted(tmp_path.rglob("*")) == before
        return result.stderr

    return invoke


def test_one_way_to_name_the_network_is_needed(refuse, network):
    assert "either --dataset NAME or --features FILE" in refuse("--top", 3)
    assert ", not both" in refuse("--dataset", "cora", *network.options)
    assert "--graph can only be used with --features" in refuse("--dataset", "cora", "--graph", network.edges)
    assert "edges.csv contains no features; name a file of features too" in refuse("--graph", network.edges)


@pytest.mark.parametrize("with_graph", [True, False])
def test_a_cell_that_is_neither_a_number_nor_text_is_named(refuse, tmp_path, with_graph):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"red": [[1, 2]] * 3}, index=["a", "b", "c"]).to_parquet(tmp_path / "f.parquet")
    (tmp_path / "e.csv").write_text("source,target\na,b\n")
    message = refuse("--features", tmp_path / "f.parquet", *(("--graph", tmp_path / "e.csv") if with_graph else ()))
    assert "f.parquet" in message
    assert "column 'red'" in message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("option", ["--features", "--graph", "--node-ids", "--feature-names", "--classes", "--config"])
def test_a_pipe_is_no_file_and_nothing_waits_for_it(run, network, tmp_path, option):
    pipe = tmp_path / ("pipe.toml" if option == "--config" else "pipe.csv")
    os.mkfifo(pipe)
    commands = {"--classes": ("compare", "--top", 3), "--config": ("reproduce", "all")}
    given = dict(zip(network.options[::2], network.options[1::2], strict=True)) if option != "--config" else {}
    arguments = [str(part) for pair in ({**given, option: pipe}).items() for part in pair]
    result = run(*commands.get(option, ("select",)), *arguments, "--out", tmp_path / "out")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert pipe.name in result.stderr
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("error", [MemoryError(), OSError(24, "Too many open files", "letters.ttf")])
def test_what_runs_out_while_the_report_is_drawn_is_one_line(refuse, network, monkeypatch, error):
    def drawn(*arguments, **options):
        raise error

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", drawn)
    assert refuse(*network.options, *QUICK).startswith(
        "error: not enough memory (no size given); drop features first"
        if isinstance(error, MemoryError)
        else "error: letters.ttf: Too many open files."
    )


def test_missing_and_unknown_files_are_named(refuse, network, tmp_path):
    assert "'--features'" in refuse("--features", "nowhere.csv")
    assert "'--graph'" in refuse("--features", network.features, "--graph", "nowhere.csv")
    (tmp_path / "features.pkl").write_text("x")
    assert "features.pkl" in refuse("--features", tmp_path / "features.pkl")
    assert "'--features'" in refuse("--features", tmp_path)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--top", "0"),
        ("--top", "-3"),
        ("--top", "1.5"),
        ("--top", "1.0"),
        ("--top", "nan"),
        ("--top", "many"),
        ("--blocks", "0"),
        ("--blocks", "three"),
        ("--block-model", "sbm"),
        ("--neighbors", "0"),
        ("--resamples", "2"),
        ("--resamples", "-1"),
        ("--resamples", HUGE),
        ("--seed", "-1"),
        ("--seed", "4294967296"),
        ("--jobs", "many"),
        ("--jobs", HUGE),
    ],
)
def test_bad_value_is_refused_by_the_name_of_its_option(refuse, network, option, value):
    assert option in refuse(*network.options, option, value)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--top", 0), "--top must be a whole number of at least 1, a number between 0 and 1 or auto. Got 0 instead."),
        (("--top", 31), "--top is 31 but there are 30 features; choose 1 to 30."),
        (("--blocks", 61), "--blocks is 61 but the graph has 60 nodes; choose 1 to 60."),
        (("--blocks", 2.5), "--blocks must be auto or a whole number of at least 1. Got 2.5 instead."),
        (("--seed", -1), "--seed must be a whole number from 0 to 4294967295. Got -1 instead."),
        (("--jobs", 0), "a whole number of at most -1 or a whole number of at least 1. Got 0 instead."),
        (("--paper",), "choose a number, or pass your blocks as --block-model."),
        (("--paper", "--blocks", "auto"), "--blocks must be a whole number of at least 1. Got 'auto' instead."),
        (("--paper", "--blocks", 3, "--set", "profile_ratio=2"), "must be a number from 0 to 1. Got 2 instead."),
        (("--paper", "--blocks", 3, "--set", "solver__memory_limit=0"), "must be a number above 0. Got 0 instead."),
        (("--paper", "--block-model", "mixed"), "--block-model must be a file of labels. Got 'mixed' instead."),
    ],
)
def test_what_an_option_takes_is_said_without_words_of_python(refuse, network, options, complaint):
    assert complaint in refuse(*network.options, *options)


@pytest.mark.parametrize(
    ("method", "name", "values"),
    [
        ("block-model", "n_candidates", ("0", HUGE, "many")),
        ("block-model", "max_blocks", ("1", "2.0", "None")),
        ("block-model", "binarize", ("maybe", "yes", "")),
        ("bmgufs", "profile_ratio", ("1.1", "nan", "-0.1")),
        ("bmgufs", "sparsity", ("-1", "inf", "none", "9" * 400)),
        ("bmgufs", "device", ("nonsense",)),
        ("bmgufs", "solver__gradient", ("approximate",)),
        ("bmgufs", "solver__max_iter", ("0", HUGE)),
        ("bmgufs", "solver__tol", ("-1", "nan")),
        ("bmgufs", "solver__dtype", ("int8",)),
        ("bmgufs", "solver__memory_limit", ("0", "inf", "1")),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_parameter(refuse, network, method, name, values):
    for value in values:
        complaint = refuse(*network.options, "--method", method, "--blocks", 3, "--set", f"{name}={value}")
        assert name.removeprefix("solver__") in complaint


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--set", "refine"), "--set is 'refine'; expected a parameter and its value, such as refine=False."),
        (("--set", "=3"), "--set is '=3'; expected"),
        (("--set", "n_blocks=3"), "--set cannot be used for n_blocks, which has its own option; use --blocks."),
        (("--set", "n_features_to_select=3"), "use --top."),
        (("--set", "random_state=3"), "use --seed."),
        (("--set", "block_model=onmtf"), "use --block-model."),
        (
            ("--set", "max_iter=5"),
            "no parameter of block-model is called 'max_iter'; choose one of: max_blocks, n_candidates, refine, "
            "binarize.",
        ),
        (
            ("--paper", "--blocks", 3, "--set", "refine=True"),
            "no parameter of bmgufs is called 'refine'; choose one of: ",
        ),
        (("--paper", "--blocks", 3, "--set", "max_iter=5"), "Did you mean solver__max_iter?"),
        (("--paper", "--blocks", 3, "--set", "solver__steps=5"), "no parameter of bmgufs is called 'solver__steps'"),
    ],
)
def test_what_cannot_be_set_is_refused_with_what_can(refuse, network, options, complaint):
    assert complaint in refuse(*network.options, *options)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--top", "auto", "--block-model", "smoothed"), "--block-model is"),
        (("--paper", "--blocks", 3, "--top", "auto"), "--top must be"),
        (("--paper", "--blocks", 3, "--resamples", 1), "--resamples is 1, which is too few"),
        (("--neighbors", 5), "--neighbors cannot be combined with a graph; leave out one of them."),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(refuse, network, options, complaint):
    assert complaint in refuse(*network.options, *options)


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        (("--top", "auto"), "pass a graph, or request a number of features."),
        (("--paper", "--blocks", 3), "name a file of links, or link nearest neighbours with --neighbors N."),
    ],
)
def test_a_missing_graph_is_refused_where_neighbours_are_no_substitute(refuse, network, options, cure):
    complaint = refuse("--features", network.features, *options)
    assert "--graph is not given" in complaint
    assert cure in complaint


@pytest.mark.parametrize("device", ["nonsense", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(refuse, network, device):
    pytest.importorskip("torch")
    refuse(*network.options, "--paper", "--blocks", 3, "--set", f"device={device}")


def test_a_graph_without_links_is_refused_by_its_file(refuse, network, tmp_path):
    np.save(tmp_path / "graph.npy", np.zeros((60, 60)))
    complaint = refuse("--features", network.features, "--graph", tmp_path / "graph.npy")
    assert "graph.npy" in complaint
    assert "has no link" in complaint


def test_a_graph_that_is_not_square_is_refused_with_its_shape(refuse, network, tmp_path):
    np.save(tmp_path / "graph.npy", np.ones((60, 20)))
    complaint = refuse("--features", network.features, "--graph", tmp_path / "graph.npy")
    assert "has shape (60, 20); expected a square matrix with one row and column per node." in complaint


@pytest.mark.parametrize("option", ["--weight", "--id-column"])
def test_a_column_called_error_is_a_name_as_any_other(refuse, network, option):
    assert "'error'" in refuse(*network.options, option, "error")


def test_negative_features_are_named(refuse, network, tmp_path):
    lines = network.features.read_text().splitlines()
    lines[5] = "n4,-1" + lines[5][lines[5].index(",", 3) :]
    (tmp_path / "negative.csv").write_text("\n".join(lines))
    for graph in ((), ("--graph", network.edges)):
        message = refuse("--features", tmp_path / "negative.csv", *graph)
        assert "negative.csv" in message
        assert "node 'n4', feature 'gene_0'" in message


def test_ids_that_do_not_match_are_shown(refuse, network, tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text(network.edges.read_text().replace("n7,", "stranger,"))
    assert "stranger" in refuse("--features", network.features, "--graph", edges)


def test_a_file_where_the_folder_should_be_is_refused_and_kept(refuse, network, tmp_path):
    (tmp_path / "taken").write_text("mine")
    for out in ("taken", "taken/inside"):
        assert "is a file" in refuse(*network.options, out=out)
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_folder_where_a_file_should_be_is_refused(refuse, network, tmp_path):
    (tmp_path / "out" / "run.json").mkdir(parents=True)
    for more in ((), ("--overwrite",)):
        complaint = refuse(*network.options, *more, out="out")
        assert "run.json' is a folder, but a file has to be written there; name another --out." in complaint


@pytest.mark.parametrize("command", [("select",), ("compare",), ("reproduce", "all")])
def test_an_empty_name_of_the_folder_is_refused(run, command):
    result = run(*command, "--out", "")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "error: --out is empty; name a folder (. is the current folder).\n"


def test_a_node_with_a_label_and_an_empty_row_is_refused(refuse, network, tmp_path):
    rows = "".join(f"n{node},a\n" for node in range(60))
    (tmp_path / "labels.csv").write_text(f"id,label\n{rows}n7,\n")
    complaint = refuse(*network.options, "--labels", tmp_path / "labels.csv")
    assert "1 id(s) have no label, several labels or no matching node, such as ['n7']" in complaint


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(refuse, network, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "not writable" in refuse(*network.options, out="locked/out")


def test_a_folder_reported_as_not_writable_is_refused_before_any_work(refuse, network, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    empty = tmp_path / "empty.csv"  # would be another error if it were read
    empty.write_text("")
    assert "not writable" in refuse("--features", empty, "--graph", network.edges)


def test_a_disk_that_fills_up_leaves_nothing(refuse, network, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in refuse(*network.options, *QUICK, out="a/b")


@pytest.mark.parametrize("said", ["Unable to allocate 400 GiB", ""])
def test_too_little_memory_within_a_fit_is_said_once(refuse, network, monkeypatch, said):
    def out_of_memory(*args, **options):
        raise MemoryError(said)

    monkeypatch.setattr(np.linalg, "eigh", out_of_memory)
    expected = f"not enough memory ({said or 'no size given'}); drop features first (for example by variance)."
    assert expected in refuse(*network.options)


def test_a_bug_is_not_dressed_up_as_bad_input(run, network, tmp_path, monkeypatch):
    def broken(*args, **options):
        raise KeyError("selected")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", broken)
    with pytest.raises(KeyError):
        run("select", *network.options, *QUICK, "--out", tmp_path / "out")
