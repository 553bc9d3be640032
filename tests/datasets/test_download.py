"""Downloads: only complete and correct files are used, local ones first."""

from __future__ import annotations

import hashlib
import logging
import time

import pooch
import pytest

from blockselect.datasets.download import Source, cache_folder, fetch_content, place_of
from loopback import serving

CONTENT = bytes(range(256)) * 1000
NAME = "nodes.bin"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """An empty cache, no local folder, no proxy, no wait before another attempt."""
    monkeypatch.delenv("BLOCKSELECT_DATA", raising=False)
    monkeypatch.setenv("BLOCKSELECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return tmp_path / "cache"


@pytest.fixture
def server():
    with serving({NAME: CONTENT}) as running:
        yield running


@pytest.fixture
def source(server):
    return source_at(server)


@pytest.fixture
def source_offline():
    with serving({}) as server:
        return source_at(server)


@pytest.fixture
def local(monkeypatch, tmp_path):
    """A local folder that contains the file."""
    folder = tmp_path / "local"
    folder.mkdir()
    (folder / NAME).write_bytes(CONTENT)
    monkeypatch.setenv("BLOCKSELECT_DATA", str(folder))
    return folder


def source_at(server):
    return Source("toy", f"{server.base_url}{NAME}", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


def names_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_file_is_downloaded_into_the_cache_once(server, source, cache):
    for _ in range(2):
        assert fetch_content(source) == (cache / NAME).read_bytes() == CONTENT
    assert server.requests == names_in(cache) == [NAME]


@pytest.mark.parametrize("compresses", [False, True])
def test_progress_counts_bytes_and_never_falls(server, source, compresses):
    heard = []
    server.compresses = compresses
    fetch_content(source, lambda *report: heard.append(report))
    received = [here for _, here, _ in heard]
    assert received == sorted(received)
    assert len(set(received)) > 4
    assert {(name, total) for name, _, total in heard} == {("toy", len(CONTENT))}
    assert received[-1] == len(CONTENT)


def test_nothing_is_printed_and_the_logger_of_pooch_stays_as_it_was(source, capfd):
    level = pooch.get_logger().level
    assert level < logging.INFO  # so that pooch would log a download
    fetch_content(source)
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level


def test_a_download_that_breaks_off_every_time_is_not_kept(server, source, cache):
    server.breaks_off = 3
    with pytest.raises(ConnectionError, match=r"could not download http.*/nodes\.bin "):
        fetch_content(source)
    assert names_in(cache) == []


def test_a_download_that_breaks_off_once_is_tried_again(server, source):
    server.breaks_off = 1
    assert fetch_content(source) == CONTENT
    assert server.requests == [NAME, NAME]


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x", b"", b"y" + CONTENT[1:]])
def test_another_content_than_pinned_is_not_kept(server, source, cache, content):
    server.files[NAME] = content
    with pytest.raises(ValueError, match=r"nodes\.bin does not have the expected content .* not kept"):
        fetch_content(source)
    assert names_in(cache) == []


def test_a_file_that_the_server_does_not_have_is_named(server, source, cache):
    server.files.clear()
    with pytest.raises(ConnectionError, match=r"could not download .*nodes\.bin .*404"):
        fetch_content(source)
    assert names_in(cache) == []


@pytest.mark.parametrize("damaged", [False, True])
def test_without_a_server_the_error_says_what_to_do(source_offline, cache, damaged):
    """The error is the same if the cache contains a damaged file."""
    if damaged:
        cache.mkdir()
        (cache / NAME).write_bytes(b"half")
    with pytest.raises(ConnectionError) as caught:
        fetch_content(source_offline)
    message = str(caught.value)
    assert f"could not download {source_offline.url} (" in message
    assert message.endswith(
        "connect to the internet and try again, or set BLOCKSELECT_DATA to a folder that contains nodes.bin."
    )
    assert names_in(cache) == ([NAME] if damaged else [])


def test_a_damaged_file_in_the_cache_is_downloaded_again(source, cache):
    cache.mkdir()
    (cache / NAME).write_bytes(b"half")
    assert fetch_content(source) == (cache / NAME).read_bytes() == CONTENT


def test_a_local_folder_goes_first_and_the_cache_stays_empty(server, source, local, cache):
    heard = []
    assert fetch_content(source, lambda *report: heard.append(report)) == CONTENT
    assert server.requests == names_in(cache) == []
    assert heard == [("toy", 256_000, 256_000)]


def test_a_local_file_with_another_content_is_refused_and_not_replaced(server, source, local):
    (local / NAME).write_bytes(b"other")
    with pytest.raises(
        ValueError, match=r"nodes\.bin has 5 bytes with SHA-256 .*; expected 256,000 bytes with .* Replace it"
    ):
        fetch_content(source)
    assert (local / NAME).read_bytes() == b"other"
    assert server.requests == []


def test_a_local_folder_that_does_not_exist_is_refused(source, monkeypatch, tmp_path):
    monkeypatch.setenv("BLOCKSELECT_DATA", str(tmp_path / "typo"))
    with pytest.raises(ValueError, match=r"BLOCKSELECT_DATA is '.*typo', which is not a folder"):
        fetch_content(source)


def test_a_cache_that_cannot_be_used_is_named(server, source, cache):
    cache.write_text("a file where the folder should be")
    with pytest.raises(OSError, match=r"the cache folder '.*cache' cannot be used .* set BLOCKSELECT_CACHE"):
        fetch_content(source)
    assert server.requests == []


@pytest.mark.parametrize("error", [OSError(28, "No space left"), PermissionError("Pooch could not create data in it")])
def test_an_error_of_the_disk_is_not_taken_for_a_broken_connection(source, cache, monkeypatch, error):
    """The PermissionError of pooch has no number."""

    def fail(*args, **options):
        raise error

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", fail)
    with pytest.raises(OSError, match=rf"cannot be used .*{error.args[-1]}.* set BLOCKSELECT_CACHE"):
        fetch_content(source)
    assert names_in(cache) == []


def test_place_of_a_file(source, local):
    """A local folder without the file does not hide the cache."""
    assert place_of(source) == "BLOCKSELECT_DATA"
    (local / NAME).unlink()
    assert place_of(source) == "not fetched"
    fetch_content(source)
    assert place_of(source) == "cache"


def test_the_cache_is_the_users_own_unless_named(monkeypatch, cache):
    assert cache_folder() == cache
    monkeypatch.delenv("BLOCKSELECT_CACHE")
    assert cache_folder() == pooch.os_cache("blockselect")
