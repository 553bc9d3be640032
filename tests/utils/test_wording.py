"""Numbers are short but not misleading; long names keep both ends."""

from __future__ import annotations

import pytest

from blockselect.utils.wording import (
    count,
    cut,
    feature_labels,
    in_text,
    lift_in_cell,
    listed,
    number,
    per_cent,
    shortened,
    times,
    visible,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.5432, "0.543"),
        (0.2, "0.2"),
        (12345.6, "12,346"),
        (31.94, "31.9"),
        (1e-5, "0.00001"),
        (-2.5, "-2.5"),
    ],
)
def test_numbers_have_three_digits_and_no_exponent(value, text):
    assert number(value) == text


def test_trailing_zeros_are_kept_to_align_a_column():
    assert [number(value, zeros=True) for value in (0.2, 0.0920)] == ["0.200", "0.0920"]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.71, "71 %"), (0.079, "7.9 %"), (0.01, "1 %"), (0, "0 %"), (1, "100 %"), (0.9999, "> 99 %"), (1e-5, "< 0.1 %")],
)
def test_shares_are_never_rounded_to_0_or_100_per_cent(share, text):
    assert per_cent(share) == text


def test_counts_lifts_and_lists():
    assert (count(1433, "feature"), count(1, "node"), count(0)) == ("1,433 features", "1 node", "0")
    assert (times(7.345), times(44.2), times(1)) == ("7.3 ×", "44 ×", "1 ×")
    assert [listed(list(names)) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]


def test_a_name_in_a_sentence_is_isolated_from_its_writing_direction():
    assert in_text("حمض") == "\u2068حمض\u2069"
    assert in_text(" ") == "\u2068(no name)\u2069"


def test_long_names_lose_their_middle():
    assert cut("x" * 32) == "x" * 32
    assert cut("a" * 200 + "end") == "a" * 20 + "…" + "a" * 8 + "end"


def test_features_without_names_are_numbered():
    assert feature_labels(None, 2) == ["x0", "x1"]
    assert feature_labels(["a", 7], 2) == ["a", "7"]


def test_lifts_in_cells_are_short():
    assert [lift_in_cell(lift) for lift in (0.04, 0.3, 9.94, 9.96, 41.4)] == ["0", "0.3", "9.9", "10", "41"]


def test_control_characters_are_removed_from_foreign_text():
    assert visible("größe 50 %") == "größe 50 %"
    assert visible("a\nb\tc\u00a0d") == "a b c d"
    assert visible("\x1b[31mred\x00\u202e\udcff") == "?[31mred???"


def test_a_long_text_is_cut_at_its_end():
    assert [shortened("abc", most) for most in (2, 3)] == ["ab…", "abc"]
