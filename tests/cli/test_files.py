"""Files in many formats on the command line; errors say which option to use."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

networkx = pytest.importorskip("networkx")
pytest.importorskip("pyarrow")

QUICK = ("--top", 5, "--blocks", 3, "--set", "n_candidates=3", "--resamples", 0, "--seed", 0)


@pytest.fixture(scope="module")
def frame(network):
    graph = network.graph
    names = [f"word {i}" for i in range(graph.n_features)]
    return pd.DataFrame(graph.features.toarray(), [f"n{i}" for i in range(graph.n_nodes)], names)


@pytest.fixture(scope="module")
def linked(network, frame):
    return networkx.relabel_nodes(
        networkx.from_scipy_sparse_array(network.graph.adjacency), dict(enumerate(frame.index))
    )


def scores(run, *options):
    result = run("select", *options, *QUICK, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["scores"]


def test_parquet_with_graphml_gives_the_scores_of_matrices_with_names(run, frame, linked, network, tmp_path):
    frame.to_parquet(tmp_path / "features.parquet")
    networkx.write_graphml(linked, tmp_path / "graph.graphml")
    named = scores(run, "--features", tmp_path / "features.parquet", "--graph", tmp_path / "graph.graphml")
    np.save(tmp_path / "turned.npy", frame.to_numpy().T)
    (tmp_path / "ids.txt").write_text("\n".join(frame.index))
    sparse.save_npz(tmp_path / "graph.npz", network.graph.adjacency)
    files = (
        "--features",
        tmp_path / "turned.npy",
        "--graph",
        tmp_path / "graph.npz",
        "--node-ids",
        tmp_path / "ids.txt",
    )
    assert np.allclose(scores(run, *files, "--transpose"), named, rtol=1e-9)
    refused = run("select", *files[:4], *QUICK, "--json")
    assert refused.exit_code == 2
    assert "give --transpose" in refused.stderr


def test_unknown_nodes_are_dropped_and_a_weight_is_chosen_where_asked(run, frame, linked, tmp_path):
    frame.to_csv(tmp_path / "features.csv", index_label="id")
    edges = networkx.to_pandas_edgelist(linked)[["source", "target"]].assign(year=2020)
    pd.concat([edges, pd.DataFrame({"source": ["n0"], "target": ["stranger"], "year": [2020]})]).to_csv(
        tmp_path / "edges.csv.gz", index=False
    )
    files = ("--features", tmp_path / "features.csv", "--graph", tmp_path / "edges.csv.gz")
    assert "edge column 'year' contains numbers" in run("select", *files, *QUICK, "--json").stderr
    assert "stranger" in run("select", *files, *QUICK, "--json", "--weight", "none").stderr
    out = ("--weight", "none", "--unknown-nodes", "drop", "--out", tmp_path / "out")
    result = run("select", *files, *QUICK, *out)
    assert result.exit_code == 0, result.stderr
    assert "warning: 1 link(s) of nodes without features are left out." in result.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())["input"]
    assert (record["weight"], record["unknown_nodes"]) == ("none", "drop")


def test_options_of_files_are_refused_where_they_change_nothing(run, frame, tmp_path):
    assert (
        "--transpose can only be used with --features"
        in run("select", "--dataset", "cora", "--transpose", "--json").stderr
    )
    frame.to_csv(tmp_path / "features.csv", index_label="id")
    features = ("--features", tmp_path / "features.csv", "--json")
    assert "--weight can only be used with --graph" in run("select", *features, "--weight", "calls").stderr


def test_a_network_is_called_by_its_files_each_named_once(run, tmp_path):
    ring = np.roll(np.eye(6), 1, axis=0) + np.diag([0.0, 1, 2, 3, 4, 5])
    for name in ("ring.npy", "links.npy"):
        np.save(tmp_path / name, ring + ring.T)
    for graph, title in (("ring.npy", "ring.npy"), ("links.npy", "ring.npy with links.npy")):
        files = ("--features", tmp_path / "ring.npy", "--graph", tmp_path / graph)
        result = run("select", *files, "--method", "variance", "--top", 1, "--out", tmp_path / "out")
        assert f"\n{title}: 6 nodes" in f"\n{result.stdout}"
