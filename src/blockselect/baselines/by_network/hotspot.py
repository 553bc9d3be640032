"""Hotspot: features whose values go together along links more than the depth of the nodes explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from blockselect._sklearn import StrOptions
from blockselect.arrays import FloatArray
from blockselect.baselines.criterion import NetworkGuidedSelector, scores_where_defined
from blockselect.errors import ParameterError
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.autocorrelation import autocorrelation_z, model_for
from blockselect.graphs.depth_nulls import NULLS


class Hotspot(NetworkGuidedSelector):
    """Select the features with the most significant autocorrelation along links, given the nodes' depths.

    The depth of a node is the sum of its features. A null model gives the mean μ and the standard deviation σ of a
    feature at each depth; with x̂ = (x − μ) / σ and the weights A of the links, the criterion is

        Z = Σ_{i<j} A_ij x̂_i x̂_j / √(Σ_{i<j} A_ij²),

    which has mean 0 and variance 1 if nodes are independent: the autocorrelation of Hotspot [1]_, made for graphs of
    single cells. Self-loops are not read. Checked against published code.

    Sparse features are never filled, which costs digits where a feature's mean is far above its spread: pass it dense.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep; between 0 and 1 a share of them; None keeps half. (paper: d)
    model : {"auto", "bernoulli", "danb", "normal"}, default="auto"
        The null model. "bernoulli": whether a feature is above zero; the logit of its probability is linear in log
        depth. "danb": counts, negative binomial with a mean proportional to the depth. "normal": any values, with a
        mean that is linear in the depth. "auto": "bernoulli" where all values are 0 or 1, "danb" where they are whole
        numbers from 0, "normal" elsewhere.
    n_neighbors : int or None, default=None
        Where `fit` is given no adjacency, link each node with this many of its nearest by the features. None: a
        missing adjacency is an error.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Z of each feature; NaN for a constant one; 0 for one that the depth explains in full.
    scores_ : array of shape (m,)
        The same; −∞ for a constant feature, which is never selected.
    ranking_ : array of shape (m,)
        Rank of each feature, 1 is the best; among equal scores the lower index comes first.
    support_ : boolean array of shape (m,)
        Which features are selected.
    n_features_ : int
        How many are selected.
    model_ : str
        The null model used.

    See Also
    --------
    MoransI : The same sum with one mean and one spread for all nodes, not standardised.

    References
    ----------
    .. [1] D. DeTomaso and N. Yosef, "Hotspot identifies informative gene modules across modalities of single-cell
       genomics", Cell Systems 12, 2021.

    Examples
    --------
    >>> from blockselect import load_cora
    >>> from blockselect.baselines.by_network.hotspot import Hotspot
    >>> cora = load_cora()
    >>> Hotspot(64).fit_transform(cora.features, adjacency=cora.adjacency).shape
    (2708, 64)
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        **NetworkGuidedSelector._parameter_constraints,
        "model": [StrOptions({"auto", *NULLS})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        model: str = "auto",
        n_neighbors: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.model = model
        self.n_neighbors = n_neighbors

    def _check_settings(self, graph: AttributedGraph) -> None:
        if graph.adjacency.count_nonzero() == np.count_nonzero(graph.adjacency.diagonal()):
            raise ValueError("adjacency has self-loops alone, which Hotspot does not read; pass links between nodes.")
        if self.model in ("bernoulli", "danb") and graph.features.min() < 0:
            raise ParameterError(
                "model", f"is {self.model!r}, but some features are negative; use model='normal' for such features."
            )

    def _score(self, graph: AttributedGraph) -> FloatArray:
        self.model_ = model_for(graph.features) if self.model == "auto" else self.model
        self.criterion_ = autocorrelation_z(graph.features, graph.adjacency, model=self.model_)
        return scores_where_defined(self.criterion_)
