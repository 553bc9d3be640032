"""Store: rows in SQLite, each kept as soon as its trial ends, so that a killed run loses only the trials in flight."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Self

from blockselect.experiments.trial import Row

_SCHEMA = """
CREATE TABLE IF NOT EXISTS trials (key TEXT PRIMARY KEY, experiment TEXT NOT NULL, rows TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS trials_of_experiment ON trials (experiment);
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_PATIENCE = 60.0  # seconds to wait for another process that is writing


class Store:
    """Rows of one configuration, by the key of their trial. Several processes may share a file."""

    def __init__(self, path: Path, config: str) -> None:
        """Open or make the store; refuse one that holds rows of another configuration."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        try:
            # Joblib asks for the next trial from threads of its own; SQLite itself takes one call at a time.
            self._database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.executescript(_SCHEMA)
            self._database.execute("INSERT OR IGNORE INTO meta VALUES ('config', ?)", (config,))
            (found,) = self._database.execute("SELECT value FROM meta WHERE name = 'config'").fetchone()
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{path} is no store of rows ({error}); move it away or choose another folder.") from error
        if found != config:
            self.close()
            raise ValueError(f"{path} holds rows of another configuration; choose another folder, or remove the file.")

    def add(self, key: str, experiment: str, rows: list[Row]) -> None:
        """Keep the rows of a trial for good; the first to come with a key stays."""
        self._database.execute(
            "INSERT OR IGNORE INTO trials VALUES (?, ?, ?)", (key, experiment, json.dumps(rows, sort_keys=True))
        )

    def has(self, key: str) -> bool:
        return self._database.execute("SELECT 1 FROM trials WHERE key = ?", (key,)).fetchone() is not None

    def rows(self, *experiments: str) -> list[Row]:
        """All rows of these experiments, in an order that does not depend on which trial ended first."""
        found: list[Row] = []
        for experiment in experiments:
            trials = self._database.execute("SELECT rows FROM trials WHERE experiment = ? ORDER BY key", (experiment,))
            found += [row for (text,) in trials for row in json.loads(text)]
        return found

    def forget_failures(self) -> int:
        """Drop trials that failed, so that they run again; how many there were."""
        return self._database.execute("DELETE FROM trials WHERE json_extract(rows, '$[0].error') IS NOT NULL").rowcount

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
