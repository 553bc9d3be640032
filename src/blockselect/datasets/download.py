"""Downloads: a file from a local folder, the cache or the internet, used only if its checksum is correct."""

from __future__ import annotations

import hashlib
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from blockselect.utils.extras import needed
from blockselect.utils.progress import Progress

DATA_VARIABLE, CACHE_VARIABLE = "BLOCKSELECT_DATA", "BLOCKSELECT_CACHE"
NOT_FETCHED = "not fetched"
RETRIES = 2  # after an interrupted or damaged download
CHUNK = 2**15  # bytes between two progress reports


@dataclass(frozen=True, slots=True)
class Source:
    """The file of a data set, as published."""

    dataset: str
    url: str  # pinned to a commit
    size: int  # bytes
    sha256: str

    @property
    def file_name(self) -> str:
        return self.url.rpartition("/")[2]


def fetch_content(source: Source, progress: Progress | None = None) -> bytes:
    """Return the content of a file; download it if it is not on this machine.

    Parameters
    ----------
    source : Source
        The file and where it is published.
    progress : callable, optional
        Called with the name of the data set, the number of bytes received and the total number of bytes.

    Raises
    ------
    ValueError
        If the file in the folder of ``BLOCKSELECT_DATA``, or the downloaded one, is not the published one.
    ConnectionError
        If the file could not be downloaded. The message explains what to do without a connection.
    """
    path = _local_path(source) or _download(source, progress)
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise ValueError(
            f"{path} has {len(content):,} bytes with SHA-256 {found}; expected {source.size:,} bytes with "
            f"{source.sha256}. Replace it with the published file, or remove it to download it again."
        )
    if progress is not None:
        progress(source.dataset, source.size, source.size)
    return content


def place_of(source: Source) -> str:
    """Return where the file was found, without opening it: "BLOCKSELECT_DATA", "cache" or "not fetched"."""
    if _local_path(source):
        return DATA_VARIABLE
    return "cache" if (cache_folder() / source.file_name).is_file() else NOT_FETCHED


def cache_folder() -> Path:
    """Return the folder for downloads: ``BLOCKSELECT_CACHE`` if set, otherwise the user's cache folder."""
    return Path(os.environ.get(CACHE_VARIABLE) or needed("pooch", "a download").os_cache("blockselect")).expanduser()


def _local_path(source: Source) -> Path | None:
    """Return the path of the file in the folder ``BLOCKSELECT_DATA``, or None if the file is not there."""
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise ValueError(f"{DATA_VARIABLE} is {named!r}, which is not a folder; name an existing one, or unset it.")
    path = folder / source.file_name
    return path if path.is_file() else None


def _download(source: Source, progress: Progress | None) -> Path:
    """Return the file from the cache. If needed, pooch downloads it and stores it once complete and verified."""
    pooch, cache = needed("pooch", "a download"), cache_folder()
    from requests import RequestException  # a dependency of pooch

    instead = f"set {DATA_VARIABLE} to a folder that contains {source.file_name}."
    logger = pooch.get_logger()
    level = logger.level
    try:
        logger.setLevel(logging.CRITICAL)  # pooch would write to stderr
        files = pooch.create(
            path=cache,
            base_url=source.url.removesuffix(source.file_name),
            registry={source.file_name: f"sha256:{source.sha256}"},
            retry_if_failed=RETRIES,
        )
        bar = False if progress is None else _progress_bar(source, progress)
        downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=CHUNK)
        return Path(files.fetch(source.file_name, downloader=downloader))
    except RequestException as error:
        raise ConnectionError(
            f"could not download {source.url} ({error}); connect to the internet and try again, or {instead}"
        ) from error
    except ValueError as error:
        raise ValueError(
            f"{source.url} does not have the expected content (SHA-256 {source.sha256}) and was not kept; try again "
            f"later, or {instead}"
        ) from error
    except OSError as error:
        raise OSError(
            f"the cache folder {str(cache)!r} cannot be used ({error}); set {CACHE_VARIABLE} to another folder."
        ) from error
    finally:
        logger.setLevel(level)


def _progress_bar(source: Source, progress: Progress) -> SimpleNamespace:
    """Return an object with the methods that pooch expects of a progress bar."""
    received = 0

    def update(n_bytes: int) -> None:
        nonlocal received
        received = min(received + n_bytes, source.size)  # pooch counts whole chunks
        progress(source.dataset, received, source.size)

    return SimpleNamespace(update=update, reset=lambda: None, close=lambda: None)
