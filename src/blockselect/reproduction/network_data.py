"""The networks of the experiments, by name: loaded, their classes, and block models that came with the paper."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np

from blockselect.arrays import IntArray
from blockselect.bmgufs.gram import GramSquared, gram_squared
from blockselect.datasets.catalogue import find_dataset
from blockselect.datasets.download import DATA_VARIABLE, NOT_FETCHED, place_of
from blockselect.graphs.attributed import AttributedGraph

PUBLISHED_VARIABLE = "BLOCKSELECT_GOLDEN"
PUBLISHED_FILES = {"blogcatalog": "blogcatalog_block_models.npz"}  # block models that came with the paper


@lru_cache(maxsize=1)
def network(name: str) -> AttributedGraph:
    """A network with known classes; the last one stays in memory."""
    return find_dataset(name).load()


@lru_cache(maxsize=1)
def gram(name: str) -> GramSquared:
    """Shared by the descents of a trial."""
    return gram_squared(network(name).features)


def classes(name: str) -> IntArray:
    found = network(name).classes
    assert found is not None  # every data set has classes
    return found


def n_classes(name: str) -> int:
    return len(np.unique(classes(name)))


def published_block_models(name: str) -> Path | None:
    """The file of the block models published with the paper, where the folder BLOCKSELECT_GOLDEN has it."""
    folder = os.environ.get(PUBLISHED_VARIABLE)
    path = Path(folder, PUBLISHED_FILES[name]) if folder and name in PUBLISHED_FILES else None
    return path if path is not None and path.is_file() else None


def check_networks(names: Iterable[str]) -> None:
    """Refuse, before any work, networks that are not on this machine."""
    for name in names:
        source = find_dataset(name).source
        if source is not None and place_of(source) == NOT_FETCHED:
            raise ValueError(
                f"the network {name} is not on this machine; run 'blockselect datasets fetch {name}', or set "
                f"{DATA_VARIABLE} to a folder that holds {source.file_name}."
            )
