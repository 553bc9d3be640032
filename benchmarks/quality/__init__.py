"""Quality of BlockModelSelector, measured with known classes and planted features: `python -m benchmarks.quality`."""
