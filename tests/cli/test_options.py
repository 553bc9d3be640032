"""The options of the command agree with the library: parameters, defaults, choices and names."""

from __future__ import annotations

import inspect
import re
from typing import get_args

import pytest

from blockselect import BMGUFS, SELECTORS, BlockModelSelector, make_selector
from blockselect.blockmodels.candidates import FAMILIES
from blockselect.cli import compare, options
from blockselect.cli import select as command
from blockselect.cli.commands import load_command
from blockselect.cli.failure import OPTION_OF, Failure, expecting_bad_input, in_options
from blockselect.cli.methods import meanings, parameters_of
from blockselect.cli.options import number_or_word, parse_settings
from blockselect.cli.selection import configured_selector
from blockselect.consensus.ranking import ENOUGH, MAX_GREEDY_STEPS
from blockselect.datasets import DATASETS
from blockselect.evaluation.comparison import DEFAULT_METHODS, PROTOCOLS
from blockselect.inputs.files import UnknownNodes
from blockselect.inputs.neighbour_graph import N_NEIGHBORS
from blockselect.inspection.stability import MIN_RESAMPLES, selection_stability

SHOWN = {  # parameter → the default that the help shows
    "n_features_to_select": "the fewest that explain 80 % of what all features explain, at most 500; half of all "
    "features with other methods",
    "n_blocks": "auto; required with --paper",
    "block_model": "mixed",
    "random_state": "0",
    "n_jobs": "1",
    "n_neighbors": f"{N_NEIGHBORS}, with a warning; required with --paper and methods guided by the network",
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


def test_the_help_shows_the_defaults_of_the_library(shown):
    assert {name: shown[OPTION_OF[name]] for name in SHOWN} == SHOWN
    assert shown["--resamples"] == f"{command.RESAMPLES}; 0 with other methods"
    assert OURS["n_features_to_select"] is OURS["n_jobs"] is OURS["n_neighbors"] is PAPERS["n_neighbors"] is None
    assert (OURS["n_blocks"], PAPERS["n_blocks"], OURS["block_model"]) == ("auto", None, "mixed")
    assert OURS["max_blocks"] == 50  # in the help of --blocks
    assert (ENOUGH, MAX_GREEDY_STEPS) == (0.8, 500)
    assert inspect.signature(selection_stability).parameters["n_resamples"].default == command.RESAMPLES
    assert command.MIN_RESAMPLES == MIN_RESAMPLES


@pytest.mark.parametrize("method", SELECTORS)
def test_every_parameter_of_every_method_is_shown_with_its_default_and_meaning(run, method):
    selector = make_selector(method, random_state=0)
    known, meaning = parameters_of(selector), meanings(selector)
    assert set(known) >= set(inspect.signature(type(selector)).parameters) - {"solver", "verbose"}
    result = run("methods", method)
    assert result.exit_code == 0
    for name, value in known.items():
        row = f"{OPTION_OF.get(name, f'--set {name}=')} +{re.escape(str(value))} +{re.escape(meaning[name][:30])}"
        assert re.search(row, result.stdout), name
        assert meaning[name].endswith(".")


def test_the_parameters_of_the_solver_are_shown_with_those_of_bmgufs():
    known, meaning = parameters_of(BMGUFS()), meanings(BMGUFS())
    assert (known["solver__gradient"], known["solver__tol"], known["sparsity"]) == ("paper", 0.0, "paper")
    assert meaning["solver__max_iter"] == "Maximum number of iterations."
    assert meaning["n_features_to_select"] == (
        "Number of features to keep, or a fraction of them between 0 and 1; None keeps half."
    )


def test_all_methods_are_listed(run):
    listed = run("methods").stdout
    assert all(re.search(rf"^ {name} ", listed, flags=re.MULTILINE) for name in SELECTORS)


def test_choices_are_those_of_the_library():
    assert set(command.FAMILIES) == set(FAMILIES)
    assert get_args(options.UnknownNodes) == get_args(UnknownNodes)


def test_names_for_completion_are_those_of_the_library():
    assert list(SELECTORS) == options.METHODS
    assert tuple(DATASETS) == options.DATASETS
    assert set(compare.PROTOCOLS) == set(PROTOCOLS)
    assert tuple(compare.METHODS.split(",")) == DEFAULT_METHODS
    assert {name for name, protocol in PROTOCOLS.items() if protocol.needs_classes} == set(compare.NEED_CLASSES)


def test_every_option_of_every_command_has_help():
    for name in ("select", "methods", "compare", "reproduce"):
        for option in load_command(name).params:
            assert option.name == "help" or option.help.endswith("."), option.name


def test_settings_become_parameters_of_the_selector():
    selector = configured_selector("block-model", {"n_features_to_select": 0.25, "n_blocks": 3}, {"refine": False})
    assert isinstance(selector, BlockModelSelector)
    assert (selector.n_features_to_select, selector.n_blocks, selector.refine) == (0.25, 3, False)
    assert selector.random_state == 0


def test_the_solver_of_the_paper_keeps_its_other_settings():
    selector = configured_selector("bmgufs", {"n_blocks": 3}, {"solver__max_iter": 7})
    assert type(selector) is BMGUFS
    assert (selector.solver.max_iter, selector.solver.gradient, selector.solver.tol) == (7, "paper", 0.0)
    plain = configured_selector("bmgufs", {"n_blocks": 3}, {})
    assert plain.get_params() == BMGUFS(n_blocks=3, random_state=0).get_params()


@pytest.mark.parametrize(("text", "value"), [("64", 64), ("0.25", 0.25), ("1e-1", 0.1), ("auto", "auto"), ("", "")])
def test_text_becomes_a_number_or_stays_a_word(text, value):
    read = number_or_word(text)
    assert (read, type(read)) == (value, type(value))


def test_settings_are_numbers_constants_or_text():
    given = ("a=3", "b=0.5", "c=True", "d=None", "solver__e=float32", "f=x=y", "a=4")
    assert parse_settings(given) == {"a": 4, "b": 0.5, "c": True, "d": None, "solver__e": "float32", "f": "x=y"}


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("n_features_to_select is 9 but there are 4 features.", "--top is 9 but there are 4 features."),
        ("refine is True; pass block_model or n_blocks.", "refine is True; pass --block-model or --blocks."),
        ('it limits n_blocks="auto" alone.', "it limits --blocks auto alone."),
        (
            "leave it out with drop=['the age'], or give fill=0.",
            "leave it out with --drop 'the age', or give --fill 0.",
        ),
        ("as_adjacency(edges, weight='year') uses it, weight=False not.", "--weight year uses it, --weight none not."),
        (
            "2 node(s) have no row; add them, or drop them: graph.subgraph(ids), ids(graph). Fits use fit(X).",
            "2 node(s) have no row; add them.",
        ),
        ("lower it with set_params(solver__smoothing=…).", "lower it with --set solver__smoothing=…."),
        ("give header=False or one_hot=True, or weight=False.", "give --no-header or --one-hot, or --weight none."),
        ("n_blocks/x.csv: column 'n_blocks' of n_jobs.csv is empty.",) * 2,
        ("the weight of the links, fill and drop are words.",) * 2,
    ],
)
def test_a_message_of_the_library_names_options(message, said):
    assert in_options(message) == said
    with pytest.raises(Failure, match=f"^{re.escape(said)}$"), expecting_bad_input():
        raise ValueError(message)
