"""What a run may replace in its folder: files that an earlier run wrote there and nobody has changed since."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from blockselect.cli.failure import Failure
from blockselect.cli.record import file_record, json_bytes
from blockselect.wording import shortened

WRITTEN = ".blockselect.json"
"""The file in a folder of results that holds the hash of each file that was written there."""
LONGEST_SHOWN = 80  # letters of a path in a message
SHOWN = 3  # files named in a message


def check_replaced(
    folder: Path, names: Iterable[str], inputs: Mapping[str, Path | None], *, overwrite: bool = False
) -> None:
    """Refuse to replace an input, and without `overwrite` any file that is not as this program wrote it.

    Parameters
    ----------
    folder : path
        Of the results.
    names : iterable of str
        Files that would be written there.
    inputs : mapping
        Option → the file that it names, if any.
    overwrite : bool
        Whether files of others may be replaced.
    """
    shown = shortened(str(folder), LONGEST_SHOWN)
    folder = _made(folder)
    there = [name for name in names if os.path.lexists(folder / name)]
    for name in there:
        for option, path in inputs.items():
            if path is not None and _is_same(folder / name, path):
                raise Failure(
                    f"--out is {shown!r}, where {name} would replace the file of {option}; name another folder."
                )
    if overwrite:
        return
    hashes = _written(folder)
    others = [name for name in there if not _is_as_written(folder / name, hashes.get(name))]
    if others:
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        raise Failure(
            f"--out is {shown!r}, where files would be replaced that blockselect did not write, or that were changed "
            f"since: {', '.join(others[:SHOWN])}{more}; name another folder, or replace them with --overwrite."
        )


def with_hashes(folder: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files, and before them the record of their hashes and of those that were written into the folder earlier."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return {WRITTEN: json_bytes(_written(folder) | hashes), **files}


def _made(folder: Path) -> Path:
    """The folder as it will be once all on its way is made: new/.. is then this one."""
    return Path(os.path.realpath(folder))


def _written(folder: Path) -> dict[str, str]:
    try:
        hashes = json.loads((_made(folder) / WRITTEN).read_bytes())
    except (OSError, ValueError):
        return {}
    return hashes if isinstance(hashes, dict) else {}


def _is_same(path: Path, other: Path) -> bool:
    """Whether both are one file, by whatever names and links."""
    return path.exists() and other.exists() and path.samefile(other)


def _is_as_written(path: Path, sha256: str | None) -> bool:
    return sha256 is not None and path.is_file() and file_record(path)["sha256"] == sha256
