"""Block models A ≈ F M Fᵀ of a graph: how they are found, their hierarchy, markers, names and descriptions."""

from blockselect.blockmodels.candidates import FAMILIES, find_block_models
from blockselect.blockmodels.model import BlockModel

__all__ = ["FAMILIES", "BlockModel", "find_block_models"]
