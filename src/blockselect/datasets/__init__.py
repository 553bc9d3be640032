"""Networks to try things on: a real one that comes along, and planted ones whose truth is known."""

from blockselect.datasets.cora import CORA_CLASSES, load_cora
from blockselect.datasets.planted import PlantedNetwork
from blockselect.datasets.synthetic import make_attributed_blocks

__all__ = ["CORA_CLASSES", "PlantedNetwork", "load_cora", "make_attributed_blocks"]
