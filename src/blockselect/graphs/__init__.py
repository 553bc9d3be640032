"""What is computed on a network: products along links, autocorrelation, affinities, neighbours, resampled links."""
