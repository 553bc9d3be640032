"""Features as rows, in memory or larger: chunks, Dask, sums over rows, statistics of columns."""
