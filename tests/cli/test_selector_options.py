"""Options come from the selectors: their values, limits, defaults and help are read there and nowhere else."""

from __future__ import annotations

from numbers import Integral, Real

import pytest

from blockselect import BMGUFS, BlockModelSelector, Descent
from blockselect._sklearn import Interval, StrOptions
from blockselect.blockmodels.candidates import FAMILIES
from blockselect.cli.commands import load_command
from blockselect.cli.docstrings import parameter_texts, plain
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.option_types import can_be_written, metavar, parse
from blockselect.cli.selector_options import find_setting, make_selector
from blockselect.cli.settings import PARAMETER_OF, option_of
from blockselect.errors import ParameterError
from blockselect.wording import shortened


@pytest.fixture(scope="module")
def options():
    return {option.opts[0].removeprefix("--"): option for option in load_command("select").params}


@pytest.mark.parametrize("option", PARAMETER_OF)
def test_every_option_is_a_setting_of_a_selector_and_shows_its_default(options, option):
    settings = [find_setting(kind, option) for kind in (BlockModelSelector, BMGUFS)]
    described = next(setting for setting in settings if setting is not None)
    assert options[option].help == described.help != ""
    for setting in settings:
        if setting is not None:
            assert str(setting.default).lower() in options[option].show_default


@pytest.mark.parametrize("kind", [BlockModelSelector, BMGUFS])
def test_every_parameter_that_can_be_written_has_an_option(kind):
    names = {name for name, constraints in kind._parameter_constraints.items() if can_be_written(constraints)}
    assert names <= set(PARAMETER_OF.values())


def test_choices_are_those_the_selector_knows(options):
    assert set(options["block-model"].metavar.split("|")) == set(FAMILIES)
    assert options["gradient"].metavar == "exact|paper"
    assert options["refine"].secondary_opts == ["--no-refine"]


def test_options_become_parameters_of_the_selector():
    selector = make_selector({"top": "0.25", "blocks": "3", "refine": False, "dtype": None}, "block-model")
    assert isinstance(selector, BlockModelSelector)
    assert (selector.n_features_to_select, selector.n_blocks, selector.refine) == (0.25, 3, False)
    assert selector.random_state == 0


def test_the_solver_of_the_paper_keeps_its_other_settings():
    selector = make_selector({"blocks": "3", "max-iter": "7"}, "bmgufs")
    assert type(selector) is BMGUFS
    assert (selector.solver.max_iter, selector.solver.gradient, selector.solver.tol) == (7, "paper", 0.0)
    assert make_selector({"blocks": "3"}, "bmgufs").get_params() == BMGUFS(n_blocks=3, random_state=0).get_params()


COUNT = Interval(Integral, 1, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")


@pytest.mark.parametrize(
    ("text", "constraints", "value"),
    [
        ("64", [None, COUNT, SHARE], 64),
        ("0.25", [None, COUNT, SHARE], 0.25),
        ("1e-1", [COUNT, SHARE], 0.1),
        ("auto", [COUNT, StrOptions({"auto"})], "auto"),
        ("yes", [StrOptions({"auto"}), "boolean"], True),
        ("no", [StrOptions({"auto"}), "boolean"], False),
        ("cuda", [str], "cuda"),
        ("-1", [None, Integral], -1),
        ("7", ["random_state"], 7),
        ("2", [Interval(Real, 0, None, closed="left")], 2.0),
    ],
)
def test_text_is_read_as_the_constraints_say(text, constraints, value):
    read = parse("--option", text, constraints)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "constraints", "expected"),
    [
        ("0", [COUNT], "a whole number from 1"),
        ("1.0", [COUNT, SHARE], "a whole number from 1 or a number between 0 and 1"),
        ("nan", [SHARE], "a number between 0 and 1"),
        ("inf", [Interval(Real, 0, None, closed="neither")], "a number above 0"),
        ("-1", ["random_state"], "a whole number from 0 to 4294967295"),
        ("", [COUNT, StrOptions({"auto"})], "a whole number from 1 or auto"),
        ("a", [StrOptions({"b", "c"}), "boolean"], "b, c or yes or no"),
        ("x", [None, Integral, "array-like"], "a whole number"),
        ("9" * 400, [COUNT], "a whole number from 1"),
        ("1e400", [SHARE], "a number between 0 and 1"),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(text, constraints, expected):
    with pytest.raises(Failure) as refusal:
        parse("--option", text, constraints)
    assert str(refusal.value) == f"--option is {shortened(text)!r}; expected {expected}."


def test_what_is_for_python_alone_cannot_be_written():
    assert not can_be_written([None, "array-like", Descent])
    assert metavar([None, COUNT, SHARE, StrOptions({"auto"})]) == "INTEGER|NUMBER|auto"


class Documented:
    """A class.

    Parameters
    ----------
    first : int, default=1
        How many, see `second` and :func:`blockselect.find_block_models`.
        ``None`` is all.
    second, third : float
        Weights.

    Attributes
    ----------
    fourth : int
        No parameter.
    """


def test_parameters_are_read_from_the_docstring():
    texts = parameter_texts(Documented)
    assert list(texts) == ["first", "second", "third"]
    assert texts["third"] == texts["second"] == "Weights."
    assert plain(texts["first"], {"second": "--two"}) == "How many, see --two and find_block_models. None is all."


def test_a_complaint_about_a_parameter_names_the_option():
    assert (option_of("n_blocks"), option_of("max_iter"), option_of("smoothing")) == (
        "--blocks",
        "--max-iter",
        "smoothing",
    )
    with pytest.raises(Failure, match=r"^--top is 9 but there are 4 features$"), expecting_bad_input():
        raise ParameterError("n_features_to_select", "is 9 but there are 4 features")
