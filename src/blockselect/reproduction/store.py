"""Store: rows in SQLite, each saved as soon as its trial ends, so that a killed run loses only the trials in flight."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self

from blockselect.reproduction.trial import Row

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS trials (key TEXT PRIMARY KEY, experiment TEXT NOT NULL, rows TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS trials_of_experiment ON trials (experiment)",
    "CREATE TABLE IF NOT EXISTS digests (key TEXT PRIMARY KEY, digest TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
_SELECT = "SELECT trials.key, experiment, rows, digest FROM trials LEFT JOIN digests ON trials.key = digests.key"
_PATIENCE = 60.0  # seconds to wait for another process that is writing

_TROUBLES: dict[int, str] = {
    sqlite3.SQLITE_BUSY: "is locked by another process; wait until it ends, or end it, and run the same command again",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full; free some space and run the same command again, which goes on",
    sqlite3.SQLITE_IOERR: "cannot be written or read: the disk is full or failing; free some space, or copy the folder "
    "to another disk, and run the same command again",
    sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only; make both writable, or copy the folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: it or its folder is read-only or no file; make both writable, or "
    "choose another folder",
    sqlite3.SQLITE_CORRUPT: "is damaged; restore it from a copy, or move it away and run the same command again, from "
    "the start",
    sqlite3.SQLITE_NOTADB: "is no store of rows; move it away or choose another folder",
}
"""Primary code of an error of SQLite → what is the matter with the store, and what to do."""
_TROUBLES |= {
    sqlite3.SQLITE_LOCKED: _TROUBLES[sqlite3.SQLITE_BUSY],
    sqlite3.SQLITE_PERM: _TROUBLES[sqlite3.SQLITE_READONLY],
}
_CHANGED = "changed by hand; move it away or choose another folder"
_UNKNOWN = "is no store of rows, or of another version; move it away or choose another folder"


class StoreError(ValueError):
    """A store that cannot be used as it is. The message says what is the matter with it, and what to do."""


class Store:
    """Rows of one configuration, by the key of their trial. Several processes may share a file."""

    def __init__(self, path: Path, marks: Mapping[str, Any]) -> None:
        """Open or make the store; refuse one whose rows were made under other marks.

        Parameters
        ----------
        path : path
        marks : mapping of JSON values
            All that the rows depend on besides their trials.

        Raises
        ------
        StoreError
            Locked, full, read-only, damaged, no store, or of other marks.
        """
        self.path = path
        # Joblib asks for the next trial from threads of its own: one call at a time.
        self._lock = Lock()
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(marks)
            except BaseException:
                self.close()
                raise

    def _prepare(self, marks: Mapping[str, Any]) -> None:
        database = self._database
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and not {"trials", "meta"} <= tables:
            raise StoreError(f"{self.path} {_UNKNOWN}.")
        database.execute("PRAGMA journal_mode = WAL")
        # What a damaged disk made of a text is no text any more: it fails its digest.
        database.text_factory = lambda content: content.decode(errors="replace")
        mine = json.loads(json.dumps(marks))
        with self._transaction():  # two processes may make the same store at once
            for statement in _SCHEMA:
                database.execute(statement)
            marked = database.execute("SELECT 1 FROM meta WHERE name = 'marks'").fetchone()
            if marked is None and database.execute("SELECT 1 FROM trials").fetchone():
                raise StoreError(f"{self.path} has rows but no marks: it was {_CHANGED}.")
            database.execute("INSERT OR IGNORE INTO meta VALUES ('marks', ?)", (json.dumps(mine, sort_keys=True),))
            (text,) = database.execute("SELECT value FROM meta WHERE name = 'marks'").fetchone()
        theirs = _parsed(text)
        if not isinstance(theirs, dict):
            raise StoreError(f"{self.path} has marks that were {_CHANGED}.")
        different = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
        if different == ["code"]:
            raise StoreError(
                f"{self.path} holds rows that other code of the same version made; choose another folder, or the code "
                "that it was made with."
            )
        if different:
            raise StoreError(
                f"{self.path} holds rows of another configuration, which differs in {', '.join(different)}; choose "
                "another folder, or the configuration that it was made with."
            )

    def add(self, key: str, experiment: str, rows: list[Row]) -> None:
        """Save the rows of a trial; if the key is already there, the earlier rows stay."""
        text = json.dumps(rows)
        with self._lock, self._explained(), self._transaction():
            self._database.execute("INSERT OR IGNORE INTO trials VALUES (?, ?, ?)", (key, experiment, text))
            digest = _digest(key, experiment, text)
            self._database.execute("INSERT OR IGNORE INTO digests VALUES (?, ?)", (key, digest))

    def has(self, key: str) -> bool:
        with self._lock, self._explained():
            return self._database.execute("SELECT 1 FROM trials WHERE key = ?", (key,)).fetchone() is not None

    def get(self, key: str) -> list[Row] | None:
        """The rows of a trial; None where it has not been run."""
        found = self._select(f"{_SELECT} WHERE trials.key = ?", key)
        return self._rows(*found[0]) if found else None

    def rows(self, experiment: str) -> list[Row]:
        """All rows of an experiment, in an order that does not depend on which trial ended first."""
        found = self._select(f"{_SELECT} WHERE experiment = ? ORDER BY trials.key", experiment)
        return [row for trial in found for row in self._rows(*trial)]

    def forget_failures(self) -> int:
        """Drop trials that failed, or whose rows were changed by hand, so that they run again; how many there were."""
        failed = [
            key
            for key, experiment, text, digest in self._select(_SELECT)
            if not _is_intact(key, experiment, text, digest) or any(row.get("error") for row in _parsed(text)[:1])
        ]
        self.forget(failed)
        return len(failed)

    def forget(self, keys: Iterable[str]) -> None:
        """Drop trials, so that they run again."""
        dropped = [(key,) for key in keys]
        with self._lock, self._explained(), self._transaction():
            for delete in ("DELETE FROM trials WHERE key = ?", "DELETE FROM digests WHERE key = ?"):
                self._database.executemany(delete, dropped)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _select(self, statement: str, *values: str) -> list[tuple[str, str, str, str | None]]:
        with self._lock, self._explained():
            return self._database.execute(statement, values).fetchall()

    def _rows(self, key: str, experiment: str, text: str, digest: str | None) -> list[Row]:
        if not _is_intact(key, experiment, text, digest):
            raise StoreError(
                f"{self.path}: the rows of trial {key!r} of {experiment!r} were changed after they were stored; run "
                "again with --retry-failed, which drops and repeats such trials, or choose another folder."
            )
        rows: list[Row] = json.loads(text)
        return rows

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it or nothing, and no other process between."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._database.in_transaction:  # a full disk has ended it already
                self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest tells kinds of it apart
            raise StoreError(f"{self.path} {_TROUBLES.get(code, _UNKNOWN)} ({error}).") from error


def _digest(key: str, experiment: str, text: str) -> str:
    return hashlib.sha256(repr([key, experiment, text]).encode()).hexdigest()[:32]


def _is_intact(key: str, experiment: str, text: str, digest: str | None) -> bool:
    """Whether rows are as they were stored. Version 0.1.0 kept no digest; its rows need only be rows."""
    if digest is not None:
        return digest == _digest(key, experiment, text)
    rows = _parsed(text)
    return isinstance(rows, list) and all(isinstance(row, dict) and "error" in row for row in rows)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None
