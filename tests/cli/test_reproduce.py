"""`blockselect reproduce`: bad input, the files, and runs that are killed, stopped and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from blockselect.cli.reproduce import parse_experiments
from blockselect.reproduction.experiments import EXPERIMENTS
from terminal import IMPATIENT, without_stages

COMMAND = (sys.executable, "-m", "blockselect.cli.main", "reproduce")
SETTINGS = {
    "seed": "0",
    "datasets": '["cora"]',
    "tops": "[8]",
    "methods": '["variance"]',
    "kmeans_runs": "4",
    "kmeans_init": "2",
    "n_candidates": "3",
    "profile_ratio": "0.6",
    "max_iter": "15",
    "gradient": '"paper"',
    "sparsities": "[0.0, 20.0]",
    "surface_datasets": '["cora"]',
    "surface_ratios": "[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]",
    "surface_top": "8",
    "perturbed_shares": "[0.05]",
    "perturbation_repeats": "3",
    "convergence_ratios": "[0.4, 0.6]",
    "convergence_sparsity": "2.0",
}
EXPERIMENT = "parameters"  # one descent, whose settings are then clustered in trials of their own


def write_config(folder: Path, **changes: str) -> Path:
    path = folder / "small.toml"
    path.write_text("\n".join(f"{name} = {value}" for name, value in {**SETTINGS, **changes}.items()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    return write_config(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="module")
def undisturbed(config, tmp_path_factory) -> dict[str, bytes]:
    """The files of a run that was not interrupted."""
    out = tmp_path_factory.mktemp("undisturbed")
    done = subprocess.run([*COMMAND, EXPERIMENT, *options(config, out)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert without_stages(done.stderr) == ""
    assert "start with" in done.stdout
    return files(out)


def options(config: Path, out: Path) -> list[str]:
    return ["--config", str(config), "--out", str(out)]


def files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and out / "trials" not in path.parents
    }


def kept(out: Path) -> int:
    """Number of trials that are stored so far."""
    return len(list((out / "trials").glob("*/*.json")))


def start(config: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, EXPERIMENT, *options(config, out), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that its workers can be killed with it
    )


def end_midway(process: subprocess.Popen[str], out: Path, how: signal.Signals) -> tuple[str, str]:
    """Wait until some trials are stored, then send a signal to the process and its workers."""
    while kept(out) < 4 and process.poll() is None:
        time.sleep(0.002)
    os.killpg(process.pid, how)
    return process.communicate()


def test_a_killed_run_goes_on_and_ends_with_the_same_files(config, undisturbed, tmp_path):
    process = start(config, tmp_path, "--workers", "2")
    end_midway(process, tmp_path, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert files(tmp_path) == {}
    before = kept(tmp_path)
    assert before >= 4
    resumed = subprocess.run([*COMMAND, EXPERIMENT, *options(config, tmp_path)], capture_output=True, check=False)
    assert resumed.returncode == 0, resumed.stderr
    assert files(tmp_path) == undisturbed
    assert kept(tmp_path) > before


def test_ctrl_c_ends_cleanly_and_keeps_what_came(config, tmp_path):
    process = start(config, tmp_path, "--workers", "2")
    stdout, stderr = end_midway(process, tmp_path, signal.SIGINT)
    assert process.returncode == 128 + signal.SIGINT
    assert stdout == ""
    expected = "finished trials are kept; the same command resumes the run.\ninterrupted.\n"
    assert without_stages(stderr) == expected
    assert kept(tmp_path) >= 4


def test_everything_is_written(run, tmp_path):
    config = write_config(tmp_path, kmeans_runs="1", kmeans_init="1", surface_ratios="[0.4, 0.6]")
    result = run("reproduce", "all", "--config", config, "--out", tmp_path / "out", "--quiet")
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    experiments = ("datasets", "effectiveness", "perturbation", "block-models", "parameters", "convergence")
    expected = {f"figures/{name}.{kind}" for name in experiments for kind in ("svg", "png", "pdf")}
    expected |= {f"rows/{name}.csv" for name in (*experiments, "clusterings")}
    assert files(tmp_path / "out").keys() == expected | {"claims.md", "claims.html", "config.json", "run.json"}


def test_an_experiment_joins_those_that_are_in_the_folder(run, tmp_path):
    config = write_config(tmp_path)
    run("reproduce", "datasets", *options(config, tmp_path / "out"))
    assert "figures/perturbation.svg" not in files(tmp_path / "out")
    result = run("reproduce", "perturbation", *options(config, tmp_path / "out"))
    assert {"figures/datasets.svg", "figures/perturbation.svg"} <= files(tmp_path / "out").keys()
    assert "the experiment effectiveness was not run" in " ".join(result.stdout.split())


def test_a_failing_trial_is_told_and_run_again_when_asked(run, tmp_path, monkeypatch):
    from blockselect.reproduction import experiments

    def broken(name):
        raise MemoryError("no room")

    config = write_config(tmp_path)
    names = "datasets,convergence"
    with monkeypatch.context() as patch:
        patch.setattr(experiments, "count_network", broken)
        result = run("reproduce", names, *options(config, tmp_path / "out"))
        assert result.exit_code == 0
        assert result.stderr == "failed: datasets: cora: MemoryError: no room (in broken)\n"
        alone = run("reproduce", "datasets", *options(config, tmp_path / "alone"))
        assert alone.exit_code == 1
    assert "MemoryError: no room" in (tmp_path / "out" / "rows" / "datasets.csv").read_text()
    assert "MemoryError: no room" in (tmp_path / "out" / "claims.md").read_text()
    still = run("reproduce", names, *options(config, tmp_path / "out"))
    assert "failed: datasets" in still.stderr
    mended = run("reproduce", names, *options(config, tmp_path / "out"), "--retry-failed")
    assert (mended.exit_code, mended.stderr) == (0, "")


def refused(result, tmp_path, message: str) -> bool:
    return (
        result.exit_code == 2
        and result.stdout == ""
        and result.stderr.startswith("error: ")
        and message in result.stderr
        and not (tmp_path / "out").exists()
    )


def test_all_experiments_are_all_whatever_else_is_named():
    assert parse_experiments("datasets, all") == parse_experiments("all") == list(EXPERIMENTS)
    assert parse_experiments("effectiveness,datasets") == ["datasets", "effectiveness"]


def test_a_configuration_that_is_not_there_is_refused(run, tmp_path):
    result = run("reproduce", "all", "--config", "papers", "--out", tmp_path / "out")
    assert refused(result, tmp_path, "no configuration 'papers'")
    result = run("reproduce", "all", "--config", tmp_path / "none.toml", "--out", tmp_path / "out")
    assert refused(result, tmp_path, "none.toml: No such file")


def test_networks_that_are_not_here_are_refused_and_it_says_how_to_get_them(run, tmp_path, monkeypatch):
    monkeypatch.delenv("BLOCKSELECT_DATA", raising=False)
    monkeypatch.setenv("BLOCKSELECT_CACHE", str(tmp_path / "cache"))
    result = run("reproduce", "all", "--config", "paper", "--out", tmp_path / "out")
    assert refused(result, tmp_path, "run 'blockselect datasets fetch blogcatalog', or set BLOCKSELECT_DATA")


def test_a_folder_of_another_configuration_is_refused_and_left_as_it_is(run, tmp_path):
    out = tmp_path / "out"
    run("reproduce", "datasets", *options(write_config(tmp_path), out))
    before = files(out)
    result = run("reproduce", "datasets", *options(write_config(tmp_path, seed="1"), out))
    assert result.exit_code == 2
    assert "contains rows from another configuration or version; the difference is in seed" in result.stderr
    assert files(out) == before


def test_a_long_run_shows_its_progress_where_there_is_no_terminal(config, tmp_path):
    command = [sys.executable, "-c", IMPATIENT, "reproduce", "datasets,convergence", *options(config, tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    stages = [line.rstrip(" .") for line in done.stderr.splitlines()]
    shown = ["0 of 2 trials", "1 of 2 trials", "2 of 2 trials"]
    assert [stage for stage in stages if stage in shown] == shown[: len(stages) - 2]
    assert (stages[0], stages[-1]) == ("loading blockselect", "drawing the figures")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals to open here")
def test_progress_is_drawn_on_a_terminal(config, tmp_path):
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, EXPERIMENT, *options(config, tmp_path)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    try:
        while b"1/" not in shown:
            shown += os.read(ours, 1024)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(OSError):  # the other end is closed
            while os.read(ours, 1024):
                pass
        process.communicate()
        os.close(ours)
    assert b"trials" in shown
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes cannot be listed here")
def test_a_worker_that_is_ended_from_outside_is_told_and_what_came_is_kept(config, tmp_path):
    process = start(config, tmp_path, "--workers", "2")
    while kept(tmp_path) < 2 and process.poll() is None:
        time.sleep(0.002)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    workers = [int(child) for child in children if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes()]
    os.kill(workers[0], signal.SIGKILL)
    stdout, stderr = process.communicate()
    assert (process.returncode, stdout) == (2, "")
    expected = "error: A worker process managed by the executor was unexpectedly terminated."
    assert without_stages(stderr).startswith(expected)
    assert kept(tmp_path) >= 2
