"""Hotspot: features with more autocorrelation along links than the depths of the nodes explain."""

from __future__ import annotations

from typing import Any

from blockselect.baselines._solvers.node_pairs import linked_pairs
from blockselect.baselines.criterion import NetworkGuidedSelector
from blockselect.graphs.autocorrelation import NULLS, autocorrelation_z, model_for
from blockselect.inputs.attributed import AttributedGraph
from blockselect.utils._sklearn import StrOptions
from blockselect.utils.arrays import FloatArray
from blockselect.utils.errors import ParameterError


class Hotspot(NetworkGuidedSelector):
    """Select the features with the most significant autocorrelation along links, given the depths of the nodes.

    The depth of a node is the sum of its features. A null model gives the mean μ and the standard deviation σ of a
    feature at each depth; with x̂ = (x − μ) / σ and the weights A of the links, the criterion is

        Z = Σ_{i<j} A_ij x̂_i x̂_j / √(Σ_{i<j} A_ij²),

    which has mean 0 and variance 1 if nodes are independent. This is the autocorrelation of Hotspot [1]_, which was
    designed for graphs of single cells. Self-loops are ignored. Checked against published code.

    Sparse features are never converted to dense ones. This loses precision if the mean of a feature is far larger than
    its standard deviation; pass such features as a dense array.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features to keep, or a fraction of them between 0 and 1; None keeps half. (paper: d)
    model : {"auto", "bernoulli", "danb", "normal"}, default="auto"
        The null model. "bernoulli": only whether a feature is above zero matters; the logit of its probability is
        linear in the logarithm of the depth. "danb": counts with a negative binomial distribution, whose mean is
        proportional to the depth. "normal": any values, with a mean that is linear in the depth. "auto": "bernoulli"
        if all values are 0 or 1, "danb" if all values are non-negative integers, and "normal" otherwise.
    n_neighbors : int or None, default=None
        If `fit` is given no adjacency, each node is linked to this many nearest nodes in feature space; if None, a
        missing adjacency is an error.

    Attributes
    ----------
    criterion_ : array of shape (m,)
        Z of each feature; NaN for a constant feature; 0 for a feature that the depths explain completely.
    scores_ : array of shape (m,)
        The criterion; −∞ for a constant feature, which is never selected.
    ranking_, support_, n_features_
        As in every selector: the ranks (1 is the best), the mask of selected features, and their number.
    model_ : str
        The null model used.

    See Also
    --------
    MoransI : The same sum with one mean and one variance for all nodes, not standardised.

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
        linked_pairs(graph.adjacency)  # raises an error if there are only self-loops, which Hotspot ignores
        if self.model in ("bernoulli", "danb") and graph.features.min() < 0:
            raise ParameterError(
                "model", f"is {self.model!r}, but some features are negative; use model='normal' for such features."
            )

    def _score(self, graph: AttributedGraph) -> FloatArray:
        self.model_ = model_for(graph.features) if self.model == "auto" else self.model
        return self._score_by(autocorrelation_z(graph.features, graph.adjacency, model=self.model_))
