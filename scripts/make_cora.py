"""Makes the embedded Cora network from the copy inside the graphdatascience wheel.

For maintainers; needs the network, pip and pyarrow (to read Parquet), beside blockselect's own dependencies:

    python scripts/make_cora.py

Writes cora.npz and the licence that came with it into src/blockselect/datasets/data and prints the SHA-256
of cora.npz. The same wheel gives the same bytes as long as NumPy's .npy header and zlib stay the same.
"""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

VERSION = "2.2"
WHEEL_SHA256 = "1e978c3bf5c2cece4282338d224d1efcffa8681733113d576c2205c4d06f549b"
NODES = "graphdatascience/resources/cora/cora_nodes.parquet.gzip"
CITATIONS = "graphdatascience/resources/cora/cora_rels.parquet.gzip"
LICENCE = f"graphdatascience-{VERSION}.dist-info/licenses/LICENSE"
DATA = Path(__file__).resolve().parents[1] / "src" / "blockselect" / "datasets" / "data"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(download_wheel(Path(folder))) as wheel:
        nodes = pd.read_parquet(io.BytesIO(wheel.read(NODES)), engine="pyarrow")
        citations = pd.read_parquet(io.BytesIO(wheel.read(CITATIONS)), engine="pyarrow")
        licence = wheel.read(LICENCE)
    arrays = compact(nodes, citations)
    check(arrays)
    DATA.mkdir(parents=True, exist_ok=True)
    write_npz(DATA / "cora.npz", arrays)
    (DATA / "LICENSE-Apache-2.0.txt").write_bytes(licence)
    print(hashlib.sha256((DATA / "cora.npz").read_bytes()).hexdigest(), "cora.npz")


def download_wheel(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, "--dest", str(folder), f"graphdatascience=={VERSION}"], check=True)
    (wheel,) = folder.glob("*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{wheel.name} has SHA-256 {digest}, expected {WHEEL_SHA256}; do not use it.")
    return wheel


def compact(nodes: pd.DataFrame, citations: pd.DataFrame) -> dict[str, np.ndarray]:
    """The network in the smallest integer types: each link once, and of each paper the words it has."""
    index = pd.Index(nodes["nodeId"])
    ends = np.stack([index.get_indexer(citations[end]) for end in ("sourceNodeId", "targetNodeId")], axis=1)
    if (ends < 0).any() or not index.is_unique:
        raise SystemExit("a citation names a paper that is not there, or a paper is there twice.")
    features = np.array(nodes["features"].tolist())
    if not np.isin(features, (0, 1)).all():
        raise SystemExit("the features are not binary.")
    return {
        "paper_ids": index.to_numpy(dtype=np.int32),  # (n,)
        "classes": nodes["subject"].to_numpy(dtype=np.uint8),  # (n,)
        "links": np.unique(np.sort(ends, axis=1), axis=0).astype(np.uint16),  # (links, 2), smaller row first
        "words": np.nonzero(features)[1].astype(np.uint16),  # (ones,), paper after paper
        "words_per_paper": features.sum(axis=1).astype(np.uint8),  # (n,)
        "n_words": np.array(features.shape[1], dtype=np.uint16),
    }


def check(arrays: dict[str, np.ndarray]) -> None:
    found = {
        "papers": len(arrays["paper_ids"]),
        "links": len(arrays["links"]),
        "self-loops": int(np.count_nonzero(arrays["links"][:, 0] == arrays["links"][:, 1])),
        "words": int(arrays["n_words"]),
        "ones": int(arrays["words_per_paper"].sum(dtype=np.int64)),
        "classes": len(np.unique(arrays["classes"])),
    }
    expected = {"papers": 2708, "links": 5278, "self-loops": 0, "words": 1433, "ones": 49216, "classes": 7}
    if found != expected or len(arrays["words"]) != found["ones"]:
        raise SystemExit(f"counts are {found}, expected {expected}.")


def write_npz(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """As np.savez_compressed, with nothing in it that depends on the day or the machine."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # the same on Windows
            archive.writestr(entry, buffer.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)


if __name__ == "__main__":
    main()
