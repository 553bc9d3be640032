"""Store: rows in SQLite, each saved as soon as its trial ends, so that a killed run loses only the trials in flight."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Self

from blockselect.reproduction.trial import Row

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS trials (key TEXT PRIMARY KEY, experiment TEXT NOT NULL, rows TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS trials_of_experiment ON trials (experiment)",
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)
_PATIENCE = 60.0  # seconds to wait for another process that is writing


class Store:
    """Rows of one configuration, by the key of their trial. Several processes may share a file."""

    def __init__(self, path: Path, marks: Mapping[str, Any]) -> None:
        """Open or make the store; refuse one whose rows were made under other marks.

        Parameters
        ----------
        path : path
        marks : mapping of JSON values
            All that the rows depend on besides their trials.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        # Joblib asks for the next trial from threads of its own: one call at a time.
        self._lock = Lock()
        try:
            self._database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._prepare(marks)
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path} is no store of rows ({error}); move it away or choose another folder.") from error

    def _prepare(self, marks: Mapping[str, Any]) -> None:
        database = self._database
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("BEGIN IMMEDIATE")  # two processes may make the same store at once
        for statement in _SCHEMA:
            database.execute(statement)
        mine = json.loads(json.dumps(marks))
        database.execute("INSERT OR IGNORE INTO meta VALUES ('marks', ?)", (json.dumps(mine, sort_keys=True),))
        (text,) = database.execute("SELECT value FROM meta WHERE name = 'marks'").fetchone()
        database.execute("COMMIT")
        theirs = json.loads(text)
        different = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
        if different:
            self.close()
            raise ValueError(
                f"{self.path} holds rows of another configuration, which differs in {', '.join(different)}; choose "
                "another folder, or the configuration that it was made with."
            )

    def add(self, key: str, experiment: str, rows: list[Row]) -> None:
        """Save the rows of a trial; if the key is already there, the earlier rows stay."""
        text = json.dumps(rows)
        with self._lock:
            self._database.execute("INSERT OR IGNORE INTO trials VALUES (?, ?, ?)", (key, experiment, text))

    def has(self, key: str) -> bool:
        with self._lock:
            return self._database.execute("SELECT 1 FROM trials WHERE key = ?", (key,)).fetchone() is not None

    def get(self, key: str) -> list[Row] | None:
        """The rows of a trial; None where it has not been run."""
        with self._lock:
            found = self._database.execute("SELECT rows FROM trials WHERE key = ?", (key,)).fetchone()
        return None if found is None else json.loads(found[0])

    def rows(self, experiment: str) -> list[Row]:
        """All rows of an experiment, in an order that does not depend on which trial ended first."""
        with self._lock:
            trials = self._database.execute(
                "SELECT rows FROM trials WHERE experiment = ? ORDER BY key", (experiment,)
            ).fetchall()
        return [row for (text,) in trials for row in json.loads(text)]

    def forget_failures(self) -> int:
        """Drop trials that failed, so that they run again; how many there were."""
        with self._lock:
            return self._database.execute(
                "DELETE FROM trials WHERE json_extract(rows, '$[0].error') IS NOT NULL"
            ).rowcount

    def forget(self, keys: Iterable[str]) -> None:
        """Drop trials, so that they run again."""
        with self._lock:
            self._database.executemany("DELETE FROM trials WHERE key = ?", [(key,) for key in keys])

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
