"""A small network and fits of BlockModelSelector that take little time, for its tests."""

from blockselect import BlockModelSelector, make_attributed_blocks

QUICK = {"n_candidates": 6, "n_resamples": 0, "random_state": 0}


def easy_network():
    """200 nodes, 52 features: 12 of them follow three blocks that are easily found."""
    return make_attributed_blocks(200, 3, mean_degree=20, n_informative=12, n_redundant=0, n_noise=40, random_state=0)


def fit(network, n=12, adjacency=None, **options):
    """A selection of n features of a network, or of the same nodes linked otherwise."""
    options = {"n_blocks": 3, **QUICK, **options}
    return BlockModelSelector(n, **options).fit(
        network.features, adjacency=network.adjacency if adjacency is None else adjacency
    )


def precision(network, selector):
    """Share of the selected features that follow the planted blocks."""
    return network.is_informative[selector.get_support()].mean()
