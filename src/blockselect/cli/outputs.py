"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from blockselect.cli.failure import Failure


def check_folder(folder: Path, names: Iterable[str]) -> None:
    """Refuse a folder that cannot take these files, before any work."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is a file; name a folder.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is not writable; name another folder.")
    for name in names:
        if (folder / name).is_dir():
            raise Failure(f"{str(folder / name)!r} is a folder where a file is to be written; name another --out.")


def check_destination(folder: Path | None, names: Iterable[str], *, as_json: bool) -> None:
    """Refuse a run whose result would go nowhere, or cannot be written, before any work."""
    if folder is not None:
        check_folder(folder, names)
    elif not as_json:
        raise Failure("nowhere to put the result; name a folder with --out, or give --json.")


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files into the folder, replacing older ones, each whole.

    All are written beside their places first and then moved, which the file system does at once. After a failure no new
    file is left; one that replaced an older file in the same instant stays.
    """
    token = secrets.token_hex(4)
    staged = {name: folder / f".{name}.{token}.tmp" for name in files}
    new_files = [folder / name for name in files if not (folder / name).exists()]
    new_folders = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            _write(staged[name], content)
        for name, path in staged.items():
            path.replace(folder / name)
    except BaseException:  # Ctrl-C too
        for path in (*staged.values(), *new_files):
            with suppress(OSError):
                path.unlink()
        for path in new_folders:
            with suppress(OSError):
                path.rmdir()
        raise


def write_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths within the folder, those of each folder together."""
    paths = {PurePosixPath(path): content for path, content in files.items()}
    for parent in sorted({path.parent for path in paths}):
        write_together(folder / parent, {path.name: paths[path] for path in paths if path.parent == parent})


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
