"""The density that a similarity of features can repeat: blocks that link to others, reflected onto themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blockselect.blockmodels.model import BlockModel


def reflected(model: BlockModel) -> BlockModel:
    """The same blocks with the absolute value of their graph as density: |F M Fᵀ|, entries below zero set to zero.

    The density that scores induce, M̂ = D̄ diag(r) D̄ᵀ, is positive semi-definite, hence strong on its diagonal. That of
    blocks that link to others rather than within is not: no scores can follow it, and the profile loss then avoids the
    very features that mark the blocks. The absolute value says how alike two blocks link, to whomever they do. With S
    the diagonal matrix of the block sizes and S^½ M S^½ = V diag(λ) Vᵀ, the new density is
    S^-½ V diag(|λ|) Vᵀ S^-½. A density that is positive semi-definite stays what it is.

    Labels, family and relative error are kept: the error says how the blocks fit the graph, by their true density.

    Parameters
    ----------
    model : BlockModel
        Of an undirected graph: its density is symmetric. (paper: F, M)

    Returns
    -------
    BlockModel

    Examples
    --------
    >>> import numpy as np
    >>> two_sides = BlockModel(np.array([0, 0, 1, 1]), np.array([[0.1, 0.9], [0.9, 0.1]]), relative_error=0.3)
    >>> reflected(two_sides).density.round(12)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    root = np.sqrt(model.block_sizes)[:, None]  # (k, 1)
    values, vectors = np.linalg.eigh(root * model.density * root.T)
    half = vectors * np.sqrt(np.abs(values)) / root  # times its own transpose, so the density is symmetric to the bit
    return replace(model, density=np.maximum(half @ half.T, 0.0))
