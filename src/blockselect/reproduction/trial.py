"""Trial: one piece of work of an experiment, which becomes one row or several."""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from joblib import parallel_config
from threadpoolctl import threadpool_limits

from blockselect.warned import collected_warnings

Row: TypeAlias = dict[str, Any]  # flat: what the trial was, what came out of it, or its error


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Settings identify a trial; the payload follows from them and the configuration."""

    experiment: str
    settings: Mapping[str, Any]  # flat, JSON
    run: Callable[..., list[Row]]  # a function of a module: payload as keywords → flat results, JSON
    payload: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0  # about how many seconds it takes on one core: what is long begins early

    @property
    def key(self) -> str:
        """The same trial has the same key in every run."""
        text = json.dumps([self.experiment, self.settings], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def perform(trial: Trial) -> tuple[str, list[Row]]:
    """Run a trial; a failure is a row with its error. No time is in it: rows depend on configuration and seed alone."""
    identity = {"experiment": trial.experiment, **trial.settings}
    with collected_warnings() as messages:
        try:
            # One thread: several would sum in an order that varies. Trials run in parallel instead.
            with threadpool_limits(limits=1), parallel_config(backend="sequential"):
                rows = trial.run(**trial.payload)
        except Exception as error:  # one trial's failure must not stop the others, whatever it is
            where = traceback.extract_tb(error.__traceback__)[-1].name
            rows = [{"error": f"{type(error).__name__}: {error} (in {where})"}]
    return trial.key, [{"error": None, **identity, **row, "warning": "; ".join(messages) or None} for row in rows]
