"""Artificial rows of experiments, for tests of claims."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from blockselect.reproduction.selections import CLUSTERINGS

_NUMBERS = count()


def judged(
    experiment: str,
    *,
    accuracy: float = 0.4,
    nmi: float | None = None,
    selected: list[int] | None = None,
    **settings: Any,
) -> list[dict[str, Any]]:
    """A selection and its clustering; by default, NMI is half of ACC."""
    columns = json.dumps([next(_NUMBERS)] if selected is None else selected)
    selection = {"dataset": settings["dataset"], "selection": f"{next(_NUMBERS)}"}
    figures = {"accuracy": accuracy, "nmi": accuracy / 2 if nmi is None else nmi}
    return [
        row(experiment, **{**settings, **selection}, selected=columns, n_nonzero=1000),
        row(CLUSTERINGS, **selection, **figures, accuracy_sd=0.01, nmi_sd=0.01, n_zero_rows=0),
    ]


def too_few(experiment: str, **settings: Any) -> dict[str, Any]:
    """A row for a setting that left fewer features than requested."""
    return row(experiment, **settings, selection=None, selected=None, n_nonzero=3)


def row(experiment: str, **settings: Any) -> dict[str, Any]:
    return {"experiment": experiment, "error": None, "warning": None, **settings}
