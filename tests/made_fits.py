"""A small network, and fits of both selectors that are guided by blocks, which take little time."""

from blockselect import BMGUFS, BlockModelSelector, make_attributed_blocks

QUICK = {"n_blocks": 3, "n_candidates": 6, "random_state": 0}


def easy_network():
    """200 nodes, 52 features: 12 of them follow three blocks that are easily found."""
    return make_attributed_blocks(200, 3, mean_degree=20, n_informative=12, n_redundant=0, n_noise=40, random_state=0)


def fit(network, n=12, adjacency=None, **options):
    """A selection by the default of n features of a network, or of the same nodes linked otherwise."""
    selector = BlockModelSelector(n, **quick(options))
    return selector.fit(network.features, adjacency=network.adjacency if adjacency is None else adjacency)


def fit_paper(network, n=12, **options):
    """A selection by the paper's method."""
    options = {"n_candidates": 10, **options} if "block_model" not in options else options
    return BMGUFS(n, **quick(options)).fit(network.features, adjacency=network.adjacency)


def quick(options):
    """These options, and quick ones beside them; beside blocks that are given, those would be refused."""
    given = not isinstance(options.get("block_model", "mixed"), str)
    return {**({"random_state": 0} if given else QUICK), **options}


def precision(network, selector):
    """Share of the selected features that follow the planted blocks."""
    return network.is_informative[selector.get_support()].mean()
