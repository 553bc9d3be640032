"""Feature matrices, in memory or in chunks of rows: checks, conversions, sums over rows, column statistics."""
