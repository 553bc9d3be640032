"""Selectors: the scikit-learn face of every method."""

from blockselect.selectors.block_model import PAPER, BlockModelSelector

__all__ = ["PAPER", "BlockModelSelector"]
