"""Scikit-learn's estimator checks, once for every class of selector."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from blockselect import BMGUFS, SELECTORS, BlockModelSelector, SignedSelector
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

SELECTORS_TO_CHECK = [
    BlockModelSelector(n_candidates=6, random_state=0),
    SignedSelector(BlockModelSelector(n_blocks=2, n_candidates=1, refine=False, n_neighbors=5, random_state=0)),
    BMGUFS(n_blocks=2, n_neighbors=5, random_state=0),
    ADAPT(n_neighbors=5, random_state=0),
    GFS(n_neighbors=5, random_state=0),
    Hotspot(n_neighbors=5),
    LaplacianScore(),
    LUFS(n_blocks=2, n_neighbors=5, random_state=0),
    MCFS(n_blocks=2),
    MMPOP(n_neighbors=5, random_state=0),
    MoransI(n_neighbors=5),
    NDFS(n_blocks=2, random_state=0, max_iter=50),
    NetFS(n_blocks=2, n_neighbors=5, random_state=0),
    NetworkLaplacianScore(n_neighbors=5),
    PartialOrder(n_neighbors=5),
    SPEC(),
    UDFS(n_blocks=1),
    VarianceScore(),
]


# The data of the checks has no graph, few features, and nodes that lie far apart.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:fit was given no adjacency")
@pytest.mark.filterwarnings(r"ignore:\d+ of \d+ nodes have next to no heat affinity")
@pytest.mark.filterwarnings("ignore:the affinity graph has more than")
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(SELECTORS_TO_CHECK)
def test_scikit_learns_estimator_checks_hold(estimator, check):
    check(estimator)


def test_every_class_of_the_registry_is_checked():
    checked = {type(selector) for selector in SELECTORS_TO_CHECK}
    assert {method.selector for method in SELECTORS.values()} <= checked


def test_the_array_api_check_holds_for_every_selector():
    """This check runs only if SciPy's switch is set before SciPy is imported."""
    command = [sys.executable, "-m", "pytest", __file__, "-k", "check_array_api_input", "-q"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    root = Path(__file__).parents[1]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    is_old = parse_version(sklearn.__version__) < parse_version("1.9")
    if is_old and done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        pytest.skip("this scikit-learn checks only estimators that say they take such arrays")
    assert done.returncode == 0, done.stdout
    assert f"{len(SELECTORS_TO_CHECK)} passed" in done.stdout
    assert "skipped" not in done.stdout
