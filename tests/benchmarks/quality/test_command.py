"""What commands share: a limit of time, and files in a folder."""

from __future__ import annotations

import time

import pytest

from benchmarks.quality.command import time_limit, write_files


def test_what_takes_too_long_is_stopped_and_what_comes_after_is_not():
    with pytest.raises(TimeoutError, match=r"took more than 0\.05 seconds"), time_limit(0.05):
        time.sleep(5)
    time.sleep(0.1)


def test_files_are_written_with_the_folders_they_need(tmp_path):
    write_files(tmp_path, {"a/b.txt": b"x", "c.txt": b"y"})
    assert [(tmp_path / name).read_bytes() for name in ("a/b.txt", "c.txt")] == [b"x", b"y"]
