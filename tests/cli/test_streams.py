"""Streams that are closed or full: at most one line of error, the right exit code, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from terminal import without_stages

COMMAND = f"{sys.executable} -m blockselect.cli.main"
NO_SPACE = "error: stdout: No space left on device; redirect the output elsewhere, or write files with --out.\n"
CLOSED = NO_SPACE.replace("No space left on device", "Bad file descriptor")

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.mark.parametrize(
    ("command", "code", "stdout", "stderr"),
    [
        ("{} --help >/dev/full", 2, "", NO_SPACE),
        ("{} --version >/dev/full", 2, "", NO_SPACE),
        ("{} datasets list >&-", 2, "", CLOSED),
        ("{} --help >/dev/full 2>&-", 2, "", ""),
        ("{} nowhere 2>&-", 2, "", ""),
        ("{} nowhere 2>/dev/full", 2, "", ""),
        ("{} --version <&- 2>&-", 0, "blockselect ", ""),
        ("{} --version <&- >&- 2>&-", 2, "", ""),
    ],
)
def test_a_stream_that_cannot_be_written_is_no_traceback(command, code, stdout, stderr):
    done = subprocess.run(["sh", "-c", command.format(COMMAND)], capture_output=True, text=True, check=False)
    assert (done.returncode, without_stages(done.stderr)) == (code, stderr)
    assert done.stdout.startswith(stdout)
    assert bool(done.stdout) == bool(stdout)


def test_a_selection_is_written_with_closed_streams_and_not_lost_without_a_word(network, tmp_path):
    select = f"{COMMAND} select --method variance {' '.join(network.options)} --top 3"
    done = subprocess.run(["sh", "-c", f"{select} --out {tmp_path}/out 2>&-"], capture_output=True, check=False)
    assert done.returncode == 0
    assert (tmp_path / "out" / "run.json").is_file()
    done = subprocess.run(["sh", "-c", f"{select} --json >&-"], capture_output=True, text=True, check=False)
    assert (done.returncode, without_stages(done.stderr)) == (2, CLOSED)


def test_a_reader_that_goes_away_ends_the_command_without_a_word():
    done = subprocess.run(
        ["sh", "-c", f"{{ {COMMAND} --help; echo code $? >&2; }} | true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert without_stages(done.stderr) in ("code 0\n", "code 1\n")  # 0 if all was written before the reader ended


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of files are text here")
def test_names_that_stdout_cannot_show_are_shown_in_part(network, tmp_path):
    """Names of a folder and a file that are not valid UTF-8 and contain an escape character."""
    features = os.fsencode(tmp_path) + b"/fe\xff\x1b[31m.csv"
    with open(features, "wb") as file:
        file.write(network.features.read_bytes())
    given = ["--features", features, "--graph", network.edges, "--methods", "variance", "--top", "3", "--runs", "1"]
    done = subprocess.run(
        [*COMMAND.split(), "compare", *given, "--out", os.fsencode(tmp_path) + b"/o\xff"],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii:strict"},
    )  # fmt: skip
    assert (done.returncode, without_stages(done.stderr.decode())) == (0, "")
    assert b"/o?/comparison.html; also in this folder: " in done.stdout
    with open(os.fsencode(tmp_path) + b"/o\xff/comparison.md", encoding="utf-8") as page:
        assert page.readline() == "# Comparison on fe??[31m.csv with edges.csv\n"


def test_a_message_shows_no_character_that_steers_a_terminal(tmp_path):
    (tmp_path / "e\x1b[31mvil.csv").write_text("")
    arguments = ["select", "--features", tmp_path / "e\x1b[31mvil.csv", "--graph", tmp_path / "no.csv", "--json"]
    (tmp_path / "no.csv").write_text("")
    done = subprocess.run([*COMMAND.split(), *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("e?[31mvil.csv is empty; check how it was written.\n")


def test_a_backend_for_pictures_that_does_not_exist_is_no_matter(network, tmp_path):
    done = subprocess.run(
        [*COMMAND.split(), "select", *network.options, "--top", "3", "--blocks", "3", "--set", "n_candidates=2",
         "--resamples", "0", "--out", tmp_path / "out"],
        capture_output=True, text=True, check=False, env={**os.environ, "MPLBACKEND": "nonsense"},
    )  # fmt: skip
    assert (done.returncode, without_stages(done.stderr)) == (0, "")
    assert (tmp_path / "out" / "overview.png").exists()
