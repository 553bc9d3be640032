"""Networks to try things on: one that comes along, some to download, and planted ones whose truth is known."""

from blockselect.datasets.blogcatalog import fetch_blogcatalog
from blockselect.datasets.catalogue import DATASETS, Dataset, find_dataset
from blockselect.datasets.citeseer import fetch_citeseer
from blockselect.datasets.cora import CORA_CLASSES, fetch_cora, load_cora
from blockselect.datasets.planted import PlantedNetwork, make_attributed_blocks

__all__ = [
    "CORA_CLASSES",
    "DATASETS",
    "Dataset",
    "PlantedNetwork",
    "fetch_blogcatalog",
    "fetch_citeseer",
    "fetch_cora",
    "find_dataset",
    "load_cora",
    "make_attributed_blocks",
]
