"""Make the citation networks that come with the package: Cora and Citeseer.

For maintainers. Besides the dependencies of blockselect it needs the internet, pip and pyarrow (to read Parquet):

    python scripts/make_networks.py FOLDER

FOLDER contains the files ``ind.cora.*`` and ``ind.citeseer.*`` from github.com/tkipf/gcn, folder gcn/data, commit
39a4089fe72ad9f055ed6fdb9746abdcfebc4d81. Cora itself is taken from the graphdatascience wheel; the files provide only
Planetoid's order of its papers. The script writes cora.npz, citeseer.npz and the licence of the wheel into
src/blockselect/datasets/data and prints the SHA-256 of both networks. The same input gives the same bytes unless
NumPy's .npy header or zlib changes.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, vstack

VERSION = "2.2"
WHEEL_SHA256 = "1e978c3bf5c2cece4282338d224d1efcffa8681733113d576c2205c4d06f549b"
NODES = "graphdatascience/resources/cora/cora_nodes.parquet.gzip"
CITATIONS = "graphdatascience/resources/cora/cora_rels.parquet.gzip"
LICENCE = f"graphdatascience-{VERSION}.dist-info/licenses/LICENSE"
DATA = Path(__file__).resolve().parents[1] / "src" / "blockselect" / "datasets" / "data"
PLANETOID_SHA256 = {
    "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
    "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
    "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
    "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
    "ind.citeseer.graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
    "ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
    "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
    "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
    "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
    "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
}
Arrays = dict[str, np.ndarray]


def main(folder: Path) -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    cora, licence = read_cora()
    (DATA / "LICENSE-Apache-2.0.txt").write_bytes(licence)
    cora |= order_of_planetoid(cora, read_planetoid(folder, "cora"))
    citeseer = read_planetoid(folder, "citeseer")
    check(cora, papers=2708, links=5278, self_loops=0, words=1433, ones=49216, classes=7)
    check(citeseer, papers=3312, links=4660, self_loops=124, words=3703, ones=105165, classes=6)
    for name, arrays in (("cora.npz", cora), ("citeseer.npz", citeseer)):
        write_npz(DATA / name, arrays)
        print(hashlib.sha256((DATA / name).read_bytes()).hexdigest(), name)


def read_cora() -> tuple[Arrays, bytes]:
    """Return Cora from the graphdatascience wheel, and the licence of the wheel."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(download_wheel(Path(folder))) as wheel:
        nodes = pd.read_parquet(io.BytesIO(wheel.read(NODES)), engine="pyarrow")
        citations = pd.read_parquet(io.BytesIO(wheel.read(CITATIONS)), engine="pyarrow")
        licence = wheel.read(LICENCE)
    ends = citations[["sourceNodeId", "targetNodeId"]].to_numpy()
    features = np.array(nodes["features"].tolist())
    return compact(nodes["nodeId"].to_numpy(), nodes["subject"].to_numpy(), ends, csr_array(features)), licence


def download_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, "--dest", str(folder), f"graphdatascience=={VERSION}"], check=True)
    (wheel,) = folder.glob("*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{wheel.name} has SHA-256 {digest}, expected {WHEEL_SHA256}; do not use it.")
    return wheel


def read_planetoid(folder: Path, name: str) -> Arrays:
    """Return a network in Planetoid's order: the papers of `allx`, then the test papers by number.

    Papers missing from the test index have no words; they are dropped, together with their links.
    """

    def read(part: str) -> Any:
        content = (folder / f"ind.{name}.{part}").read_bytes()
        if hashlib.sha256(content).hexdigest() != PLANETOID_SHA256[f"ind.{name}.{part}"]:
            raise SystemExit(f"{folder / f'ind.{name}.{part}'} is not the published file; do not use it.")
        return (
            content if part == "test.index" else pickle.loads(content, encoding="latin1")
        )  # safe, because the hash is pinned

    first, test, neighbours = read("allx"), read("tx"), read("graph")
    index = np.array(read("test.index").split(), dtype=int)
    order = np.argsort(index)
    ends = np.array([(paper, other) for paper, others in neighbours.items() for other in others])
    numbers = np.concatenate([np.arange(first.shape[0]), index[order]])
    one_hot = np.concatenate([read("ally"), read("ty")[order]])
    known = np.isin(ends, numbers).all(axis=1)
    return compact(numbers, one_hot.argmax(axis=1), ends[known], csr_array(vstack([first, test[order]])))


def compact(paper_ids: np.ndarray, classes: np.ndarray, ends: np.ndarray, features: csr_array) -> Arrays:
    """Store a network in small integer types: each link once, and the words of each paper."""
    index = pd.Index(paper_ids)
    rows = index.get_indexer(ends.ravel()).reshape(-1, 2)
    if (rows < 0).any() or not index.is_unique:
        raise SystemExit("a citation refers to an unknown paper, or a paper occurs twice.")
    features.eliminate_zeros()
    features.sort_indices()
    if not (features.data == 1).all():
        raise SystemExit("the features are not binary.")
    return {
        "paper_ids": index.to_numpy(dtype=np.int32),  # (n,)
        "classes": classes.astype(np.uint8),  # (n,)
        "links": np.unique(np.sort(rows, axis=1), axis=0).astype(np.uint16),  # (links, 2), smaller row first
        "words": features.indices.astype(np.uint16),  # (ones,), by paper
        "words_per_paper": np.diff(features.indptr).astype(np.uint8),  # (n,)
        "n_words": np.array(features.shape[1], dtype=np.uint16),
    }


def order_of_planetoid(cora: Arrays, planetoid: Arrays) -> Arrays:
    """The row in Cora of each Planetoid paper, and Planetoid's number for each class."""
    rows = np.argsort(signatures(planetoid), kind="stable")
    order = np.empty_like(rows)
    order[rows] = np.argsort(signatures(cora), kind="stable")
    position = np.argsort(order)
    if not np.array_equal(np.unique(np.sort(position[cora["links"]], axis=1), axis=0), planetoid["links"]):
        raise SystemExit("the two versions of Cora are different networks.")
    pairs = np.unique(np.stack([cora["classes"][order], planetoid["classes"]], axis=1), axis=0)
    if len(pairs) != 7:
        raise SystemExit("the classes of the two versions of Cora differ.")
    return {"planetoid_rows": order.astype(np.uint16), "planetoid_classes": pairs[:, 1]}


def signatures(network: Arrays) -> list[str]:
    """Identify each paper by its own words, its neighbours' words, and the words of their neighbours."""
    of_paper = np.split(network["words"], np.cumsum(network["words_per_paper"], dtype=int)[:-1])
    found = [words.tobytes().hex() for words in of_paper]
    for _ in range(2):
        near: list[list[str]] = [[] for _ in found]
        for a, b in network["links"]:
            near[a].append(found[b])
            near[b].append(found[a])
        found = [
            hashlib.sha256(" ".join([own, *sorted(others)]).encode()).hexdigest()
            for own, others in zip(found, near, strict=True)
        ]
    return found


def check(arrays: Arrays, **expected: int) -> None:
    found = {
        "papers": len(arrays["paper_ids"]),
        "links": len(arrays["links"]),
        "self_loops": int(np.count_nonzero(arrays["links"][:, 0] == arrays["links"][:, 1])),
        "words": int(arrays["n_words"]),
        "ones": int(arrays["words_per_paper"].sum(dtype=np.int64)),
        "classes": len(np.unique(arrays["classes"])),
    }
    if found != expected or len(arrays["words"]) != found["ones"]:
        raise SystemExit(f"counts are {found}, expected {expected}.")


def write_npz(path: Path, arrays: Arrays) -> None:
    """Write like np.savez_compressed, but with bytes that do not depend on the date or the machine."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # the same value on every platform
            archive.writestr(entry, buffer.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
