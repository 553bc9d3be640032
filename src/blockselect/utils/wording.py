"""Numbers and names as text: three digits, thousands separators, percentages, shortened names."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, log10
from typing import Any

_HEAD, _TAIL = 20, 11  # characters of a long name that are kept at each end


def count(number: int, what: str = "") -> str:
    """``1,433 features``; ``1 feature``."""
    if not what:
        return f"{number:,}"
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def number(value: float, *, zeros: bool = False) -> str:
    """Three significant digits without exponents; trailing zeros only if `zeros`, to align a column."""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - floor(log10(abs(value))))
    text = f"{value:.{min(digits, 12)}f}"
    return text if zeros or "." not in text else text.rstrip("0").rstrip(".")


def per_cent(share: float, *, zeros: bool = False) -> str:
    """``71 %``; small shares have one more digit, and only exact shares become 0 % or 100 %.

    A trailing zero is written only if `zeros`, to align a column.
    """
    value = 100 * share
    if 0 < value < 0.1:
        return "< 0.1 %"
    if 0 < value < 10:
        return f"{value:.1f}".removesuffix("" if zeros else ".0") + " %"
    if 99 < value < 100:
        return "> 99 %" if value > 99.9 else f"{value:.1f} %"
    return f"{value:,.0f} %"


def times(lift: float) -> str:
    """A lift: ``7.3 ×``."""
    return f"{lift:.2g} ×" if lift < 10 else f"{lift:,.0f} ×"


def lift_in_cell(lift: float) -> str:
    """A lift in a few characters: ``0``, ``0.3``, ``7.3``, ``41``."""
    return "0" if lift < 0.05 else f"{lift:.1f}" if lift < 9.95 else f"{lift:.0f}"


def feature_labels(names: Iterable[Any] | None, n_features: int) -> list[str]:
    """The names of features as text; ``x0``, ``x1``, … if they have no names."""
    return [f"x{column}" for column in range(n_features)] if names is None else [str(name) for name in names]


def visible(text: str) -> str:
    """Text with control and other unprintable characters replaced by question marks, and line breaks by blanks."""
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "?" for letter in text)


def shortened(text: str, most: int = 40) -> str:
    """The beginning of a long text, or all of a short one."""
    return text if len(text) <= most else f"{text[:most]}…"


def cut(name: str) -> str:
    """A long name without its middle part; a placeholder for an empty name."""
    if not name.strip():
        return "(no name)"
    return name if len(name) <= _HEAD + _TAIL + 1 else f"{name[:_HEAD]}…{name[-_TAIL:]}"


def in_text(name: str) -> str:
    """A name in a sentence, isolated so that its writing direction does not affect the sentence."""
    return f"\u2068{cut(name)}\u2069"


def listed(things: list[str]) -> str:
    """``a``; ``a and b``; ``a, b and c``."""
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"
