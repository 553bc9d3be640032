"""Store: a folder with one JSON file per finished trial. A run that is killed loses only the trials in progress."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]  # flat: the settings of a trial, and its results or its error

MARKS = "marks.json"


class Store:
    """The rows of one configuration, stored by the key of their trial (``experiment/hash``).

    A file is written under a temporary name and then renamed, so a file named after a key is always complete. Several
    processes may share a folder without locks: rows depend only on the trial and the marks, so two processes that run
    the same trial write the same file.
    """

    def __init__(self, folder: Path, marks: Mapping[str, Any]) -> None:
        """Open or create the store.

        Parameters
        ----------
        folder : path
        marks : mapping of JSON values
            Everything besides the trials that determines the rows.

        Raises
        ------
        ValueError
            If the rows in the folder were made with other marks.
        """
        self.folder = folder
        mine = json.loads(json.dumps(marks))
        # Look for rows before marks, since another process may be writing its marks and then its rows.
        has_rows = next(folder.glob("*/*.json"), None) is not None
        if not (folder / MARKS).exists():
            if has_rows:
                raise ValueError(
                    f"{folder} contains rows but no {MARKS}, which says how they were made; choose another folder."
                )
            _write(folder / MARKS, mine)
        theirs = _read(folder / MARKS)
        different = [MARKS]
        if isinstance(theirs, dict):
            different = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
        if different:
            raise ValueError(
                f"{folder} contains rows from another configuration or version; the difference is in "
                f"{', '.join(different)}. Choose another folder, or use the configuration and version that made them."
            )

    def add(self, key: str, rows: list[Row]) -> None:
        """Save the rows of a trial."""
        _write(self._path(key), rows)

    def has(self, key: str) -> bool:
        return self._path(key).exists()

    def get(self, key: str) -> list[Row] | None:
        """The rows of a trial, or None if it has not been run."""
        rows: list[Row] | None = _read(self._path(key)) if self.has(key) else None
        return rows

    def rows(self, experiment: str) -> list[Row]:
        """All rows of an experiment, in the same order whichever trial finished first."""
        return [row for path in sorted((self.folder / experiment).glob("*.json")) for row in _read(path)]

    def forget(self, keys: Iterable[str]) -> None:
        """Delete trials, so that they run again."""
        for key in keys:
            self._path(key).unlink(missing_ok=True)

    def forget_failures(self) -> None:
        """Delete the trials that failed, so that they run again."""
        for path in list(self.folder.glob("*/*.json")):
            if any(row.get("error") for row in _read(path)[:1]):
                path.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def _write(path: Path, content: Any) -> None:
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("x", encoding="utf-8") as stream:
            json.dump(content, stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        error.filename = str(path)  # the error of a full disk names no file
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); delete it, and run the same command again.") from error
