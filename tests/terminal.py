"""Run the command on a pseudo-terminal, and press Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

IMPATIENT = (  # runs the command without the usual delay before progress is shown
    "from blockselect.cli.waiting import waiting; waiting.patience = 0.01\n"
    "from blockselect.cli.main import main; main()"
)


def without_stages(stderr: str) -> str:
    """The stderr of a command without the progress lines of slow commands."""
    return re.sub(r"^([^.\n]+ \.\.)?\.+\n?", "", stderr, flags=re.MULTILINE)


def interrupt_on_terminal(arguments, once_shown: bytes) -> tuple[int, bytes, bytes]:
    """Start `blockselect`, press Ctrl-C once a text is shown, and return the exit code, stdout and terminal output."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "blockselect.cli.main", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(theirs)
        try:
            shown = b""
            while once_shown not in shown:
                shown += os.read(ours, 1024)
            process.send_signal(signal.SIGINT)
            while b"interrupted." not in shown:
                shown += os.read(ours, 1024)
            stdout, _ = process.communicate()
        finally:
            process.kill()
            os.close(ours)
    return process.returncode, stdout, shown
