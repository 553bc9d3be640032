"""Files of a public commit: from a local folder, the cache or the internet, checked before anyone reads them."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

DATA_VARIABLE, CACHE_VARIABLE = "BLOCKSELECT_DATA", "BLOCKSELECT_CACHE"
RETRIES = 2  # of a download that broke off or came damaged
CHUNK = 2**15  # bytes between two reports of progress

Progress: TypeAlias = Callable[[str, int, int], None]  # data set, bytes here, of how many


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file that may have no other content than this."""

    name: str
    size: int  # bytes
    sha256: str


@dataclass(frozen=True, slots=True)
class Source:
    """The files of one data set, all from one commit of a public repository."""

    dataset: str
    base_url: str  # ends with a slash; pinned to a commit
    files: tuple[PinnedFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


class Place(StrEnum):
    """Where a file, or all files of a source, were found."""

    LOCAL = DATA_VARIABLE
    CACHE = "cache"
    NOWHERE = "not fetched"


def fetch_contents(source: Source, progress: Progress | None = None) -> dict[str, bytes]:
    """The content of each file of a source, by name; what is on no local disk is downloaded.

    Parameters
    ----------
    source : Source
        Which files, and where they are published.
    progress : callable, optional
        Called with the data set's name, the bytes that are here and the bytes in all.

    Raises
    ------
    ValueError
        A file in the folder of ``BLOCKSELECT_DATA``, or a downloaded one, is not the pinned one.
    ConnectionError
        A file could not be downloaded; the message explains what to do without a connection.
    """
    contents: dict[str, bytes] = {}
    before = 0
    for file in source.files:
        local = _local_path(file)
        counter = None if progress is None else _ByteCounter(progress, source, file, before)
        path = _download(source, file, counter) if local is None else local
        # Checked as read, not only as stored: these bytes are what is parsed.
        contents[file.name] = _checked(path, file)
        before += file.size
        if progress is not None:
            progress(source.dataset, before, source.size)
    return contents


def place_of(source: Source) -> Place:
    """Where all files of a source are: none of them is opened."""
    cache = cache_folder()
    places = {
        Place.LOCAL if _local_path(file) else Place.CACHE if (cache / file.name).is_file() else Place.NOWHERE
        for file in source.files
    }
    return next(place for place in (Place.NOWHERE, Place.CACHE, Place.LOCAL) if place in places)


def cache_folder() -> Path:
    """Where downloads are kept: ``BLOCKSELECT_CACHE``, or the cache folder of this user."""
    return Path(os.environ.get(CACHE_VARIABLE) or _pooch().os_cache("blockselect")).expanduser()


def _pooch() -> Any:
    """The package that downloads: an extra, since most users never download."""
    try:
        import pooch  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("a download needs pooch; install it with: pip install 'blockselect[datasets]'") from error
    return pooch


def _local_path(file: PinnedFile) -> Path | None:
    """The file in the folder that the user named, if there is one that has it."""
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise ValueError(f"{DATA_VARIABLE} is {named!r}, which is no folder; name one that exists, or unset it.")
    path = folder / file.name
    return path if path.is_file() else None


def _download(source: Source, file: PinnedFile, counter: _ByteCounter | None) -> Path:
    """Path of a file in the cache, downloaded if need be, with errors that say what to do."""
    cache = cache_folder()
    try:
        return _fetch_into(cache, source, file, counter)
    except OSError as error:
        if _is_of_the_disk(error):
            raise OSError(
                f"the cache folder {str(cache)!r} cannot be used ({error}); set {CACHE_VARIABLE} to another folder."
            ) from error
        reason = getattr(error.args[0], "reason", error) if error.args else error  # without the layers around it
        raise ConnectionError(
            f"could not download {file.name} from {source.base_url} ({reason}); connect to the internet and try "
            f"again, or {_without_connection(source)}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"{source.base_url}{file.name} came with another content than expected (SHA-256 {file.sha256}) and was "
            f"not kept; try again later, or {_without_connection(source)}"
        ) from error


def _fetch_into(cache: Path, source: Source, file: PinnedFile, counter: _ByteCounter | None) -> Path:
    """The work of pooch: it moves a file into the cache only when whole and right."""
    pooch = _pooch()
    cache.mkdir(parents=True, exist_ok=True)
    checksums = {file.name: f"sha256:{file.sha256}"}
    store = pooch.create(path=cache, base_url=source.base_url, registry=checksums, retry_if_failed=RETRIES)
    with _silent(pooch.get_logger()), ExitStack() as answers:
        # pooch leaves the connection of an answer that fails open.
        hooks = {"response": lambda answer, **_: answers.enter_context(answer)}
        downloader = pooch.HTTPDownloader(progressbar=counter or False, chunk_size=CHUNK, hooks=hooks)
        return Path(store.fetch(file.name, downloader=downloader))


def _is_of_the_disk(error: OSError) -> bool:
    """Whether the error comes from the disk: errors of requests, which are OSErrors too, have no number."""
    return isinstance(error, PermissionError) or (error.errno is not None and not isinstance(error, ConnectionError))


def _without_connection(source: Source) -> str:
    names = ", ".join(file.name for file in source.files)
    return f"set {DATA_VARIABLE} to a folder that holds {names}."


def _checked(path: Path, file: PinnedFile) -> bytes:
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise ValueError(
            f"{path} has {len(content):,} bytes with SHA-256 {found}; expected {file.size:,} with {file.sha256}: "
            "replace it by the published file, or remove it to have it downloaded."
        )
    return content


class _ByteCounter:
    """A progress bar for pooch that reports the bytes of the whole source."""

    def __init__(self, progress: Progress, source: Source, file: PinnedFile, before: int) -> None:
        self.total = 0  # set by pooch: what the server announces, which for compressed answers is not the size
        self._progress, self._source, self._file, self._before = progress, source, file, before
        self._here = 0

    def update(self, n_bytes: int) -> None:
        self._here = min(self._here + n_bytes, self._file.size)
        self._progress(self._source.dataset, self._before + self._here, self._source.size)

    def reset(self) -> None:
        """Called before a last update to the total: what is here stays here."""

    def close(self) -> None:
        """The bar belongs to the caller."""


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from writing to stderr, and leave its logger as it was."""
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
