"""NetworkLaplacianScore: features that hardly differ between linked nodes."""

from __future__ import annotations

from blockselect.arrays import FloatArray
from blockselect.baselines._solvers.laplacian_forms import laplacian_criterion
from blockselect.baselines.criterion import NetworkGuidedSelector, scores_where_defined
from blockselect.graphs.attributed import AttributedGraph


class NetworkLaplacianScore(NetworkGuidedSelector):
    """Select the features that hardly differ between linked nodes, without labels.

    The Laplacian score of He, Cai and Niyogi [1]_ with the adjacency A of the network as its affinity: with
    D = diag(A1), L = D − A and f̃ = f − (fᵀD1 / 1ᵀD1) 1, the criterion is f̃ᵀLf̃ / f̃ᵀDf̃, small is good. Nodes without
    a link are ignored. Checked against published code, for a given affinity.

    Sparse features are never filled, which costs digits where a feature's mean is far above its spread: pass it dense.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link each node with this many of its nearest by the features. None: a
        missing adjacency is an error.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        The criterion above, from 0 to 2; NaN for a feature that is constant on the linked nodes.
    scores_ : array of shape (m,)
        Its negative, so that larger is better; −∞ where it is NaN: such a feature is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.

    See Also
    --------
    LaplacianScore : The same with an affinity made from the features.
    MoransI : Links against the variance over all nodes alike.

    References
    ----------
    .. [1] X. He, D. Cai and P. Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    >>> from blockselect import load_cora
    >>> from blockselect.baselines.by_network.network_laplacian import NetworkLaplacianScore
    >>> cora = load_cora()
    >>> NetworkLaplacianScore(64).fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    def __init__(self, n_features_to_select: int | float | None = None, *, n_neighbors: int | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors

    def _score(self, graph: AttributedGraph) -> FloatArray:
        self.criterion_ = laplacian_criterion(graph.features, graph.adjacency)
        return scores_where_defined(self.criterion_, -1)
