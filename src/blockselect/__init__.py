"""blockselect: select the few features that explain the structure of a network, without labels.

There are three kinds of methods: the paper's method (`bmgufs`), the default method, which goes beyond the paper
(`consensus`), and baselines (`baselines`). Data flow from left to right, and a package imports only from packages to
its left::

    utils → rows → graphs → inputs → blockmodels → bmgufs → consensus → registry → evaluation → report → cli
                               ↘ baselines ─────────────────────────↗            ↘ reproduction ────────↗

- `utils`: shared tools: arrays, errors, parameters, progress, threads, wording, optional packages.
- `rows`: the rows of a feature matrix, in memory or in chunks, and sums over rows.
- `graphs`: computations on a network: products along links, affinities, neighbours, resampled links.
- `inputs`: reads and validates a network and its features (matrices, tables, graphs, files) as an AttributedGraph.
- `base`: ScoreSelector, which turns scores into a ranking and a selection, as scikit-learn expects it.
- `result`: Result, the record of a fit, from which tables, plots and reports are made.
- `blockmodels`: block models of a graph, A ≈ F M Fᵀ, their levels, markers and names.
- `bmgufs`: BMGUFS, the method of the paper, and Descent, its solver.
- `inspection`: statistical tests: evidence that features are associated with the network, discoveries, stability.
- `consensus`: BlockModelSelector, the default method.
- `baselines`: the other methods, guided by the features or by the network.
- `signed`: SignedSelector, for features with negative values.
- `registry`: SELECTORS, all methods by name.
- `datasets`: real networks, and planted networks with known blocks and informative features.
- `evaluation`: how well selected features predict clusters, classes and links; comparison of methods.
- `reproduction`: the experiments and claims of the paper, in runs that can be interrupted and resumed.
- `plot`: one function per plot, which draws a fitted selector or arrays on matplotlib axes.
- `report`: the result of a fitted selector as a dict, tables, pictures and an HTML page.
- `cli`: the command `blockselect`.

Public names are loaded when they are first used, so that ``import blockselect`` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from blockselect.blockmodels.candidates import find_block_models as find_block_models
    from blockselect.blockmodels.model import BlockModel as BlockModel
    from blockselect.bmgufs.descent import Descent as Descent
    from blockselect.bmgufs.estimator import BMGUFS as BMGUFS
    from blockselect.consensus.estimator import BlockModelSelector as BlockModelSelector
    from blockselect.datasets import fetch_blogcatalog as fetch_blogcatalog
    from blockselect.datasets import load_citeseer as load_citeseer
    from blockselect.datasets import load_cora as load_cora
    from blockselect.datasets import load_debian as load_debian
    from blockselect.datasets import make_attributed_blocks as make_attributed_blocks
    from blockselect.evaluation import evaluate_selection as evaluate_selection
    from blockselect.evaluation.comparison import compare_methods as compare_methods
    from blockselect.inputs.adjacency import as_adjacency as as_adjacency
    from blockselect.inputs.attributed import AttributedGraph as AttributedGraph
    from blockselect.inputs.attributed import check_attributed_graph as check_attributed_graph
    from blockselect.inputs.node_graph import NodeGraph as NodeGraph
    from blockselect.inspection.discoveries import discover_features as discover_features
    from blockselect.inspection.stability import selection_stability as selection_stability
    from blockselect.registry import SELECTORS as SELECTORS
    from blockselect.registry import make_selector as make_selector
    from blockselect.rows.chunks import RowChunks as RowChunks
    from blockselect.signed import SignedSelector as SignedSelector
    from blockselect.utils.versions import show_versions as show_versions

_HOME = {  # public name → the module that defines it
    "BMGUFS": "bmgufs.estimator",
    "SELECTORS": "registry",
    "AttributedGraph": "inputs.attributed",
    "BlockModel": "blockmodels.model",
    "BlockModelSelector": "consensus.estimator",
    "Descent": "bmgufs.descent",
    "NodeGraph": "inputs.node_graph",
    "RowChunks": "rows.chunks",
    "as_adjacency": "inputs.adjacency",
    "SignedSelector": "signed",
    "check_attributed_graph": "inputs.attributed",
    "compare_methods": "evaluation.comparison",
    "discover_features": "inspection.discoveries",
    "evaluate_selection": "evaluation",
    "fetch_blogcatalog": "datasets",
    "find_block_models": "blockmodels.candidates",
    "load_citeseer": "datasets",
    "load_cora": "datasets",
    "load_debian": "datasets",
    "make_attributed_blocks": "datasets",
    "make_selector": "registry",
    "selection_stability": "inspection.stability",
    "show_versions": "utils.versions",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'blockselect' has no attribute {name!r}")
    value = getattr(import_module(f"blockselect.{_HOME[name]}"), name)
    globals()[name] = value  # later accesses do not call this function
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
