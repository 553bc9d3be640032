"""The output folder: which files may be replaced, writing all files or none, and the contents of run.json."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from blockselect import __version__
from blockselect.cli.failure import Failure, say

MARK = "run.json"
"""The file that marks a folder as complete and as written by this program. It is removed first and written last."""
STAGED = ".blockselect-????????.tmp"  # hidden folder of files that are being written
SHOWN = 3  # maximum number of files named in a message
RECORDED_VERSIONS = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def check_folder(folder: Path, names: Collection[str], inputs: Collection[Path | None], *, overwrite: bool) -> None:
    """Raise an error if files cannot be written to a folder, or would replace files that this program did not write.

    Before these checks, output that a killed run left unfinished is completed or removed.

    Parameters
    ----------
    folder : path
    names : collection of str
        Paths within the folder.
    inputs : collection of paths
        Input files, which are never replaced.
    overwrite : bool
        Whether files that this program did not write may be replaced.
    """
    folder = Path(os.path.realpath(folder))  # follows symbolic links, even to a folder that does not exist
    existing = _nearest(folder)
    if not existing.is_dir():
        which = "this" if existing == folder else repr(str(existing))
        raise Failure(f"--out is {str(folder)!r}, but {which} is a file; name a folder.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise Failure(f"--out is {str(folder)!r}, but {str(existing)!r} is not writable; name another folder.")
    with _locked(existing, wait=False) as is_locked:
        if is_locked:
            _repair(existing, folder)
    for name in names:
        if (folder / name).is_dir():
            raise Failure(
                f"{str(folder / name)!r} is a folder, but a file has to be written there; name another --out."
            )
    there = [name for name in names if os.path.lexists(folder / name)]
    given = [path for path in inputs if path is not None and path.exists()]
    for name in there:
        if (folder / name).exists() and any(path.samefile(folder / name) for path in given):
            raise Failure(f"--out is {str(folder)!r}, where {name} would replace an input file; name another folder.")
    if there and not overwrite and not _is_ours(folder):
        more = f" and {len(there) - SHOWN} more" if len(there) > SHOWN else ""
        raise Failure(
            f"--out is {str(folder)!r}, where blockselect would replace files that it did not write: "
            f"{', '.join(there[:SHOWN])}{more}; name another folder, or replace them with --overwrite."
        )


def _is_ours(folder: Path) -> bool:
    """Whether the folder contains a run.json written by this program."""
    try:
        return "blockselect" in json.loads((folder / MARK).read_bytes())["versions"]
    except (OSError, ValueError, LookupError, TypeError):
        return False


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files, including run.json, or none. Older files of the same names are replaced.

    A new folder is filled under a hidden name and then renamed, in one step. In an existing folder, the files are
    written to a hidden folder, older files are moved to another hidden folder, and the new files take their place.
    A folder that contains run.json is complete, even after a power failure. After any other failure the older files
    are restored, and no new file remains. Processes that write to the same folder wait for each other.

    Parameters
    ----------
    folder : path
    files : mapping
        Path within the folder → content.

    Raises
    ------
    Failure
        If the files cannot be written, for example because the disk is full.
    """
    folder = Path(os.path.realpath(folder))
    try:
        with _sole_writer(folder) as within:
            staged = within / f".blockselect-{secrets.token_hex(4)}.tmp"
            try:
                for name, content in files.items():
                    (staged / name).parent.mkdir(parents=True, exist_ok=True)
                    with (staged / name).open("xb") as stream:
                        stream.write(content)
                        stream.flush()
                        os.fsync(stream.fileno())
                if within == folder:
                    _replace_files(folder, staged, sorted(files, key=MARK.__eq__))
                else:
                    folder.parent.mkdir(parents=True, exist_ok=True)
                    staged.rename(folder)
            finally:
                shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise Failure(
            f"--out is {str(folder)!r}, where the results could not be written: {error.strerror or error}; no file "
            "of this run was kept. Free some space or name another folder, and run the command again."
        ) from error


def _nearest(folder: Path) -> Path:
    """The folder or, if it does not exist, the nearest folder above it that does."""
    return next(path for path in (folder, *folder.parents) if path.exists())


@contextmanager
def _sole_writer(folder: Path) -> Iterator[Path]:
    """Wait until no other process writes to the folder, and yield the nearest existing folder (see `_nearest`)."""
    while True:
        within = _nearest(folder)
        with _locked(within, wait=True) as is_locked:
            if _nearest(folder) == within:  # another process may have created the folder meanwhile
                if is_locked:
                    _repair(within, folder)
                yield within
                return


@contextmanager
def _locked(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Lock a folder within the context; yield False if another process has locked it or locks are not available."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # on Windows
        yield False
        return
    import fcntl  # not available on Windows

    is_locked = True
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_locked = wait
            if wait:
                say(f"waiting for another process that is writing to {str(folder)!r}.")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # pragma: no cover (some network file systems)
            is_locked = False
        yield is_locked
    finally:
        os.close(descriptor)


def _repair(within: Path, folder: Path) -> None:
    """Complete or remove what a killed process left behind. The lock shows that no process is still writing.

    If the killed process had begun to replace files, all new files are complete and now take their place. If it was
    restoring the older files, these are restored.
    """
    for older in within.glob(f"{STAGED}.older") if within == folder else ():
        staged = older.with_suffix("")
        source = staged if staged.exists() else older
        names = [str(path.relative_to(source)) for path in source.rglob("*") if not path.is_dir()]
        for name in sorted(names, key=MARK.__eq__):
            _move(source / name, folder / name)
        shutil.rmtree(older, ignore_errors=True)
        shutil.rmtree(staged, ignore_errors=True)
        whose = "that run" if source == staged else "the previous run"
        say(f"a run was killed while writing to {str(folder)!r}; the folder now contains the results of {whose}.")
    if not any(within.glob(f"{STAGED}.older")):  # otherwise a later run that writes to `within` itself repairs it
        for staged in within.glob(f"{STAGED}*"):
            shutil.rmtree(staged, ignore_errors=True)
            if not staged.exists():
                say(f"removed {str(staged)!r}, the unfinished output of a run that was killed.")


def _replace_files(folder: Path, staged: Path, names: list[str]) -> None:
    """Move staged files into the folder, in the order of `names`; after a failure, restore the older files."""
    older = folder / f"{staged.name}.older"  # deleted only when its files are no longer needed
    try:
        older.mkdir()
        for name in reversed(names):
            with suppress(FileNotFoundError):
                _move(folder / name, older / name)
        for name in names:
            _move(staged / name, folder / name)
    except BaseException:  # including Ctrl-C
        failed = staged.rename(f"{staged}.failed")  # from now on, `_repair` would restore the older files too
        for name in names:
            if os.path.lexists(older / name):
                (older / name).replace(folder / name)
            elif not (failed / name).exists():
                (folder / name).unlink(missing_ok=True)
        shutil.rmtree(older, ignore_errors=True)
        shutil.rmtree(failed, ignore_errors=True)
        raise
    shutil.rmtree(older, ignore_errors=True)


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)


def file_record(path: Path) -> dict[str, str]:
    """The name and hash of a file. Its folder is left out, because it is private."""
    with path.open("rb") as stream:
        return {"file": path.name, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def settings_record(estimator: Any) -> dict[str, Any]:
    """The class and the parameters of an estimator and, if it has one, of its solver."""
    parameters = estimator.get_params(deep=False)
    if not isinstance(parameters.get("block_model"), str | None):
        parameters["block_model"] = "labels"  # the file of labels is recorded with the input
    if "solver" in parameters and hasattr(estimator, "_solver"):
        parameters["solver"] = settings_record(estimator._solver())  # None stands for the default solver
    return {"class": type(estimator).__name__, **parameters}


def versions(device: str = "cpu") -> dict[str, str]:
    """Versions of Python and of the packages that affect the results."""
    packages = RECORDED_VERSIONS if device == "cpu" else (*RECORDED_VERSIONS, "torch")
    return {
        "blockselect": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def json_bytes(record: dict[str, Any]) -> bytes:
    """The record as the content of a JSON file."""
    return (json.dumps(record, indent=2, allow_nan=False) + "\n").encode()
