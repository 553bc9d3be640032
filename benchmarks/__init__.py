"""Benchmarks of speed and memory (`make bench`) and of quality (`benchmarks.quality`); not part of the wheel."""
