"""SELECTORS: every method by its name, with what guides it and how certain its formula is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from blockselect.base import ScoreSelector
from blockselect.baselines.by_features.laplacian import LaplacianScore, NetworkLaplacianScore
from blockselect.baselines.by_features.mcfs import MCFS
from blockselect.baselines.by_features.ndfs import NDFS
from blockselect.baselines.by_features.spec import SPEC
from blockselect.baselines.by_features.udfs import UDFS
from blockselect.baselines.by_features.variance import VarianceScore
from blockselect.baselines.by_network.adapt import ADAPT
from blockselect.baselines.by_network.gfs import GFS
from blockselect.baselines.by_network.hotspot import Hotspot
from blockselect.baselines.by_network.lufs import LUFS
from blockselect.baselines.by_network.mmpop import MMPOP
from blockselect.baselines.by_network.moran import MoransI
from blockselect.baselines.by_network.netfs import NetFS
from blockselect.baselines.by_network.partial_order import PartialOrder
from blockselect.bmgufs.estimator import BMGUFS
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.utils.parameters import look_up

Guidance = Literal["blocks", "features", "network", "none"]
Certainty = Literal["checked", "recalled", "reconstructed"]


@dataclass(frozen=True, slots=True)
class Method:
    """A selector with its settings and its source."""

    selector: type[ScoreSelector]
    title: str
    guidance: Guidance  # basis of the scores: blocks or links of the network, only the features, or nothing
    certainty: Certainty  # checked against published code, recalled from the publication, or reconstructed
    cite: str
    in_paper: bool = False  # whether the paper compares with this method or discusses it
    settings: Mapping[str, Any] = field(default_factory=dict)


SELECTORS: dict[str, Method] = {
    "block-model": Method(
        BlockModelSelector,
        "Block models by consensus, the default",
        "blocks",
        "checked",
        "after Bai, Nguyen and Davidson, KDD 2020, doi:10.1145/3394486.3403173",
    ),
    "bmgufs": Method(
        BMGUFS,
        "BMGUFS, as published",
        "blocks",
        "checked",
        "Bai, Nguyen and Davidson, KDD 2020, doi:10.1145/3394486.3403173",
        in_paper=True,
    ),
    "laplacian-score": Method(
        LaplacianScore, "Laplacian score", "features", "checked", "He, Cai and Niyogi, NIPS 2005", in_paper=True
    ),
    "laplacian-score-network": Method(
        NetworkLaplacianScore,
        "Laplacian score on the network",
        "network",
        "checked",
        "the criterion of He, Cai and Niyogi, NIPS 2005, on links",
    ),
    "spec": Method(
        SPEC, "SPEC", "features", "checked", "Zhao and Liu, ICML 2007, doi:10.1145/1273496.1273641", in_paper=True
    ),
    "spec-published": Method(
        SPEC,
        "SPEC, in the reversed order of published code",
        "features",
        "checked",
        "Zhao and Liu, ICML 2007, as scikit-feature ranks it",
        in_paper=True,
        settings={"order": "published"},
    ),
    "ndfs": Method(NDFS, "NDFS", "features", "checked", "Li, Yang, Liu, Zhou and Lu, AAAI 2012", in_paper=True),
    "ndfs-published": Method(
        NDFS,
        "NDFS, with the quirks of published code",
        "features",
        "checked",
        "Li, Yang, Liu, Zhou and Lu, AAAI 2012, as scikit-feature computes it",
        in_paper=True,
        settings={"quirks": "published"},
    ),
    "mcfs": Method(MCFS, "MCFS", "features", "checked", "Cai, Zhang and He, KDD 2010, doi:10.1145/1835804.1835848"),
    "udfs": Method(UDFS, "UDFS", "features", "checked", "Yang, Shen, Ma, Huang and Zhou, IJCAI 2011"),
    "variance": Method(VarianceScore, "Variance", "none", "checked", "in general use"),
    # Binary features are used because counts dominate the margins and rank held-out links worse than no weighting does.
    "mmpop": Method(
        MMPOP,
        "MMPOP, hinge loss, binary features",
        "network",
        "recalled",
        "Wei, Xie and Yu, SDM 2015",
        in_paper=True,
        settings={"binarize": True},
    ),
    "mmpop-logistic": Method(
        MMPOP,
        "MMPOP, logistic loss, binary features",
        "network",
        "recalled",
        "Wei, Xie and Yu, SDM 2015",
        settings={"loss": "logistic", "binarize": True},
    ),
    "partial-order": Method(
        PartialOrder, "Partial order, closed form", "network", "reconstructed", "after Wei, Xie and Yu, SDM 2015"
    ),
    "netfs": Method(NetFS, "NetFS", "network", "recalled", "Li, Hu, Wu and Liu, SDM 2016", in_paper=True),
    "lufs": Method(
        LUFS, "LUFS", "network", "recalled", "Tang and Liu, KDD 2012, doi:10.1145/2339530.2339673", in_paper=True
    ),
    "gfs": Method(GFS, "GFS-style", "network", "reconstructed", "after Wei, Cao and Yu, AAAI 2016", in_paper=True),
    "adapt": Method(
        ADAPT, "ADAPT-style", "network", "reconstructed", "after Li, Guo, Liu and Liu, KDD 2019", in_paper=True
    ),
    "morans-i": Method(
        MoransI, "Moran's I", "network", "checked", "Moran, Biometrika 1950, doi:10.1093/biomet/37.1-2.17"
    ),
    "hotspot": Method(
        Hotspot,
        "Hotspot's autocorrelation",
        "network",
        "checked",
        "DeTomaso and Yosef, Cell Systems 2021, doi:10.1016/j.cels.2021.04.005",
    ),
}
"""Every method by its name, in the order in which tables list them."""


def find_method(name: str) -> Method:
    """The method of this name; the error for an unknown name lists all names and suggests the closest one."""
    return look_up(name, SELECTORS, what="method")


def make_selector(
    name: str, n_features_to_select: int | float | None = None, *, n_blocks: int | None = None, random_state: Any = None
) -> ScoreSelector:
    """Create an unfitted selector from the name of a method, with the settings of that method.

    Parameters
    ----------
    name : str
        A key of `SELECTORS`.
    n_features_to_select : int, float or None
        As in every selector. (paper: d)
    n_blocks : int or None
        Number of blocks or clusters, for methods that use them; None means the method's default. (paper: k)
    random_state : int, RandomState or None
        Seed, if the method is random.

    Examples
    --------
    >>> make_selector("bmgufs", 16, n_blocks=7, random_state=0).n_blocks
    7
    """
    method = find_method(name)
    shared = {"n_blocks": n_blocks, "random_state": random_state}
    taken = method.selector().get_params(deep=False)
    settings = {key: value for key, value in shared.items() if key in taken and value is not None}
    return method.selector(n_features_to_select, **{**method.settings, **settings})
