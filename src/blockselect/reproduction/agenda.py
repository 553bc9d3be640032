"""Agenda: the trials still to be run, handed out one by one; finished trials may lead to new ones."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from blockselect.reproduction.store import Store
from blockselect.reproduction.trial import Row, Trial

ConfigT = TypeVar("ConfigT")
ReadConfigT = TypeVar("ReadConfigT", contravariant=True)


class Work(Protocol[ReadConfigT]):
    """A module whose trials a configuration names."""

    NAME: str

    def trials(self, config: ReadConfigT, rows: list[Row]) -> list[Trial]:
        """All trials that can be made given the rows so far; rows of one trial may lead to others."""
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a run is."""

    done: int
    known: int  # so far: finished trials may lead to others
    seconds_left: float | None  # for the known ones, by what the trials of this run took


class Agenda(Generic[ConfigT]):
    """Trials whose rows are not in the store.

    The long ones tend to come first, and the order is drawn anew each time: processes that share a store then seldom
    run the same trial at once. No row depends on it.
    """

    def __init__(self, experiments: Sequence[Work[ConfigT]], config: ConfigT, store: Store) -> None:
        self._experiments, self._config, self._store = experiments, config, store
        self._dice = random.Random()
        self._known: dict[str, Trial] = {}
        self._waiting: list[Trial] = []
        self._done = 0
        self._cost_left = self._cost_here = 0.0
        self._begin = time.monotonic()
        self._look()

    def __bool__(self) -> bool:
        self._waiting = [trial for trial in self._waiting if not self._is_done(trial)]
        return bool(self._waiting)

    def __iter__(self) -> Iterator[Trial]:
        while self._waiting:
            trial = self._waiting.pop()
            if not self._is_done(trial):
                yield trial
            if not self._waiting:
                self._look()

    def keep(self, key: str, rows: list[Row]) -> None:
        """The rows of a trial that was handed out."""
        trial = self._known[key]
        self._store.add(key, trial.experiment, rows)
        self._cost_here += trial.cost
        self._count(trial)

    def standing(self) -> Standing:
        elapsed = time.monotonic() - self._begin
        left = elapsed * self._cost_left / self._cost_here if self._cost_here else None
        return Standing(self._done, len(self._known), left)

    def _look(self) -> None:
        """Find trials that rows which came since have led to."""
        for experiment in self._experiments:
            for trial in known_trials(experiment, self._config, self._store):
                if trial.key not in self._known:
                    self._known[trial.key] = trial
                    self._cost_left += trial.cost
                    self._waiting.append(trial)
        self._waiting.sort(key=lambda trial: math.log(trial.cost) - math.log(self._dice.expovariate(1.0)))

    def _is_done(self, trial: Trial) -> bool:
        """Whether the store has it by now: another process may have stored it since."""
        if not self._store.has(trial.key):
            return False
        self._count(trial)
        return True

    def _count(self, trial: Trial) -> None:
        self._done += 1
        self._cost_left -= trial.cost


def known_trials(experiment: Work[ConfigT], config: ConfigT, store: Store) -> list[Trial]:
    """All trials of an experiment that its rows in the store let it make."""
    return experiment.trials(config, store.rows(experiment.NAME))


def collect(experiment: Work[ConfigT], config: ConfigT, store: Store) -> list[Row] | None:
    """All rows of an experiment with those of its clusterings, in the order of its trials; None if some are missing."""
    found = [store.get(trial.key) for trial in known_trials(experiment, config, store)]
    return None if None in found else [row for rows in found if rows is not None for row in rows]


def complete_rows(experiments: Mapping[str, Work[ConfigT]], config: ConfigT, store: Store) -> dict[str, list[Row]]:
    """Rows of every experiment of which the store has all, by its name."""
    found = {name: collect(experiment, config, store) for name, experiment in experiments.items()}
    return {name: rows for name, rows in found.items() if rows}
