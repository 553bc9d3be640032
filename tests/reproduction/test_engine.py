"""The engine runs trials that depend on others, continues after failures, and resumes interrupted runs."""

from __future__ import annotations

import threading
import warnings
from functools import partial

import pytest

from blockselect.reproduction.engine import Trial, complete_rows, perform, run_experiments
from blockselect.reproduction.store import Store

DONE: list[int] = []


def square(number):
    DONE.append(number)
    if number == 3:
        raise ArithmeticError("no threes")
    return [{"square": number**2}]


def chain(config, rows):
    """Five trials; the rows of each lead to another trial, for the square."""
    numbers = [
        *range(5),
        *(row["square"] + 100 for row in rows if row.get("square") is not None and row["square"] < 99),
    ]
    return [Trial("chain", {"number": number}, partial(square, number)) for number in numbers]


CHAIN = {"chain": chain}


def collect(store):
    return complete_rows(CHAIN, None, store).get("chain")


@pytest.fixture
def store(tmp_path):
    DONE.clear()
    return Store(tmp_path / "trials", {})


def test_all_trials_are_run_and_those_that_follow_from_them(store):
    run_experiments(CHAIN, None, store)
    assert sorted(DONE) == [0, 1, 2, 3, 4, 100, 101, 104, 116]
    assert len(collect(store)) == 9


def test_a_failing_trial_is_a_row_and_the_others_go_on(store):
    run_experiments(CHAIN, None, store)
    errors = {row["number"]: row["error"] for row in store.rows("chain")}
    assert errors.pop(3) == "ArithmeticError: no threes (in square)"
    assert set(errors.values()) == {None}


def test_a_second_run_does_nothing_again_and_failed_trials_wait_to_be_forgotten(store):
    run_experiments(CHAIN, None, store)
    DONE.clear()
    run_experiments(CHAIN, None, store)
    assert DONE == []
    store.forget_failures()
    run_experiments(CHAIN, None, store)
    assert DONE == [3]


def test_a_run_goes_on_where_an_interrupted_one_ended(store, tmp_path):
    def stop_after_three(done, known):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiments(CHAIN, None, store, progress=stop_after_three)
    assert len(store.rows("chain")) == 3
    assert collect(store) is None
    DONE.clear()
    run_experiments(CHAIN, None, store)
    assert len(DONE) == 6
    undisturbed = Store(tmp_path / "undisturbed", {})
    run_experiments(CHAIN, None, undisturbed)
    assert collect(store) == collect(undisturbed)


def test_progress_rises_to_all_that_is_known(store):
    seen = []
    run_experiments(CHAIN, None, store, progress=lambda *counts: seen.append(counts))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == ((0, 5), (9, 9))


def test_processes_make_the_same_rows(store, tmp_path):
    run_experiments(CHAIN, None, store)
    shared = Store(tmp_path / "shared", {})
    run_experiments(CHAIN, None, shared, workers=2)
    assert collect(shared) == collect(store)


def test_rows_come_in_the_order_of_the_trials_however_they_ended(store):
    run_experiments(CHAIN, None, store)
    numbers = [row["number"] for row in collect(store)]
    assert numbers[:5] == [0, 1, 2, 3, 4]
    assert sorted(numbers[5:]) == [100, 101, 104, 116]


def test_trials_may_run_in_a_thread_of_their_own(store):
    """Python allows changes of signal handlers only in the main thread."""
    thread = threading.Thread(target=run_experiments, args=(CHAIN, None, store))
    thread.start()
    thread.join()
    assert len(collect(store)) == 9


def double(number):
    return [{"double": 2 * number}]


def warn(number):
    for _ in range(2):
        warnings.warn(f"careful,\n{number} is odd", RuntimeWarning, stacklevel=1)
    return [{"double": 2 * number}]


def trial(run, **settings):
    return Trial("numbers", settings, partial(run, 3))


def test_a_row_says_what_the_trial_was_and_what_came_out():
    key, rows = perform(trial(double, dataset="cora"))
    assert rows == [{"experiment": "numbers", "dataset": "cora", "double": 6, "warning": None, "error": None}]
    assert key == trial(double, dataset="cora").key


def test_warnings_are_once_in_the_row():
    _, rows = perform(trial(warn))
    assert rows[0]["warning"] == "careful, 3 is odd"
    assert rows[0]["error"] is None


def test_the_key_depends_on_the_experiment_and_the_settings_alone():
    assert trial(double, a=1, b=2).key == trial(warn, b=2, a=1).key
    assert trial(double, a=1).key != trial(double, a=2).key
    assert Trial("others", {"a": 1}, double).key != trial(double, a=1).key
