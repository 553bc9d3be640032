"""Example networks: three come with the package, one is downloaded, and planted ones have known blocks."""

from blockselect.datasets.catalogue import DATASETS, Dataset, find_dataset
from blockselect.datasets.networks import (
    CORA_CLASSES,
    DEBIAN_SECTIONS,
    fetch_blogcatalog,
    load_citeseer,
    load_cora,
    load_debian,
)
from blockselect.datasets.planted import PlantedNetwork, make_attributed_blocks

__all__ = [
    "CORA_CLASSES",
    "DATASETS",
    "DEBIAN_SECTIONS",
    "Dataset",
    "PlantedNetwork",
    "fetch_blogcatalog",
    "find_dataset",
    "load_citeseer",
    "load_cora",
    "load_debian",
    "make_attributed_blocks",
]
