"""The store: what is kept, what is refused, and that processes may share it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from blockselect.reproduction import store as store_module
from blockselect.reproduction.store import Store, StoreError

MARKS = {"seed": 0, "tops": (16, 64)}
OPEN_AND_ADD = """
import sys
from contextlib import closing
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


def test_a_database_of_something_else_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE trials (patient TEXT)")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="is no store of rows"):
        Store(path, MARKS)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == before


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


def fill(path, n_trials=50, size=400):
    with Store(path, MARKS) as store:
        for number in range(n_trials):
            store.add(f"{number:02d}", "numbers", [{"number": number, "text": "x" * size, "error": None}])


def test_a_store_that_another_process_holds_is_called_locked(path, monkeypatch):
    fill(path, 1)
    monkeypatch.setattr(store_module, "_PATIENCE", 0.01)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match=r"trials.sqlite is locked by another process; wait until it ends"):
        Store(path, MARKS)
    other.close()
    with Store(path, MARKS) as store:
        assert store.has("00")


def test_a_full_disk_is_called_so_and_what_came_before_is_kept(path):
    with Store(path, MARKS) as store:
        store.add("a", "numbers", [{"x": 1}])
        (pages,) = store._database.execute("PRAGMA page_count").fetchone()
        store._database.execute(f"PRAGMA max_page_count = {pages}")  # as a full disk
        with pytest.raises(StoreError, match=r"cannot grow: the disk is full; free some space"):
            store.add("b", "numbers", [{"x": "x" * 10**5}])
        assert (store.has("a"), store.has("b")) == (True, False)
    with Store(path, MARKS) as store:
        store.add("b", "numbers", [{"x": 2}])
        assert store.get("a") == [{"x": 1}]


def test_a_store_that_cannot_be_written_is_called_read_only(path, monkeypatch):
    fill(path, 1)
    connect = sqlite3.connect
    monkeypatch.setattr(
        store_module.sqlite3, "connect", lambda path, **more: connect(f"file:{path}?mode=ro", uri=True, **more)
    )
    with pytest.raises(StoreError, match=r"cannot be written: it or its folder is read-only; make both writable"):
        Store(path, MARKS)


def test_a_folder_in_the_place_of_the_store_cannot_be_opened(path):
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match=r"cannot be opened: it or its folder is read-only or no file"):
        Store(path, MARKS)


def test_a_damaged_store_is_called_so(path):
    fill(path)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with (
        pytest.raises(StoreError, match=r"is damaged; restore it from a copy"),
        Store(path, MARKS) as store,
    ):
        store.rows("numbers")


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE trials SET rows = replace(rows, '\"number\": 7', '\"number\": 8') WHERE key = '07'",
        "UPDATE trials SET rows = 'no JSON' WHERE key = '07'",
        "UPDATE trials SET rows = x'00ff' WHERE key = '07'",
        "UPDATE trials SET rows = CAST(x'5bff5d' AS TEXT) WHERE key = '07'",
        "UPDATE trials SET experiment = 'others' WHERE key = '07'",
    ],
)
def test_rows_that_were_changed_by_hand_are_refused_and_can_be_run_again(path, edit):
    fill(path, 9, size=1)
    other = sqlite3.connect(path)
    with other:
        other.execute(edit)
    other.close()
    with Store(path, MARKS) as store:
        with pytest.raises(StoreError, match=r"trial '07' of '\w+' were changed after they were stored; run again"):
            store.get("07")
        assert store.get("06") == [{"number": 6, "text": "x", "error": None}]
        assert store.forget_failures() == 1
        assert len(store.rows("numbers")) == 8
        store.add("07", "numbers", [{"number": 7}])
        assert store.get("07") == [{"number": 7}]


@pytest.mark.parametrize("marks", ["[]", "{no JSON"])
def test_marks_that_were_changed_by_hand_are_refused(path, marks):
    fill(path, 1)
    other = sqlite3.connect(path)
    with other:
        other.execute("UPDATE meta SET value = ?", (marks,))
    other.close()
    with pytest.raises(StoreError, match=r"marks that were changed by hand; move it away"):
        Store(path, MARKS)


def test_rows_whose_marks_are_gone_are_refused(path):
    fill(path, 1)
    other = sqlite3.connect(path)
    with other:
        other.execute("DELETE FROM meta")
    other.close()
    with pytest.raises(StoreError, match=r"has rows but no marks: it was changed by hand; move it away"):
        Store(path, MARKS)


def test_rows_of_other_code_under_the_same_version_are_refused(path):
    with Store(path, {**MARKS, "code": "before"}) as store:
        store.add("a", "numbers", [{"x": 1}])
    with pytest.raises(StoreError, match=r"holds rows that other code of the same version made; choose another folder"):
        Store(path, {**MARKS, "code": "after"})


def test_rows_of_a_store_without_digests_are_read(path):
    """Version 0.1.0 kept none."""
    fill(path, 3, size=1)
    other = sqlite3.connect(path)
    with other:
        other.execute("DROP TABLE digests")
    other.close()
    with Store(path, MARKS) as store:
        assert [row["number"] for row in store.rows("numbers")] == [0, 1, 2]
    other = sqlite3.connect(path)
    with other:
        other.execute("DROP TABLE digests")
        other.execute("UPDATE trials SET rows = '[{}]'")
    other.close()
    with Store(path, MARKS) as store, pytest.raises(StoreError, match="were changed after they were stored"):
        store.rows("numbers")
