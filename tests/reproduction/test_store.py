"""The store: what is kept, what is refused, and that processes may share it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from blockselect.reproduction.store import Store

MARKS = {"seed": 0, "tops": (16, 64)}
OPEN_AND_ADD = """
import sys
from pathlib import Path
from blockselect.reproduction.store import Store

with Store(Path(sys.argv[1]), {"seed": 0, "tops": (16, 64)}) as store:
    for number in range(50):
        store.add(f"{number:02d}", "numbers", [{"number": number}])
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "trials.sqlite"


def test_rows_are_there_after_the_store_was_closed(path):
    with Store(path, MARKS) as store:
        store.add("b", "numbers", [{"x": 0.1 + 0.2, "y": None}, {"x": 2}])
        store.add("a", "numbers", [{"x": 3}])
        store.add("c", "others", [{"x": 4}])
    with Store(path, MARKS) as store:
        assert store.rows("numbers") == [{"x": 3}, {"x": 0.1 + 0.2, "y": None}, {"x": 2}]
        assert store.get("c") == [{"x": 4}]
        assert store.get("d") is None
        assert (store.has("a"), store.has("d")) == (True, False)


def test_rows_are_on_the_disk_before_the_store_is_closed(path):
    store = Store(path, MARKS)
    store.add("a", "numbers", [{"x": 1}])
    other = sqlite3.connect(path)
    assert other.execute("SELECT count(*) FROM trials").fetchone() == (1,)
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()
    store.close()


def test_the_first_rows_of_a_key_stay(path):
    with Store(path, MARKS) as store:
        store.add("a", "numbers", [{"x": 1}])
        store.add("a", "numbers", [{"x": 2}])
        assert store.get("a") == [{"x": 1}]


def test_another_configuration_is_refused_and_named(path):
    with Store(path, MARKS) as store:
        store.add("a", "numbers", [{"x": 1}])
    with pytest.raises(ValueError, match="another configuration, which differs in tops; choose another folder"):
        Store(path, {**MARKS, "tops": (16,)})
    with Store(path, MARKS) as store:
        assert store.has("a")


def test_a_file_of_something_else_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(ValueError, match="is no store of rows"):
        Store(path, MARKS)
    assert path.read_bytes() == b"not a database" * 100


def test_failed_trials_are_forgotten_and_others_kept(path):
    with Store(path, MARKS) as store:
        store.add("a", "numbers", [{"error": "ValueError: no"}])
        store.add("b", "numbers", [{"error": None}])
        assert store.forget_failures() == 1
        assert (store.has("a"), store.has("b")) == (False, True)


def test_processes_that_make_and_fill_the_same_store_at_once_lose_nothing(path):
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN_AND_ADD, str(path)], stderr=subprocess.PIPE) for _ in range(3)
    ]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    with Store(path, MARKS) as store:
        assert store.rows("numbers") == [{"number": number} for number in range(50)]
