"""Every command in the documentation and in the help works, on small substitutes for files and data sets.

Commands in code blocks run as they are printed. Commands within sentences may leave out what the sentence is not about,
such as the files, which are added.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
from io import BytesIO
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from blockselect import make_attributed_blocks
from blockselect.cli.commands import COMMANDS, app, load_command
from blockselect.datasets.catalogue import Dataset
from blockselect.reproduction import engine, networks, page

networkx = pytest.importorskip("networkx")
pytest.importorskip("openpyxl")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FILLED_IN = {  # subcommand → one of these must be among its arguments; otherwise these are added
    "select": (("--features", "--dataset", "--graph"), "--features table.csv --graph edges.csv"),
    "compare": (("--features", "--dataset"), "--features table.csv --graph edges.csv"),
    "reproduce": (("all",), "all --config quick"),
}


def printed() -> list[str]:
    """Commands in code blocks and in the examples of the help, without comments."""
    blocks = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    helps = chain(app.registered_callback.callback.__doc__.splitlines(), *map(examples, COMMANDS))
    lines = (line.strip().partition(" # ")[0].strip() for line in [*blocks, *helps])
    return list(dict.fromkeys(line for line in lines if line.startswith("blockselect ")))


def examples(name: str) -> list[str]:
    return (load_command(name).help or "").splitlines()


def mentioned() -> list[str]:
    """Commands within sentences."""
    texts = (page.read_text(encoding="utf-8") for page in PAGES)
    found = chain.from_iterable(re.findall(r"`(blockselect [^`]+)`", text) for text in texts)
    return list(dict.fromkeys(command for command in found if command not in printed()))


@pytest.fixture
def network():
    return make_attributed_blocks(
        60, 3, n_informative=20, n_redundant=4, n_noise=46, mean_degree=8, random_state=2
    ).graph


@pytest.fixture
def folder(tmp_path, monkeypatch, network):
    """A folder with the files that the documentation names; each data set is a small network."""
    names = [f"n{node}" for node in range(network.n_nodes)]
    table = pd.DataFrame(network.features.toarray(), index=pd.Index(names, name="name")).add_prefix("f")
    links = network.adjacency.tocoo()
    edges = pd.DataFrame({"source": links.row, "target": links.col}).map(lambda node: names[node])
    classes = pd.DataFrame({"name": names, "class": [f"type {number}" for number in network.classes]})
    table.to_csv(tmp_path / "genes.csv")
    table.assign(**{"class": network.classes, "note": 1}).to_csv(tmp_path / "table.csv")
    edges = edges[links.row < links.col]
    for file in ("edges.csv", "links.csv", "links.csv.gz"):
        edges.to_csv(tmp_path / file, index=False)
    for file in ("p2p-Gnutella08.txt.gz", "links.edgelist"):
        edges.to_csv(tmp_path / file, index=False, header=False, sep=" ")
    table.to_excel(tmp_path / "genes.xlsx")
    edges.to_excel(tmp_path / "links.xlsx", index=False)
    table.to_parquet(tmp_path / "genes.parquet")
    edges.to_feather(tmp_path / "links.feather")
    np.save(tmp_path / "genes.npy", table)
    np.savez(tmp_path / "net.npz", X=table, A=network.adjacency.toarray())
    pd.DataFrame(network.adjacency.toarray(), names, names).to_csv(tmp_path / "adjacency.csv")
    sparse.save_npz(tmp_path / "links.npz", network.adjacency)
    io.mmwrite(tmp_path / "links.mtx", network.adjacency)
    content = BytesIO()
    io.mmwrite(content, network.features)
    (tmp_path / "matrix.mtx.gz").write_bytes(gzip.compress(content.getvalue()))
    io.savemat(tmp_path / "net.mat", {"features": network.features, "adjacency": network.adjacency})
    graph = networkx.from_pandas_edgelist(edges)
    graph.add_nodes_from(names)
    networkx.set_node_attributes(graph, table.assign(team=classes["class"].tolist()).to_dict("index"))
    networkx.set_node_attributes(graph, dict(zip(names, classes["class"], strict=True)), "club")
    networkx.write_graphml(graph, tmp_path / "friends.graphml")
    for suffix in ("graphml", "gexf", "gml"):
        getattr(networkx, f"write_{suffix}")(graph, tmp_path / f"karate.{suffix}")
    (tmp_path / "karate.json").write_text(json.dumps(networkx.node_link_data(graph)))
    for file in ("types.csv", "labels.csv"):
        classes.to_csv(tmp_path / file, index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Dataset, "load", lambda dataset, progress=None: network)
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Experiments end before their trials."""
    monkeypatch.setattr(engine, "run_experiments", lambda *_, **settings: None)
    monkeypatch.setattr(engine, "complete_rows", lambda plans, *_: {name: [{"error": None}] for name in plans})
    monkeypatch.setattr(page, "make_files", lambda *_, **settings: ({"config.json": b""}, {}))
    monkeypatch.setattr(networks, "check_networks", lambda names: None)


def test_the_documentation_has_commands():
    assert {command.split()[1] for command in printed()} >= {"select", "compare", "datasets", "reproduce"}
    assert len(printed()) > 12


@pytest.mark.parametrize("command", printed())
def test_a_printed_command_works(run, folder, quick, command):
    result = run(*shlex.split(command)[1:])
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("command", mentioned())
def test_a_mentioned_command_works(run, folder, quick, command):
    words = shlex.split(command.replace("--features FILE --graph FILE", "--features table.csv --graph edges.csv"))[1:]
    needed, filling = FILLED_IN.get(words[0], ((), ""))
    if needed and not set(needed) & set(words):
        words += filling.split()
    if words[0] in FILLED_IN and not {"--out", "--json"} & set(words):
        words += ["--out", "results"]
    if "cells.h5ad" in words:
        pytest.skip("tests/inputs/test_files.py reads such a file, where anndata is installed")
    result = run(*words)
    assert result.exit_code == 0, result.stderr
