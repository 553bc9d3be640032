"""Speed and memory as ratios measured in one run, `make bench`; quality in `benchmarks.quality`. Not in the wheel."""
