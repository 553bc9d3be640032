"""Peak memory: that of one call in a process of its own."""

from __future__ import annotations

import operator
from functools import partial

import pytest

from benchmarks import measure


@pytest.mark.skipif(measure.peak_memory() is None, reason="the system does not report it")
def test_peak_memory_is_that_of_the_call_alone():
    held = b"x" * 300_000_000  # which the other process never sees
    base, peak = (measure.peak_gigabytes(partial(operator.mul, b"x", size)) for size in (1, 200_000_000))
    assert measure.peak_memory() > len(held)
    assert 0.19 < peak - base < 0.26


@pytest.mark.skipif(not measure.STATUS.exists(), reason="there is one way to ask")
def test_both_ways_to_ask_agree(monkeypatch, tmp_path):
    held = measure.peak_memory()
    monkeypatch.setattr(measure, "STATUS", tmp_path / "none")
    assert measure.peak_memory() == pytest.approx(held, rel=0.2)
