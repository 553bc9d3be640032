"""Files come whole and right, from the nearest place that has them, or not at all."""

from __future__ import annotations

import hashlib
import logging
import time

import pooch
import pytest

from blockselect.datasets import download
from blockselect.datasets.download import PinnedFile, Place, Source, cache_folder, fetch_contents, place_of
from loopback import serving

FILES = {"nodes.bin": bytes(range(256)) * 1000, "links.bin": b"links" * 20_000}


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """An empty cache of the test's own, no local folder, no proxy, no second try."""
    monkeypatch.delenv("BLOCKSELECT_DATA", raising=False)
    monkeypatch.setenv("BLOCKSELECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download, "RETRIES", 0)
    return tmp_path / "cache"


@pytest.fixture
def server():
    with serving(FILES) as running:
        yield running


@pytest.fixture
def local(monkeypatch, tmp_path):
    """A local folder that holds both files."""
    folder = tmp_path / "local"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    monkeypatch.setenv("BLOCKSELECT_DATA", str(folder))
    return folder


def source_at(base_url):
    files = (PinnedFile(name, len(c), hashlib.sha256(c).hexdigest()) for name, c in FILES.items())
    return Source("toy", base_url, tuple(files))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_files_are_downloaded_into_the_cache(server, cache):
    assert fetch_contents(source_at(server.base_url)) == FILES
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == FILES


def test_a_second_call_needs_no_server(cache):
    with serving(FILES) as server:
        source = source_at(server.base_url)
        fetch_contents(source)
        assert server.requests == list(FILES)
        fetch_contents(source)
        assert server.requests == list(FILES)
    assert fetch_contents(source) == FILES


@pytest.mark.parametrize("compresses", [False, True])
def test_progress_counts_the_bytes_of_all_files_and_never_falls(server, compresses):
    heard = []
    server.compresses = compresses
    source = source_at(server.base_url)
    fetch_contents(source, lambda *report: heard.append(report))
    done = [here for _, here, _ in heard]
    assert done == sorted(done)
    assert len(set(done)) > 4  # not only when a file is done
    assert {(name, total) for name, _, total in heard} == {("toy", source.size)}
    assert done[-1] == source.size == sum(map(len, FILES.values()))


def test_nothing_is_printed_and_the_logger_of_pooch_stays_as_it_was(server, capfd):
    level = pooch.get_logger().level
    assert level < logging.INFO  # so that pooch would log a download
    fetch_contents(source_at(server.base_url))
    assert capfd.readouterr() == ("", "")
    assert pooch.get_logger().level == level


def test_a_download_that_breaks_off_is_not_kept(server, cache):
    server.breaks_off = 1
    with pytest.raises(ConnectionError, match=r"could not download nodes\.bin from http"):
        fetch_contents(source_at(server.base_url))
    assert names_in(cache) == []


def test_a_download_that_breaks_off_once_is_tried_again(server, monkeypatch):
    waits = []
    monkeypatch.setattr(download, "RETRIES", 1)
    monkeypatch.setattr(time, "sleep", waits.append)
    server.breaks_off = 1
    assert fetch_contents(source_at(server.base_url)) == FILES
    assert server.requests == ["nodes.bin", "nodes.bin", "links.bin"]
    assert len(waits) == 1


@pytest.mark.parametrize("damage", [lambda c: c[:-1], lambda c: c + b"x", lambda c: b"", lambda c: b"y" + c[1:]])
def test_another_content_than_pinned_is_not_kept(server, cache, damage):
    server.files["links.bin"] = damage(FILES["links.bin"])
    with pytest.raises(ValueError, match=r"links\.bin came with another content than expected .* not kept"):
        fetch_contents(source_at(server.base_url))
    assert names_in(cache) == ["nodes.bin"]  # whole and right: it need not come again


def test_a_file_that_the_server_does_not_have_is_named(server, cache):
    del server.files["links.bin"]
    with pytest.raises(ConnectionError, match=r"could not download links\.bin .*404"):
        fetch_contents(source_at(server.base_url))
    assert names_in(cache) == ["nodes.bin"]


def test_without_a_server_the_error_says_what_to_do(cache):
    with serving(FILES) as server:
        source = source_at(server.base_url)
    with pytest.raises(ConnectionError) as caught:
        fetch_contents(source)
    message = str(caught.value)
    assert f"could not download nodes.bin from {source.base_url}" in message
    assert "connect to the internet and try again, or set BLOCKSELECT_DATA to a folder" in message
    assert message.endswith("that holds nodes.bin, links.bin.")
    assert names_in(cache) == []


def test_a_damaged_file_in_the_cache_is_downloaded_again(server, cache):
    cache.mkdir()
    (cache / "nodes.bin").write_bytes(b"half")
    assert fetch_contents(source_at(server.base_url)) == FILES
    assert (cache / "nodes.bin").read_bytes() == FILES["nodes.bin"]


def test_a_damaged_file_in_the_cache_is_not_used_without_a_server(cache):
    with serving(FILES) as server:
        source = source_at(server.base_url)
    cache.mkdir()
    (cache / "nodes.bin").write_bytes(b"half")
    with pytest.raises(ConnectionError):
        fetch_contents(source)


def test_a_local_folder_goes_first_and_the_cache_stays_empty(server, local, cache):
    heard = []
    source = source_at(server.base_url)
    assert fetch_contents(source, lambda *report: heard.append(report)) == FILES
    assert server.requests == []
    assert names_in(cache) == []
    assert heard == [("toy", 256_000, 356_000), ("toy", 356_000, 356_000)]


def test_a_local_file_with_another_content_is_refused_and_not_replaced(server, local):
    (local / "links.bin").write_bytes(b"other")
    with pytest.raises(
        ValueError, match=r"links\.bin has 5 bytes with SHA-256 .*; expected 100,000 with .* replace it"
    ):
        fetch_contents(source_at(server.base_url))
    assert (local / "links.bin").read_bytes() == b"other"
    assert server.requests == []


def test_what_a_local_folder_does_not_have_is_downloaded(server, local, cache):
    (local / "links.bin").unlink()
    assert fetch_contents(source_at(server.base_url)) == FILES
    assert server.requests == names_in(cache) == ["links.bin"]


def test_a_local_folder_that_is_not_there_is_refused(server, monkeypatch, tmp_path):
    monkeypatch.setenv("BLOCKSELECT_DATA", str(tmp_path / "typo"))
    with pytest.raises(ValueError, match=r"BLOCKSELECT_DATA is '.*typo', which is no folder"):
        fetch_contents(source_at(server.base_url))


def test_a_cache_that_cannot_be_used_is_named(server, cache):
    cache.write_text("a file where the folder should be")
    with pytest.raises(OSError, match=r"the cache folder '.*cache' cannot be used .* set BLOCKSELECT_CACHE"):
        fetch_contents(source_at(server.base_url))
    assert server.requests == []


def test_a_full_disk_is_not_taken_for_a_broken_connection(server, cache, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", full)
    with pytest.raises(OSError, match=r"cannot be used .*No space left.* set BLOCKSELECT_CACHE"):
        fetch_contents(source_at(server.base_url))
    assert names_in(cache) == []


def test_the_place_of_the_files_is_told(server, cache, local, monkeypatch):
    source = source_at(server.base_url)
    assert place_of(source) is Place.LOCAL
    (local / "links.bin").unlink()
    assert place_of(source) is Place.NOWHERE
    fetch_contents(source)
    assert place_of(source) is Place.CACHE
    (cache / "links.bin").unlink()
    monkeypatch.delenv("BLOCKSELECT_DATA")
    assert place_of(source) is Place.NOWHERE


def test_the_cache_is_the_users_own_unless_named(monkeypatch, cache):
    assert cache_folder() == cache
    monkeypatch.delenv("BLOCKSELECT_CACHE")
    assert cache_folder() == pooch.os_cache("blockselect")
