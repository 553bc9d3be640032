"""The store keeps rows, rejects rows of other configurations, and can be shared by processes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from blockselect.reproduction.store import Store

MARKS = {"seed": 0, "tops": (16, 64)}
OPEN_AND_ADD = """
import sys
from pathlib import Path
from blockselect.reproduction.store import Store

store = Store(Path(sys.argv[1]), {"seed": 0, "tops": (16, 64)})
for number in range(50):
    store.add(f"numbers/{number:02d}", [{"number": number}])
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "trials"


@pytest.fixture
def store(folder):
    return Store(folder, MARKS)


def test_rows_are_there_for_the_next_process(folder, store):
    store.add("numbers/b", [{"x": 0.1 + 0.2, "y": None}, {"x": 2}])
    store.add("numbers/a", [{"x": 3}])
    store.add("others/c", [{"x": 4}])
    again = Store(folder, MARKS)
    assert again.rows("numbers") == [{"x": 3}, {"x": 0.1 + 0.2, "y": None}, {"x": 2}]
    assert again.get("others/c") == [{"x": 4}]
    assert again.get("others/d") is None
    assert (again.has("numbers/a"), again.has("others/d")) == (True, False)
    assert again.rows("unknown") == []


def test_another_configuration_is_refused_and_named(folder, store):
    store.add("numbers/a", [{"x": 1}])
    with pytest.raises(ValueError, match=r"another configuration or version; .* in tops\. Choose another folder"):
        Store(folder, {**MARKS, "tops": (16,)})
    assert Store(folder, MARKS).has("numbers/a")


def test_failed_trials_are_forgotten_and_others_kept(store):
    store.add("numbers/a", [{"error": "ValueError: no"}])
    store.add("numbers/b", [{"error": None}])
    store.forget_failures()
    assert (store.has("numbers/a"), store.has("numbers/b")) == (False, True)


def test_trials_can_be_forgotten_by_their_keys(store):
    store.add("numbers/a", [{"x": 1}])
    store.forget(["numbers/a", "numbers/never"])
    assert not store.has("numbers/a")


def test_processes_that_make_and_fill_the_same_store_at_once_lose_nothing(folder):
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN_AND_ADD, str(folder)], stderr=subprocess.PIPE) for _ in range(3)
    ]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], errors
    assert Store(folder, MARKS).rows("numbers") == [{"number": number} for number in range(50)]


def test_what_a_kill_left_half_written_is_no_row(folder, store):
    store.add("numbers/a", [{"x": 1}])
    (folder / "numbers" / ".0123456789abcdef.tmp").write_text('[{"x": ')
    assert store.rows("numbers") == [{"x": 1}]


def test_a_full_disk_keeps_what_was_stored_and_the_store_can_go_on(folder, store, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store.add("numbers/a", [{"x": 1}])
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match=r"No space left on device: '.*numbers.b\.json'"):
            store.add("numbers/b", [{"x": 2}])
    assert [path.name for path in (folder / "numbers").iterdir()] == ["a.json"]
    store.add("numbers/b", [{"x": 2}])
    assert store.rows("numbers") == [{"x": 1}, {"x": 2}]


def test_a_file_in_the_place_of_the_store_is_refused_and_left_as_it_is(folder):
    folder.parent.mkdir()
    folder.write_text("mine")
    with pytest.raises(OSError, match="trials"):
        Store(folder, MARKS)
    assert folder.read_text() == "mine"


@pytest.mark.parametrize("name", ["marks.json", "numbers/a.json"])
def test_a_damaged_file_is_named_with_the_remedy(folder, store, name):
    store.add("numbers/a", [{"x": 1}])
    (folder / name).write_text("[{")
    with pytest.raises(ValueError, match=rf"{name} is damaged .*; delete it, and run the same command again"):
        Store(folder, MARKS).get("numbers/a")


@pytest.mark.parametrize("marks", [None, "[]", "3"])
def test_rows_without_readable_marks_are_refused(folder, store, marks):
    store.add("numbers/a", [{"x": 1}])
    path = folder / "marks.json"
    path.unlink() if marks is None else path.write_text(marks)
    with pytest.raises(ValueError, match=r"(?i)choose another folder"):
        Store(folder, MARKS)
