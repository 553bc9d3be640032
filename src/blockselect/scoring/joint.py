"""Joint learning: blocks follow the features that follow the blocks (the paper's stated future work).

One objective for blocks F and the choice r ∈ {0, 1}^m of features, in nats, lower is better:

    J(F, r) = − L(F) − w Σ_l r_l (I_l(F) − λ (k − 1))

L(F) is what the blocks tell of the links, I_l(F) what they tell of feature l, both as log-likelihoods above one block
(`link_evidence`, `feature_evidence`). A feature that follows the blocks has a rate in each of them, k − 1 more than one
that does not, and must be worth them: λ = 1 is Akaike's price, which offsets what k − 1 free rates gain by chance.

Why not ‖A − F M Fᵀ‖² and the losses of the paper: for blocks that may move, both profiles of L_m agree best when blocks
are blurred, L_b falls when nodes with many features part from nodes with few, and in a sparse graph ‖A − F M Fᵀ‖ falls
when hubs do. From the planted blocks themselves such an objective leads away.
"""

from __future__ import annotations

import numpy as np

from blockselect.blockmodels.model import BlockModel
from blockselect.graphs.attributed import AttributedGraph
from blockselect.scoring.joint_problem import DEFAULT_TOL, JointProblem, JointResult

__all__ = ["JointProblem", "JointResult", "improve_jointly"]


def improve_jointly(
    graph: AttributedGraph,
    model: BlockModel,
    *,
    feature_weight: float = 1.0,
    rate_cost: float = 1.0,
    max_rounds: int = 50,
    tol: float = DEFAULT_TOL,
    rng: np.random.Generator,
) -> JointResult:
    """Improve a block model with the features it finds, and the choice of features with the blocks.

    For one block model; for several of the same graph make a :class:`JointProblem`, which has the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from blockselect.blockmodels import find_block_models
    >>> from blockselect.datasets import make_attributed_blocks
    >>> planted = make_attributed_blocks(200, 3, mean_degree=4, random_state=0)
    >>> start = find_block_models(planted.adjacency, 3, rng=np.random.default_rng(0))[0]
    >>> result = improve_jointly(planted.graph, start, rng=np.random.default_rng(0))
    >>> bool((np.diff(result.objective) <= 0).all())
    True
    """
    problem = JointProblem(graph, feature_weight=feature_weight, rate_cost=rate_cost)
    return problem.improve(model, max_rounds=max_rounds, tol=tol, rng=rng)
