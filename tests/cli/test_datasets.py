"""`blockselect datasets` lists, describes and downloads networks."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from blockselect.datasets import DATASETS, download, make_attributed_blocks, networks
from blockselect.datasets.catalogue import NetworkCounts
from blockselect.datasets.download import Source, fetch_content
from loopback import serving

CONTENT = b"a network" * 1000


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """An empty cache, no local folder, no proxy and no retries."""
    monkeypatch.delenv("BLOCKSELECT_DATA", raising=False)
    monkeypatch.setenv("BLOCKSELECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download, "RETRIES", 0)
    return tmp_path / "cache"


@pytest.fixture
def offline(monkeypatch, cache):
    """All connections go through a proxy that is not running."""
    with serving({}) as server:
        monkeypatch.setenv("HTTPS_PROXY", server.base_url)


@pytest.fixture
def toy(monkeypatch, cache):
    """A data set of one file, on a server on this machine."""
    graph = make_attributed_blocks(30, 2, n_informative=4, n_redundant=0, n_noise=6, random_state=0).graph
    with serving({"toy.bin": CONTENT}) as server:
        source = Source("toy", f"{server.base_url}toy.bin", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())

        def fetch_toy(*, progress=None):
            fetch_content(source, progress)
            return graph

        dataset = replace(
            DATASETS["blogcatalog"], name="toy", counts=NetworkCounts.of(graph), loader=fetch_toy, source=source
        )
        monkeypatch.setitem(DATASETS, "toy", dataset)
        yield server


@pytest.fixture
def refuse(run):
    def invoke(*arguments):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return invoke


def rows(stdout):
    return {line.split()[0]: line.split()[1:] for line in stdout.splitlines() if line.strip()}


def test_list_shows_each_network_with_its_counts_and_where_it_is(run, cache):
    result = run("datasets", "list")
    assert (result.exit_code, result.stderr) == (0, "")
    table = rows(result.stdout)
    assert table["name"] == ["nodes", "links", "features", "classes", "where"]
    assert table["blogcatalog"] == ["5,196", "171,743", "8,189", "6", "not", "fetched"]
    assert table["citeseer"] == ["3,312", "4,660", "3,703", "6", "in", "the", "package"]
    assert table["cora"] == ["2,708", "5,278", "1,433", "7", "in", "the", "package"]
    assert table["debian"] == ["4,960", "18,195", "1,088", "31", "in", "the", "package"]
    assert set(DATASETS) < set(table)


def test_fetch_downloads_into_the_cache_once_and_list_says_so(run, toy, cache):
    for _ in range(2):
        result = run("datasets", "fetch", "toy")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.startswith("toy: 30 nodes, ")
        assert result.stdout.endswith("10 features, 2 classes; cache\n")
    assert toy.requests == ["toy.bin"]
    assert (cache / "toy.bin").read_bytes() == CONTENT
    assert rows(run("datasets", "list").stdout)["toy"][-1] == "cache"


def test_fetch_of_what_comes_with_the_package_downloads_nothing(run, cache):
    result = run("datasets", "fetch", "cora")
    assert result.stdout == "cora: 2,708 nodes, 5,278 links, 1,433 features, 7 classes; in the package\n"
    assert not cache.exists()


def test_fetch_takes_a_local_folder(run, data_path):
    assert run("datasets", "fetch", "blogcatalog").stdout.endswith("8,189 features, 6 classes; BLOCKSELECT_DATA\n")


def test_info_shows_counts_source_checksum_licence_and_what_to_cite(run, cache):
    shown = run("datasets", "info", "blogcatalog").stdout
    assert "5,196 nodes, 171,743 links, 8,189 features, 6 classes" in shown
    assert f"source: {networks.BLOGCATALOG.url}" in shown
    assert networks.BLOGCATALOG.sha256 in shown
    assert f"cache: {cache}" in shown
    assert "licence: none stated" in shown
    assert "cite: X. Huang" in shown


@pytest.mark.parametrize(
    ("name", "licence", "author"),
    [
        ("cora", "Apache-2.0", "P. Sen"),
        ("citeseer", "none stated for the data; the repository they", "P. Sen"),
        ("debian", "none stated; the data contain only facts", "The Debian Project"),
    ],
)
def test_info_of_what_comes_with_the_package_names_its_licence(run, name, licence, author):
    shown = run("datasets", "info", name).stdout
    assert "where: in the package" in shown
    assert f"licence: {licence}" in shown
    assert f"cite: {author}" in shown


@pytest.mark.parametrize(
    "command", [("datasets", "fetch", "blogcatalog"), ("select", "--json", "--dataset", "blogcatalog")]
)
def test_without_a_connection_one_line_says_what_to_do(refuse, offline, command):
    message = refuse(*command)
    assert f"could not download {networks.BLOGCATALOG.url}" in message
    assert "connect to the internet and try again, or set BLOCKSELECT_DATA" in message


def test_a_wrong_download_is_one_line_and_not_kept(refuse, toy, cache):
    toy.files["toy.bin"] = CONTENT[:-1]
    assert "not have the expected content" in refuse("datasets", "fetch", "toy")
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("command", ["info", "fetch"])
def test_an_unknown_name_is_refused_with_a_guess(refuse, command):
    assert "no data set is called 'citeser'; choose one of: " in refuse("datasets", command, "citeser")
    assert "Did you mean citeseer?" in refuse("datasets", command, "citeser")


@pytest.mark.parametrize("arguments", [("info",), ("fetch",), ("fetch", "cora", "citeseer"), ("remove",), ("--nope",)])
def test_a_wrong_use_is_one_line(refuse, arguments):
    refuse("datasets", *arguments)


def test_a_local_folder_that_is_not_there_is_one_line(refuse, monkeypatch):
    monkeypatch.setenv("BLOCKSELECT_DATA", "/no/such/folder")
    for command in (("list",), ("info", "blogcatalog"), ("fetch", "blogcatalog")):
        assert "BLOCKSELECT_DATA is '/no/such/folder', which is not a folder" in refuse("datasets", *command)


def test_help_is_shown_when_nothing_is_asked(run):
    result = run("datasets")
    assert result.exit_code == 0
    assert all(command in result.stdout for command in ("list", "info", "fetch"))


@pytest.mark.parametrize("name", ["citeseer", "blogcatalog", "cora-planetoid", "debian"])
def test_select_takes_every_network(run, data_path, name):
    settings = ("--set", "n_candidates=1", "--set", "sparsity=0", "--set", "solver__max_iter=2")
    options = ("--paper", "--blocks", 3, "--top", 4, *settings)
    result = run("select", "--dataset", name, *options, "--json")
    assert result.exit_code == 0, result.stderr
    counts = json.loads(result.stdout)["counts"]
    expected = DATASETS[name].counts
    assert (counts["nodes"], counts["links"], counts["features"]) == (expected.nodes, expected.links, expected.features)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals to open here")
def test_fetch_draws_a_progress_bar_on_a_terminal(data_path):
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "blockselect.cli.main", "datasets", "fetch", "blogcatalog"],
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm"},
            check=True,
        )
        os.close(theirs)
        shown = os.read(ours, 65536)
    finally:
        os.close(ours)
    assert b"blogcatalog" in shown
    assert b"100%" in shown
    assert b"1476789/1476789" in shown
    assert done.stdout.startswith(b"blogcatalog: 5,196 nodes")
