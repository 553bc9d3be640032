"""A folder of results, written as one unit: all of its files, whole, or none."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from blockselect.cli.failure import Failure
from blockselect.cli.replacing import LONGEST_SHOWN, WRITTEN, check_replaced, with_hashes
from blockselect.wording import shortened

LONGEST_NAME = 255  # bytes, on all usual file systems


def parse_folder(text: str) -> Path:
    """The folder that an option names."""
    if not text.strip():
        raise Failure("--out is empty; name a folder (. is the one you are in).")
    return Path(text)


def check_folder(
    folder: Path, names: Collection[str], inputs: Mapping[str, Path | None] | None = None, *, overwrite: bool = False
) -> None:
    """Refuse a folder that cannot take these files, or has others that they would replace, before any work.

    Parameters
    ----------
    folder : path
    names : collection of str
        Paths within the folder.
    inputs : mapping, optional
        Option → the file that it names, which is never replaced.
    overwrite : bool
        Whether files that this program did not write may be replaced.
    """
    try:
        _check_folder(folder, names)
        check_replaced(folder, names, inputs or {}, overwrite=overwrite)
    except OSError as error:  # a name too long, a loop of links
        shown = shortened(str(folder), LONGEST_SHOWN)
        raise Failure(f"--out is {shown!r}: {error.strerror}; name another folder.") from error


def _check_folder(folder: Path, names: Iterable[str]) -> None:
    if any(len(os.fsencode(part)) > LONGEST_NAME for part in folder.parts):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if lost := next((path for path in (folder, *folder.absolute().parents) if _leads_nowhere(path)), None):
        raise Failure(f"--out is {str(folder)!r} but {str(lost)!r} is a link that leads nowhere; name another folder.")
    if not existing.is_dir():
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is a file; name a folder.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is not writable; name another folder.")
    for name in (WRITTEN, *names):
        if (folder / name).is_dir():
            raise Failure(f"{str(folder / name)!r} is a folder where a file is to be written; name another --out.")


def _leads_nowhere(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def check_destination(
    folder: Path | None,
    names: Collection[str],
    inputs: Mapping[str, Path | None],
    *,
    as_json: bool,
    overwrite: bool,
) -> None:
    """Refuse a run whose result would go nowhere, or cannot be written, before any work."""
    if folder is not None:
        check_folder(folder, names, inputs, overwrite=overwrite)
    elif not as_json:
        raise Failure("nowhere to put the result; name a folder with --out, or give --json.")


def write_together(folder: Path, files: Mapping[str, bytes], *, mark: str) -> None:
    """Write the files as one unit, replacing older ones of the same names, and a record of their hashes beside them.

    A new folder is filled under a hidden name and then renamed, in one step. In a folder that is there already the
    files are filled in a hidden folder within it and then moved one by one; the mark is gone from before the first
    move until after the last, so that a folder that has it is whole even if the power fails. Whatever else fails, the
    older files are put back and no new one stays.

    Parameters
    ----------
    folder : path
    files : mapping
        Path within the folder → content.
    mark : str
        The one of them that says that the folder is whole.

    Raises
    ------
    Failure
        The disk is full, or refuses them.
    """
    files = with_hashes(folder, files)
    try:
        if folder.exists():
            _replace_files(folder, files, mark)
        else:
            _make_folder(folder, files, mark)
    except OSError as error:
        raise Failure(
            f"--out is {shortened(str(folder), LONGEST_SHOWN)!r}, where the results could not be written: "
            f"{error.strerror or error}; nothing of this run is there: free some space or name another folder, and run "
            "it again."
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
            if not folder.is_dir():  # else another process has made it meanwhile
                raise
            _replace_files(folder, files, mark)
    except BaseException:  # Ctrl-C too
        shutil.rmtree(staged, ignore_errors=True)
        _remove_empty(new_folders)
        raise
    shutil.rmtree(staged, ignore_errors=True)


def _replace_files(folder: Path, files: Mapping[str, bytes], mark: str) -> None:
    staged = folder / _temporary_name()
    older, newer = staged / "older", staged / "newer"
    order = [*(name for name in files if name != mark), mark]
    new_folders = [path for path in _folders(folder, order) if not path.exists()]
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
    except BaseException:  # Ctrl-C too
        for name in {*moved, mark}:
            with suppress(OSError):
                _put_back(older / name, folder / name, moved=name in moved)
        _remove_empty(reversed(new_folders))
        raise
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _keep(path: Path, copy: Path) -> None:
    """Have a file under a second name too, if it is there."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        try:
            os.link(path, copy)
        except OSError:  # not on every file system
            shutil.copy2(path, copy)


def _put_back(kept: Path, path: Path, *, moved: bool) -> None:
    if kept.exists():
        kept.replace(path)
    elif moved:
        path.unlink()


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _folders(folder: Path, names: Iterable[str]) -> list[Path]:
    """The folders within the folder that files of these names lie in, outer ones first."""
    return sorted({folder / parent for name in names for parent in Path(name).parents if parent != Path()})


def _remove_empty(folders: Iterable[Path]) -> None:
    for path in folders:
        with suppress(OSError):
            path.rmdir()


def _temporary_name() -> str:
    """Short, whatever the folder is called: names may be 255 bytes long."""
    return f".blockselect-{secrets.token_hex(4)}.tmp"
