"""A small network, and quick fits of both block-guided selectors."""

from blockselect import BMGUFS, BlockModelSelector, make_attributed_blocks

QUICK = {"n_blocks": 3, "n_candidates": 6, "random_state": 0}


def easy_network():
    """200 nodes with 52 features: 12 of them follow three clear blocks."""
    return make_attributed_blocks(200, 3, mean_degree=20, n_informative=12, n_redundant=0, n_noise=40, random_state=0)


def fit(network, n=12, adjacency=None, **options):
    """Select n features with `BlockModelSelector`, on a network or on its nodes with other links."""
    selector = BlockModelSelector(n, **quick(options))
    return selector.fit(network.features, adjacency=network.adjacency if adjacency is None else adjacency)


def fit_paper(network, n=12, **options):
    """Select n features with `BMGUFS` in the same way."""
    options = {"n_candidates": 10, **options} if "block_model" not in options else options
    return BMGUFS(n, **quick(options)).fit(network.features, adjacency=network.adjacency)


def quick(options):
    """The options with quick settings, which are left out if blocks are given, because `fit` would then refuse them."""
    given = not isinstance(options.get("block_model", "mixed"), str)
    return {**({"random_state": 0} if given else QUICK), **options}


def precision(network, selector):
    """Share of the selected features that follow the planted blocks."""
    return network.is_informative[selector.get_support()].mean()
