"""Make the network of Debian packages that comes with blockselect, and a larger one for benchmarks.

For maintainers. It needs Debian 12 (bookworm, amd64) with the package index of main:

    apt-cache dumpavail | python scripts/make_debian.py FOLDER

The script writes debian.npz and debian-all.npz into FOLDER and prints their SHA-256. The file in
src/blockselect/datasets/data, which ``README.md`` there describes, was made from the index of Debian 12.15.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from scipy import sparse

Package = dict[str, str]  # the fields of a package by name
LINKS = ("Depends", "Pre-Depends", "Recommends")
STOP_WORDS = frozenset(
    "a an the and or of for to in with on by from is are as at this that it its using based into be your you not other "
    "all more can files file package library data documentation debug".split()
)
SECTIONS = (
    "perl python ruby java haskell games fonts gnome kde php rust gnu-r ocaml javascript math science sound net "
    "editors text web mail graphics video golang lisp tex database electronics hamradio education"
).split()
LEAST_PACKAGES_OF_ALL = 10  # least number of packages in which a feature of the large network occurs
LEAST_PACKAGES = 6  # the same number for the small network
PER_SECTION = 200  # maximum number of packages per section in the small network
MOST_LINKS, LEAST_LINKS = 800, 2  # limits on the links of a package in the small network


def main(folder: Path) -> None:
    packages = read_packages(sys.stdin.read())
    names = np.array(sorted(packages))
    sections = np.array([packages[name].get("Section", "") for name in names])
    ends = dependencies(packages, names)
    values, features = indicators([features_of(packages[name]) for name in names])
    save(folder / "debian-all.npz", ends, values, names, features, sections)

    directed = sparse.csr_array((np.ones(len(ends)), tuple(ends.T)), shape=(len(names), len(names)))
    adjacency = directed.maximum(directed.T)
    chosen = well_linked(adjacency, sections)
    links = sparse.triu(adjacency[chosen][:, chosen], 1).tocoo()
    kept = np.flatnonzero(np.bincount(values[chosen].indices, minlength=len(features)) >= LEAST_PACKAGES)
    ends = np.stack([links.row, links.col], axis=1)
    save(folder / "debian.npz", ends, values[chosen][:, kept], names[chosen], features[kept], sections[chosen])


def read_packages(index: str) -> dict[str, Package]:
    """Read the paragraphs of a package index; a line that begins with a space continues the previous field."""
    packages = {}
    for paragraph in index.split("\n\n"):
        fields: Package = {}
        key = ""
        for line in paragraph.split("\n"):
            if line[:1] in (" ", "\t") and key:
                fields[key] += " " + line.strip()
            elif ":" in line:
                key, value = line.split(":", 1)
                fields[key] = value.strip()
        if "Package" in fields:
            packages[fields["Package"]] = fields
    return packages


def dependencies(packages: dict[str, Package], names: np.ndarray) -> np.ndarray:
    """Return the dependencies as pairs of rows (links, 2); only the first of several alternatives counts."""
    row = {name: at for at, name in enumerate(names)}
    found = set()
    for name, fields in packages.items():
        for entry in ",".join(fields.get(link, "") for link in LINKS).split(","):
            first = re.match(r"\s*([a-z0-9][a-z0-9+.\-]+)", entry)
            if first and first.group(1) in row and first.group(1) != name:
                found.add((row[name], row[first.group(1)]))
    return np.array(sorted(found))


def features_of(fields: Package) -> set[str]:
    """Return the tags of a package and the words in the first line of its description."""
    tags = {f"tag:{tag.strip()}" for tag in fields.get("Tag", "").split(",") if tag.strip()}
    words = re.findall(r"[a-z][a-z+#]{2,}", fields.get("Description", "").lower())
    return tags | (set(words) - STOP_WORDS)


def indicators(features_of_package: list[set[str]]) -> tuple[sparse.csr_array, np.ndarray]:
    """Return a binary matrix of the features that occur in enough packages, and their names."""
    counts = Counter(feature for features in features_of_package for feature in features)
    names = np.array(sorted(name for name, count in counts.items() if count >= LEAST_PACKAGES_OF_ALL))
    column = {name: at for at, name in enumerate(names)}
    pairs = [(row, column[name]) for row, own in enumerate(features_of_package) for name in own if name in column]
    shape = (len(features_of_package), len(names))
    return sparse.csr_array((np.ones(len(pairs)), tuple(np.array(pairs).T)), shape=shape), names


def well_linked(adjacency: sparse.csr_array, sections: np.ndarray) -> np.ndarray:
    """Return the packages of the small network: those with the most links in each section, without hubs."""
    inside = np.flatnonzero(np.isin(sections, SECTIONS) & (adjacency.sum(axis=1) < MOST_LINKS))
    degrees = adjacency[inside][:, inside].sum(axis=1)
    by_degree = np.lexsort((inside, -degrees))
    by_degree = by_degree[degrees[by_degree] >= LEAST_LINKS]
    of_section = [by_degree[sections[inside[by_degree]] == section][:PER_SECTION] for section in SECTIONS]
    chosen = np.sort(inside[np.concatenate(of_section)])
    return chosen[adjacency[chosen][:, chosen].sum(axis=1) > 0]


def save(
    path: Path,
    edges: np.ndarray,
    values: sparse.csr_array,
    packages: np.ndarray,
    features: np.ndarray,
    sections: np.ndarray,
) -> None:
    values.sort_indices()
    np.savez_compressed(
        path,
        edges=edges.astype(np.int32),
        X_indices=values.indices.astype(np.int32),
        X_indptr=values.indptr.astype(np.int32),
        packages=packages,
        features=features,
        sections=sections,
    )
    print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
