"""Streams that are closed, full or cut off: one line at most, the right exit code, and no traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMAND = f"{sys.executable} -m blockselect.cli.main"
NO_SPACE = "error: stdout: No space left on device; send it to another place, or write files with --out.\n"

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.mark.parametrize(
    ("command", "code", "stdout", "stderr"),
    [
        ("{} --help >/dev/full", 2, "", NO_SPACE),
        ("{} --version >/dev/full", 2, "", NO_SPACE),
        ("{} --help >&-", 2, "", NO_SPACE.replace("No space left on device", "Bad file descriptor")),
        ("{} --help >/dev/full 2>&-", 2, "", ""),
        ("{} nowhere 2>&-", 2, "", ""),
        ("{} nowhere 2>/dev/full", 2, "", ""),
        ("{} --version <&- 2>&-", 0, "blockselect ", ""),
        ("{} --version <&- >&- 2>&-", 2, "", ""),
    ],
)
def test_a_stream_that_cannot_be_written_is_no_traceback(command, code, stdout, stderr):
    done = subprocess.run(["sh", "-c", command.format(COMMAND)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, stderr)
    assert done.stdout.startswith(stdout)
    assert bool(done.stdout) == bool(stdout)


def test_a_reader_that_goes_away_ends_the_command_without_a_word():
    done = subprocess.run(
        ["sh", "-c", f"{{ {COMMAND} --help; echo code $? >&2; }} | true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr in ("code 0\n", "code 1\n")  # 0 where all was written before the reader went


def test_a_backend_for_pictures_that_does_not_exist_is_no_matter(network, tmp_path):
    done = subprocess.run(
        [*COMMAND.split(), "select", *network.options, "--top", "3", "--blocks", "3", "--candidates", "2",
         "--resamples", "0", "--max-iter", "2", "--out", tmp_path / "out"],
        capture_output=True, text=True, check=False, env={**os.environ, "MPLBACKEND": "nonsense"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "overview.png").exists()
