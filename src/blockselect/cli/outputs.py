"""A folder of results: which files may be replaced in it, and how all files are written as one unit."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from blockselect.cli.failure import Failure
from blockselect.cli.record import file_record, json_bytes
from blockselect.wording import shortened

WRITTEN = ".blockselect.json"
"""The file in a folder of results that holds the hash of every file that was written there."""
LONGEST_NAME = 255  # bytes, on all common file systems
LONGEST_SHOWN = 80  # characters of a path in a message
SHOWN = 3  # files named in a message


def parse_folder(text: str) -> Path:
    """The folder that --out names."""
    if not text.strip():
        raise Failure("--out is empty; name a folder (. is the current one).")
    return Path(text)


def check_destination(
    folder: Path | None,
    names: Collection[str],
    inputs: Mapping[str, Path | None],
    *,
    elsewhere: bool,
    overwrite: bool,
) -> None:
    """Refuse a run whose result would go nowhere or could not be written, before any work.

    `elsewhere` says that the result is also printed.
    """
    if folder is not None:
        check_folder(folder, names, inputs, overwrite=overwrite)
    elif not elsewhere:
        raise Failure("nowhere to put the result; name a folder with --out, or give --json.")


def check_folder(
    folder: Path, names: Collection[str], inputs: Mapping[str, Path | None] | None = None, *, overwrite: bool = False
) -> None:
    """Refuse a folder that cannot hold these files, or in which they would replace files of the user.

    Parameters
    ----------
    folder : path
    names : collection of str
        Paths within the folder.
    inputs : mapping, optional
        Option → the file that it names, which is never replaced.
    overwrite : bool
        Whether files may be replaced that this program did not write or that were changed since.
    """
    try:
        _check_usable(folder, names)
        _check_replaced(folder, names, inputs or {}, overwrite=overwrite)
    except OSError as error:  # for example a name that is too long, or a loop of symbolic links
        raise Failure(f"--out is {_shown(folder)}: {error.strerror}; name another folder.") from error


def _check_usable(folder: Path, names: Iterable[str]) -> None:
    if any(len(os.fsencode(part)) > LONGEST_NAME for part in folder.parts):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    way = (folder, *folder.absolute().parents)
    existing = next(path for path in way if path.exists())
    if lost := next((path for path in way if path.is_symlink() and not path.exists()), None):
        raise Failure(f"--out is {str(folder)!r} but {str(lost)!r} is a link that leads nowhere; name another folder.")
    if not existing.is_dir():
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is a file; name a folder.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is not writable; name another folder.")
    for name in (WRITTEN, *names):
        if (folder / name).is_dir():
            raise Failure(f"{str(folder / name)!r} is a folder where a file is to be written; name another --out.")


def _check_replaced(folder: Path, names: Iterable[str], inputs: Mapping[str, Path | None], *, overwrite: bool) -> None:
    """Refuse to replace an input, and without `overwrite` any file that is not as this program wrote it."""
    there = [name for name in names if os.path.lexists(_resolved(folder) / name)]
    for name in there:
        for option, path in inputs.items():
            if path is not None and _is_same(_resolved(folder) / name, path):
                raise Failure(
                    f"--out is {_shown(folder)}, where {name} would replace the file of {option}; name another folder."
                )
    if overwrite:
        return
    hashes = _written(folder)
    others = [name for name in there if not _is_as_written(_resolved(folder) / name, hashes.get(name))]
    if others:
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        raise Failure(
            f"--out is {_shown(folder)}, where files would be replaced that blockselect did not write, or that were "
            f"changed since: {', '.join(others[:SHOWN])}{more}; name another folder, or replace them with --overwrite."
        )


def _resolved(folder: Path) -> Path:
    """The folder as it will be once every folder on the way to it exists: new/.. is the current folder then."""
    return Path(os.path.realpath(folder))


def _written(folder: Path) -> dict[str, str]:
    """Hashes of the files that earlier runs wrote into a folder."""
    try:
        hashes = json.loads((_resolved(folder) / WRITTEN).read_bytes())
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, through any links."""
    return path.exists() and other.exists() and path.samefile(other)


def _is_as_written(path: Path, sha256: str | None) -> bool:
    return sha256 is not None and path.is_file() and file_record(path)["sha256"] == sha256


def _shown(folder: Path) -> str:
    return repr(shortened(str(folder), LONGEST_SHOWN))


def write_together(folder: Path, files: Mapping[str, bytes], *, mark: str) -> None:
    """Write the files as one unit, replacing older ones of the same names, and a record of their hashes beside them.

    A new folder is filled under a hidden name and then renamed, in one step. In an existing folder the files are
    written to a hidden folder within it and then moved one by one. The mark is absent from before the first move until
    after the last one, so that a folder with the mark is complete even if the power fails. After any other failure the
    older files are put back and no new file stays.

    Parameters
    ----------
    folder : path
    files : mapping
        Path within the folder → content.
    mark : str
        The file that says that the folder is complete.

    Raises
    ------
    Failure
        The disk is full or cannot be written.
    """
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files = {WRITTEN: json_bytes(_written(folder) | hashes), **files}
    try:
        if folder.exists():
            _replace_files(folder, files, mark)
        else:
            _make_folder(folder, files, mark)
    except OSError as error:
        raise Failure(
            f"--out is {_shown(folder)}, where the results could not be written: {error.strerror or error}; nothing of "
            "this run is there: free some space or name another folder, and run it again."
        ) from error


def _make_folder(folder: Path, files: Mapping[str, bytes], mark: str) -> None:
    new_folders = [path for path in folder.parents if not path.exists()]
    staged = next(path for path in folder.parents if path.exists()) / _temporary_name()
    try:
        _fill(staged, files)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            staged.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process has made it in the meantime
                raise
            _replace_files(folder, files, mark)
    except BaseException:  # including Ctrl-C
        shutil.rmtree(staged, ignore_errors=True)
        _remove_empty(new_folders)
        raise
    shutil.rmtree(staged, ignore_errors=True)


def _replace_files(folder: Path, files: Mapping[str, bytes], mark: str) -> None:
    staged = folder / _temporary_name()
    older, newer = staged / "older", staged / "newer"
    order = [*(name for name in files if name != mark), mark]
    within = sorted({folder / parent for name in order for parent in Path(name).parents if parent != Path()})
    new_folders = [path for path in within if not path.exists()]
    moved: list[str] = []
    try:
        _fill(newer, files)
        for name in order:
            _keep(folder / name, older / name)
        for path in new_folders:
            path.mkdir(parents=True, exist_ok=True)
        (folder / mark).unlink(missing_ok=True)
        for name in order:
            moved.append(name)
            (newer / name).replace(folder / name)
    except BaseException:  # including Ctrl-C
        for name in {*moved, mark}:
            with suppress(OSError):
                if (older / name).exists():
                    (older / name).replace(folder / name)
                elif name in moved:
                    (folder / name).unlink()
        _remove_empty(reversed(new_folders))
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _keep(path: Path, copy: Path) -> None:
    """Give a file a second name, if the file exists."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        try:
            os.link(path, copy)
        except OSError:  # some file systems have no hard links
            shutil.copy2(path, copy)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _remove_empty(folders: Iterable[Path]) -> None:
    for path in folders:
        with suppress(OSError):
            path.rmdir()


def _temporary_name() -> str:
    """A short name, because a name may have at most 255 bytes."""
    return f".blockselect-{secrets.token_hex(4)}.tmp"
