"""Options that are parameters of a selector: type, choices, limits, default and help are read from the selector."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import typer

from blockselect._sklearn import check_parameters, parameter_names
from blockselect.base import ScoreSelector
from blockselect.blockmodels.guided import BlockGuidedSelector
from blockselect.bmgufs.estimator import BMGUFS
from blockselect.cli.docstrings import parameter_texts, plain
from blockselect.cli.failure import Failure, expecting_bad_input
from blockselect.cli.option_types import can_be_written, is_switch, metavar, parse
from blockselect.cli.settings import OPTION_OF, PARAMETER_OF, SETTINGS
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.graphs.neighbours import N_NEIGHBORS
from blockselect.names import check_known
from blockselect.registry import SELECTORS

DEFAULT, PAPER = "block-model", "bmgufs"  # methods whose settings are options
MOST_JOBS = 1024  # threads: a machine runs out of them
SEED = 0  # where none is given: the same command gives the same files

Command = TypeVar("Command", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter of a selector, or of the solver of BMGUFS, as its class describes it."""

    constraints: list[Any]
    default: Any
    help: str


def find_setting(selector: type[ScoreSelector], option: str) -> Setting | None:
    """The setting that an option makes; None where the selector has no such parameter, or none that can be written."""
    solver, _, name = PARAMETER_OF[option].rpartition("__")
    owner: Any = selector()
    if solver:
        if not issubclass(selector, BMGUFS):
            return None
        owner = selector._default_solver()
    if name not in parameter_names(type(owner)):
        return None
    constraints = owner._parameter_constraints[name]
    if not can_be_written(constraints):
        return None
    default = SEED if name == "random_state" else getattr(owner, name)
    return Setting(constraints, default, plain(parameter_texts(type(owner)).get(name, ""), OPTION_OF))


def chosen_method(method: str | None, *, paper: bool) -> str:
    """The name of the method that --method and --paper ask for."""
    if paper and method not in (None, PAPER):
        raise Failure(f"--paper runs {PAPER} and --method {method!r} another; leave one of them out.")
    name = PAPER if paper else method or DEFAULT
    try:
        check_known([name], SELECTORS, what="method")
    except ValueError as error:
        raise Failure(f"--method: {error}") from error
    return name


def make_selector(given: Mapping[str, Any], method: str) -> ScoreSelector:
    """The selector that the options describe.

    Parameters
    ----------
    given : mapping
        Options by their names, as written; None where not given.
    method : str
        Its name in the registry.

    Raises
    ------
    Failure
        An option that is not of this selector, has no such value, or changes nothing beside the others.
    """
    kind = SELECTORS[method].selector
    written = {option: value for option, value in given.items() if value is not None}
    settings = {PARAMETER_OF[option]: _value(method, option, value) for option, value in written.items()}
    seed = {"random_state": SEED} if "random_state" in parameter_names(kind) else {}
    if settings.get("n_jobs") == 0 or settings.get("n_jobs", 1) > MOST_JOBS:
        raise Failure(
            f"--jobs is {settings['n_jobs']}; expected a whole number from 1 to {MOST_JOBS}, or -1: all cores."
        )
    selector: ScoreSelector = kind().set_params(**{**SELECTORS[method].settings, **seed, **settings})
    with expecting_bad_input():
        check_parameters(selector)
        if isinstance(selector, BlockGuidedSelector):
            selector._check_combinations()
    return selector


def neighbors_to_link(selector: ScoreSelector) -> int | None:
    """Nearest neighbours that each node is linked with where no graph is given; None: that is refused."""
    if isinstance(selector, BlockGuidedSelector):
        return selector._neighbors_to_link()
    number: int = getattr(selector, "n_neighbors", N_NEIGHBORS)
    return number


def _value(method: str, option: str, written: Any) -> Any:
    setting = find_setting(SELECTORS[method].selector, option)
    if setting is None:
        if method == PAPER:
            raise Failure(f"--{option} is no setting of BMGUFS, which --paper runs; leave one of them out.")
        if method == DEFAULT:
            raise Failure(f"--{option} is a setting of BMGUFS alone; give --paper too, or leave it out.")
        raise Failure(f"--{option} is no setting of the method {method}; leave it out.")
    return written if is_switch(setting.constraints) else parse(f"--{option}", written, setting.constraints)


def takes_settings(command: Command) -> Command:
    """Give a command that takes ``**settings`` an option for each of them."""
    written = inspect.signature(command, eval_str=True)
    own = [parameter for parameter in written.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    parameters = [*own, *_parameters()]
    command.__signature__ = written.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}  # Typer reads both
    return command


def _parameters() -> Iterator[inspect.Parameter]:
    for panel, options in SETTINGS.items():
        for option in options:
            name = option.replace("-", "_")
            annotation = _annotation(option, panel)
            yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _annotation(option: str, panel: str) -> Any:
    ours, papers = find_setting(BlockModelSelector, option), find_setting(BMGUFS, option)
    setting = ours or papers
    assert setting is not None, f"no selector has a setting --{option}"
    switch = is_switch(setting.constraints)
    described = typer.Option(
        f"--{option}/--no-{option}" if switch else f"--{option}",
        metavar=None if switch else metavar(setting.constraints),
        help=setting.help,
        show_default=_default_text(ours, papers),
        rich_help_panel=panel,
    )
    return Annotated[bool | None if switch else str | None, described]


def _default_text(ours: Setting | None, papers: Setting | None) -> str:
    """The default, and that of the paper where it is another."""
    shown, with_paper = (None if one is None else str(one.default).lower() for one in (ours, papers))
    if shown is None:
        return f"{with_paper}; only with --paper"
    return shown if with_paper in (shown, None) else f"{shown}; with --paper {with_paper}"
