"""The command as a process of its own: entry, version, help, reproducibility, progress, Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import blockselect
from terminal import interrupt_on_terminal

QUICK = ("--blocks", "3", "--top", "5", "--max-iter", "40")
COMMAND = (sys.executable, "-m", "blockselect.cli.main")


def blockselect_process(*arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, **options)


def test_version_is_the_packages_own(run):
    assert run("--version").stdout == f"blockselect {blockselect.__version__}\n"


def test_help_is_shown_when_nothing_is_asked(run):
    result = run()
    assert result.exit_code == 0
    assert "select" in result.stdout
    assert "Usage" in result.stdout


def test_a_process_writes_the_same_bytes_as_a_call(run, network, tmp_path):
    options = ["select", *network.options, *QUICK]
    done = blockselect_process(*options, "--out", str(tmp_path / "process"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress bar where stderr is no terminal
    assert "wrote " in done.stdout
    run(*options, "--out", tmp_path / "call")
    for path in (tmp_path / "call").iterdir():
        assert (tmp_path / "process" / path.name).read_bytes() == path.read_bytes()


def test_bad_input_ends_a_process_with_two_and_one_line(tmp_path):
    done = blockselect_process("select", "--dataset", "cor", "--out", "results", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    known = "blogcatalog, citeseer, cora, cora-planetoid"
    assert done.stderr == f"error: there is no data set 'cor'; known are: {known}. Did you mean cora?\n"
    assert list(tmp_path.iterdir()) == []


def test_help_does_not_wait_for_matplotlib():
    code = "import sys, blockselect.cli.main; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_ctrl_c_in_a_call_is_one_line_and_leaves_nothing(run, network, tmp_path, monkeypatch):
    def interrupted(self, *args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(blockselect.BlockModelSelector, "fit", interrupted)
    result = run("select", *network.options, "--out", tmp_path / "out")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "interrupted.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals to open here")
def test_progress_is_drawn_on_a_terminal_and_ctrl_c_stops_the_process(network, tmp_path):
    endless = ["select", *network.options, "--max-iter", "1000000", "--tol", "0", "--out", tmp_path / "out"]
    code, stdout, shown = interrupt_on_terminal(endless, once_shown=b"scoring features")
    assert (code, stdout) == (130, b"")
    assert b"Traceback" not in shown
    assert list(tmp_path.iterdir()) == []
