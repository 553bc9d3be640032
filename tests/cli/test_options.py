"""The options of the command repeat what the library has: parameters, defaults, choices and names."""

from __future__ import annotations

import inspect
from typing import get_args

import pytest

from blockselect import BMGUFS, SELECTORS, BlockModelSelector, Descent
from blockselect.blockmodels.candidates import FAMILIES
from blockselect.cli import compare, options
from blockselect.cli import select as command
from blockselect.cli.commands import load_command
from blockselect.cli.failure import OPTION_OF, Failure, expecting_bad_input, in_options, option_of
from blockselect.cli.options import number_or_word
from blockselect.cli.selection import configured_selector
from blockselect.consensus.ranking import ENOUGH, MAX_STEPS
from blockselect.datasets import DATASETS
from blockselect.evaluation.comparison import DEFAULT_METHODS, PROTOCOLS
from blockselect.inputs.files import UnknownNodes
from blockselect.inputs.neighbour_graph import N_NEIGHBORS
from blockselect.inspection.reselection import MIN_RESAMPLES
from blockselect.inspection.stability import selection_stability
from blockselect.utils.errors import ParameterError

ONLY_IN_PYTHON = {"solver", "step_size", "smoothing", "initial_scores", "compile", "verbose"}  # verbose: --quiet
OF_FUNCTIONS = {  # not of selectors
    *("adjacency", "n_features", "id_column", "drop", "one_hot"),
    *("fill", "decimal", "transpose", "unknown_nodes", "weight"),
}
SAID_OTHERWISE = {  # parameter → what the help says in place of the default in Python
    "n_features_to_select": "the fewest that explain 80 % of what all features explain, at most 500; half of all "
    "features with another --method",
    "n_jobs": "1",
    "random_state": "0",
    "n_neighbors": f"{N_NEIGHBORS}, with a warning; needed with --paper",
    "n_blocks": "auto; needed with --paper",
    "memory_limit": "8 GB; only with --paper",
    "n_resamples": f"{command.RESAMPLES}; 0 with another --method",
}


def defaults(estimator):
    parameters = inspect.signature(type(estimator)).parameters
    return {name: getattr(estimator, name) for name in parameters}


OURS = defaults(BlockModelSelector())
PAPERS = defaults(BMGUFS()) | defaults(BMGUFS()._solver())


@pytest.fixture(scope="module")
def shown():
    """Option → the default that the help shows."""
    return {option.opts[0]: option.show_default for option in load_command("select").params}


def test_every_parameter_has_an_option():
    parameters = {*OURS, *PAPERS} - ONLY_IN_PYTHON
    assert parameters == set(OPTION_OF) - {"n_resamples", *OF_FUNCTIONS}


@pytest.mark.parametrize("parameter", [parameter for parameter in OPTION_OF if parameter not in OF_FUNCTIONS])
def test_the_help_shows_the_defaults_of_the_library(shown, parameter):
    text = shown[OPTION_OF[parameter]]
    if parameter in SAID_OTHERWISE:
        assert text == SAID_OTHERWISE[parameter]
    elif parameter not in OURS:
        assert text == f"{PAPERS[parameter]}; only with --paper"
    elif PAPERS.get(parameter) in (None, OURS[parameter]):
        assert text == str(OURS[parameter])
    else:
        assert text == f"{OURS[parameter]}; {PAPERS[parameter]} with --paper"


def test_defaults_that_the_help_says_otherwise_are_those_of_the_library():
    assert OURS["n_features_to_select"] is OURS["n_jobs"] is OURS["n_neighbors"] is PAPERS["n_neighbors"] is None
    assert (OURS["n_blocks"], PAPERS["n_blocks"], PAPERS["memory_limit"]) == ("auto", None, None)
    assert (ENOUGH, MAX_STEPS) == (0.8, 500)
    assert inspect.signature(selection_stability).parameters["n_resamples"].default == command.RESAMPLES
    assert command.MIN_RESAMPLES == MIN_RESAMPLES


def choices(annotation):
    return set(get_args(get_args(get_args(annotation)[0])[0]))


def test_choices_are_those_of_the_library():
    assert set(command.FAMILIES) == set(FAMILIES)
    assert choices(command.Gradient) == Descent._parameter_constraints["gradient"][0].options
    assert choices(command.Dtype) == Descent._parameter_constraints["dtype"][0].options
    assert get_args(options.UnknownNodes) == get_args(UnknownNodes)


def test_names_for_completion_are_those_of_the_library():
    assert tuple(SELECTORS) == get_args(options.MethodName)
    assert tuple(DATASETS) == options.DATASETS
    assert choices(compare.Protocol) == set(PROTOCOLS)
    assert tuple(compare.METHODS.split(",")) == DEFAULT_METHODS
    assert {name for name, protocol in PROTOCOLS.items() if protocol.needs_classes} == set(compare.NEED_CLASSES)


def test_every_option_of_every_command_has_help():
    for name in ("select", "compare", "reproduce"):
        for option in load_command(name).params:
            assert option.name == "help" or option.help.endswith("."), option.name


def test_settings_become_parameters_of_the_selector():
    selector = configured_selector("block-model", {"n_features_to_select": 0.25, "n_blocks": 3, "refine": False})
    assert isinstance(selector, BlockModelSelector)
    assert (selector.n_features_to_select, selector.n_blocks, selector.refine) == (0.25, 3, False)
    assert selector.random_state == 0


def test_the_solver_of_the_paper_keeps_its_other_settings():
    selector = configured_selector("bmgufs", {"n_blocks": 3, "solver__max_iter": 7})
    assert type(selector) is BMGUFS
    assert (selector.solver.max_iter, selector.solver.gradient, selector.solver.tol) == (7, "paper", 0.0)
    plain = configured_selector("bmgufs", {"n_blocks": 3})
    assert plain.get_params() == BMGUFS(n_blocks=3, random_state=0).get_params()


@pytest.mark.parametrize(("text", "value"), [("64", 64), ("0.25", 0.25), ("1e-1", 0.1), ("auto", "auto"), ("", "")])
def test_text_becomes_a_number_or_stays_a_word(text, value):
    read = number_or_word(text)
    assert (read, type(read)) == (value, type(value))


def test_a_message_about_a_parameter_names_the_option():
    assert [option_of(name) for name in ("n_blocks", "max_iter", "smoothing")] == [
        "--blocks",
        "--max-iter",
        "smoothing",
    ]
    with pytest.raises(Failure, match=r"^--top is 9 but there are 4 features$"), expecting_bad_input():
        raise ParameterError("n_features_to_select", "is 9 but there are 4 features")


def test_settings_at_the_end_of_a_sentence_become_options():
    assert in_options("give transpose=True.") == "give --transpose."
    assert in_options("give weight=False or fill=0.5.") == "give --weight none or --fill 0.5."
    assert in_options("give header=False.") == "give --no-header."
