"""Any damaged file is either read or refused by name; `make fuzz` tries many more."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mutated_files import SOUND, read_either_way

PIECES = [
    b"",
    b"\x00",
    b"\xff",
    b"9" * 400,
    b"nan",
    b"-1",
    b"1e999",
    b",",
    b"\n",
    b'"',
    b"=1",
    b"10000000000",
    b"\xef\xbb\xbf",
]


@st.composite
def mutated(draw, content):
    """The content with some spans removed, added or replaced."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(changed)))
        end = min(len(changed), start + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=6))
        changed[start:end] = piece
    return bytes(changed)


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_changed_file_is_read_or_refused_by_name(name, tmp_path, data):
    path = Path(tmp_path / name)
    path.write_bytes(data.draw(mutated(SOUND[name])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_either_way(path)


@pytest.mark.parametrize("name", SOUND)
def test_an_unchanged_file_is_read(name, tmp_path):
    (tmp_path / name).write_bytes(SOUND[name])
    assert read_either_way(tmp_path / name)
