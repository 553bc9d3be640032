"""A trial: its key, and its rows whether it succeeds, fails or warns."""

from __future__ import annotations

import warnings

from blockselect.reproduction.trial import Trial, perform


def double(number):
    return [{"double": 2 * number}]


def fail(number):
    raise ArithmeticError(f"no {number} today")


def warn(number):
    for _ in range(2):
        warnings.warn(f"careful,\n{number} is odd", RuntimeWarning, stacklevel=1)
    return [{"double": 2 * number}]


def trial(run, **settings):
    return Trial("numbers", settings, run, {"number": 3})


def test_a_row_says_what_the_trial_was_and_what_came_out():
    key, rows = perform(trial(double, dataset="cora"))
    assert rows == [{"experiment": "numbers", "dataset": "cora", "double": 6, "warning": None, "error": None}]
    assert key == trial(double, dataset="cora").key


def test_a_failure_is_a_row_with_its_error():
    _, rows = perform(trial(fail, dataset="cora"))
    assert rows[0]["dataset"] == "cora"
    assert rows[0]["error"] == "ArithmeticError: no 3 today (in fail)"


def test_warnings_are_once_in_the_row():
    _, rows = perform(trial(warn))
    assert rows[0]["warning"] == "careful, 3 is odd"
    assert rows[0]["error"] is None


def test_the_key_depends_on_the_experiment_and_the_settings_alone():
    assert trial(double, a=1, b=2).key == trial(fail, b=2, a=1).key
    assert trial(double, a=1).key != trial(double, a=2).key
    assert Trial("others", {"a": 1}, double).key != trial(double, a=1).key
