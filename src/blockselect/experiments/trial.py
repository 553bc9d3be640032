"""Trial: one piece of work of an experiment, which becomes one row or several."""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]  # flat: what the trial was, what came out of it, or its error


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Settings tell a trial from the others; the payload follows from them and the configuration."""

    experiment: str
    settings: Mapping[str, Any]  # flat, JSON
    run: Callable[..., list[Row]]  # a function of a module: payload as keywords → flat results, JSON
    payload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same trial has the same key in every run."""
        text = json.dumps([self.experiment, self.settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def perform(trial: Trial) -> tuple[str, list[Row]]:
    """Run a trial; a failure is a row with its error. No time is kept: rows depend on config and seed alone."""
    told = {"experiment": trial.experiment, **trial.settings}
    try:
        return trial.key, [{**told, **row, "error": None} for row in trial.run(**trial.payload)]
    except Exception as error:  # one trial's failure must not stop the others, whatever it is
        where = traceback.extract_tb(error.__traceback__)[-1].name
        return trial.key, [{**told, "error": f"{type(error).__name__}: {error} (in {where})"}]
