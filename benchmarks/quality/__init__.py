"""Quality of the default, measured with known classes and planted features: `python -m benchmarks.quality`."""
