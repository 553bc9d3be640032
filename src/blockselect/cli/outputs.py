"""A folder of results: which files may be replaced, how all are written as one unit, and what run.json records."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from blockselect import __version__
from blockselect.cli.failure import Failure

WRITTEN = ".blockselect.json"
"""The file in a folder of results that holds the hash of every file that was written there."""
SHOWN = 3  # files named in a message
RECORDED_VERSIONS = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


def check_folder(folder: Path, names: Collection[str], inputs: Collection[Path | None], *, overwrite: bool) -> None:
    """Refuse a folder that cannot hold these files, or in which they would replace files of the user.

    Parameters
    ----------
    folder : path
    names : collection of str
        Paths within the folder.
    inputs : collection of paths
        Files that are never replaced.
    overwrite : bool
        Whether files may be replaced that this program did not write or that were changed since.
    """
    folder = Path(os.path.realpath(folder))  # also through a link that leads nowhere yet
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not existing.is_dir():
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is a file; name a folder.")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise Failure(f"--out is {str(folder)!r} but {str(existing)!r} is not writable; name another folder.")
    for name in (WRITTEN, *names):
        if (folder / name).is_dir():
            raise Failure(f"{str(folder / name)!r} is a folder where a file is to be written; name another --out.")
    there = [name for name in names if os.path.lexists(folder / name)]
    given = [path for path in inputs if path is not None and path.exists()]
    for name in there:
        if (folder / name).exists() and any(path.samefile(folder / name) for path in given):
            raise Failure(f"--out is {str(folder)!r}, where {name} would replace an input file; name another folder.")
    if overwrite:
        return
    hashes = _written(folder)
    ours = [name for name in there if (folder / name).is_file() and _hash(folder / name) == hashes.get(name)]
    if others := [name for name in there if name not in ours]:
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        raise Failure(
            f"--out is {str(folder)!r}, where files would be replaced that blockselect did not write, or that were "
            f"changed since: {', '.join(others[:SHOWN])}{more}; name another folder, or replace them with --overwrite."
        )


def _written(folder: Path) -> dict[str, str]:
    """Hashes of the files that earlier runs wrote into a folder."""
    try:
        hashes = json.loads((folder / WRITTEN).read_bytes())
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}


def write_together(folder: Path, files: Mapping[str, bytes], *, mark: str) -> None:
    """Write the files as one unit, replacing older ones of the same names, and a record of their hashes beside them.

    A new folder is filled under a hidden name and then renamed, in one step. In an existing folder the files are
    written to a hidden folder within it, the older ones are moved to another, and the new ones take their places. The
    mark is the first to go and the last to come, so that a folder with the mark is complete even if the power fails.
    After any other failure the older files are put back and no new file stays.

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
    folder = Path(os.path.realpath(folder))
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files = {WRITTEN: json_bytes(_written(folder) | hashes), **files}
    is_new = not folder.exists()
    within = next(path for path in folder.absolute().parents if path.exists()) if is_new else folder
    staged = within / f".blockselect-{secrets.token_hex(4)}.tmp"
    try:
        for name, content in files.items():
            (staged / name).parent.mkdir(parents=True, exist_ok=True)
            _write(staged / name, content)
        if is_new:
            folder.parent.mkdir(parents=True, exist_ok=True)
            staged.rename(folder)
        else:
            _replace_files(folder, staged, [*(name for name in files if name != mark), mark])
    except OSError as error:
        raise Failure(
            f"--out is {str(folder)!r}, where the results could not be written: {error.strerror or error}; nothing of "
            "this run is there: free some space or name another folder, and run it again."
        ) from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _replace_files(folder: Path, staged: Path, names: list[str]) -> None:
    """Move files from the staged folder into a folder, the last name last; after a failure all is as before."""
    older = folder / f"{staged.name}.older"  # it is deleted only if nothing in it is needed
    try:
        for name in reversed(names):
            with suppress(FileNotFoundError):  # another process may share the folder
                _move(folder / name, older / name)
        for name in names:
            _move(staged / name, folder / name)
    except BaseException:  # including Ctrl-C
        for name in names:
            if os.path.lexists(older / name):
                (older / name).replace(folder / name)
            elif not (staged / name).exists():
                (folder / name).unlink(missing_ok=True)
        shutil.rmtree(older, ignore_errors=True)
        raise
    shutil.rmtree(older, ignore_errors=True)


def _move(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    path.replace(target)


def file_record(path: Path) -> dict[str, str]:
    """The name of a file and its hash. Folders are left out, because they are private."""
    return {"file": path.name, "sha256": _hash(path)}


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def settings_record(estimator: Any) -> dict[str, Any]:
    """The class of an estimator and its parameters; a solver among them has a record of its own."""
    parameters = estimator.get_params(deep=False)
    if not isinstance(parameters.get("block_model"), str | None):
        parameters["block_model"] = "labels"  # the input names their file
    if "solver" in parameters and hasattr(estimator, "_solver"):
        parameters["solver"] = settings_record(estimator._solver())  # None stands for the default solver
    return {"class": type(estimator).__name__, **parameters}


def versions(device: str = "cpu") -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on."""
    packages = RECORDED_VERSIONS if device == "cpu" else (*RECORDED_VERSIONS, "torch")
    return {
        "blockselect": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def json_bytes(record: dict[str, Any]) -> bytes:
    """The record as the content of a file."""
    return (json.dumps(record, indent=2, allow_nan=False) + "\n").encode()
