"""Pages in ordinary and unusual states, small and quick to make."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np

from blockselect import (
    BMGUFS,
    BlockModelSelector,
    check_attributed_graph,
    compare_methods,
    make_attributed_blocks,
    make_selector,
)
from blockselect.report.page import Report, make_report

NASTY_NAMES = [
    "</script><script>window.broken = true</script>",
    "<img src=x onerror='window.broken = true'>",
    "quotes \" and ' and `backticks`",
    "comma, semicolon; tab\tand new\nline",
    "emoji 🧬🧠 and 👩‍🔬",
    "&amp; &lt;b&gt; {{ 7 * 7 }} {% raw %}",
    "حمض نووي ريبوزي " * 3,
    "long " * 60,
    "half a pair \ud83d",
    "=1+1",
    "",
]


LONG_NAMES = ["a name of three hundred letters " * 10, "حمض نووي ريبوزي " * 19]


def planted(n_nodes=80, n_blocks=3, names=None, seed=1):
    """A network with planted blocks; the given names go to the first features. If None, features have no names."""
    made = make_attributed_blocks(
        n_nodes, n_blocks, n_informative=8, n_redundant=4, n_noise=18, mean_degree=8, random_state=seed
    )
    best_first = made.features[:, np.argsort(~made.is_informative, kind="stable")]
    if names is None:
        return check_attributed_graph(best_first, made.adjacency)
    every = [*names, *(f"word {column}" for column in range(len(names), 30))]
    return check_attributed_graph(best_first, made.adjacency, feature_names=every)


def report(graph, selector=None, stability=True, **options) -> Report:
    """The page about a selector fitted here, with an artificial stability."""
    selector = selector or BlockModelSelector(7, n_blocks=3, n_candidates=4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(graph)
    made_up = np.linspace(1, 0, graph.n_features)[selector.ranking_ - 1] if stability else None
    return make_report(selector, stability=made_up, title="a network", **options)


def three_nodes():
    path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    return check_attributed_graph(np.array([[1, 0], [1, 1], [0, 1]]), path)


def no_discoveries():
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((70, 70)) < 0.1, 1)
    graph = check_attributed_graph((rng.random((70, 6)) < 0.3).astype(float), (links | links.T).astype(float))
    return report(graph, BlockModelSelector("auto", n_candidates=2, random_state=0), stability=False)


def some_discoveries():
    graph = make_attributed_blocks(200, 3, mean_degree=10, random_state=0).graph
    return report(graph, BlockModelSelector("auto", n_blocks=3, n_candidates=2, random_state=0), stability=False)


def forty_blocks():
    graph = planted(400, 3)
    return report(graph, BlockModelSelector(12, block_model=np.arange(400) % 40, random_state=0))


def small_blocks():
    labels = np.repeat([0, 1, 2, 3], [194, 200, 3, 3])
    return report(planted(400, 3), BlockModelSelector(5, block_model=labels, random_state=0), stability=False)


def wrong_order():
    graph = planted()
    rows = np.random.default_rng(0).permutation(graph.n_nodes)
    return report(replace(graph, features=graph.features[rows]))


def by_variance():
    return report(planted(names=["first"]), make_selector("variance", 7), stability=False)


def every_method() -> Report:
    """The page that compares all methods."""
    network = planted(names=NASTY_NAMES)
    return compare_methods(network, methods="all", n_features=[3, 8], n_runs=1).show_report()


STATES = {  # state: how the page is made, and a sentence that it must contain
    "ordinary": (lambda: report(planted(names=["first"]), warnings=["one <warning>"]), "7 of 30 features explain"),
    "wrong order": (wrong_order, "Are the rows of the feature matrix in the same order as the nodes of the graph?"),
    "known labels": (
        lambda: report(planted(), labels=[f"class {node % 7}" for node in range(80)]),
        "The selection did not use these 7 labels.",
    ),
    "long labels": (
        lambda: report(planted(), labels=[f"Plasmacytoid dendritic cell {node % 7}" for node in range(80)]),
        "The selection did not use these 7 labels.",
    ),
    "no stability": (lambda: report(planted(names=[]), stability=False), "Stability was not computed"),
    "no discoveries": (no_discoveries, "None of 6 features explains"),
    "discoveries": (some_discoveries, "features are associated with the links beyond chance"),
    "one block": (
        lambda: report(planted(), BlockModelSelector(3, n_blocks=1, n_candidates=1, random_state=0)),
        "There is only one block, so there is nothing to compare",
    ),
    "given blocks": (
        lambda: report(planted(), BMGUFS(3, block_model=np.arange(80) % 4, random_state=0)),
        "There are 4 blocks of nodes with similar connection patterns (as given)",
    ),
    "no names": (lambda: report(planted()), "The best features are \u2068x"),
    "three nodes": (
        lambda: report(three_nodes(), BMGUFS(1, n_blocks=2, n_candidates=1, random_state=0)),
        "Each node shows the number of its block",
    ),
    "forty blocks": (
        forty_blocks,
        "No selected feature is significantly more common in any block than in the whole network.",
    ),
    "small blocks": (small_blocks, "2 blocks with fewer than 1 % of the nodes each; together they contain 6 nodes"),
    "long and Arabic names": (
        lambda: report(planted(names=[f"{i} {name}" for i in range(6) for name in LONG_NAMES])),
        "7 of 30 features explain",
    ),
    "nasty names": (lambda: report(planted(names=NASTY_NAMES)), "7 of 30 features explain"),
    "without blocks": (by_variance, "7 of 30 features selected in a network by Variance"),
    "the paper": (lambda: report(planted(), BMGUFS(5, n_blocks=3, random_state=0)), "The 5 selected features explain"),
}
PAGES = {**STATES, "comparison": (every_method, "Best by links explained: ")}


@cache
def page(state: str) -> Report:
    """The page in this state, made once."""
    return PAGES[state][0]()
