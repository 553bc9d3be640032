"""Computations on a network: products along links, autocorrelation, affinities, neighbours, resampled links."""
