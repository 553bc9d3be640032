"""Quality of the default against class labels and planted truth: `python -m benchmarks.quality`."""
