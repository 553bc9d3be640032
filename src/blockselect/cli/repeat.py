"""The command that repeats a run, from the options that were given."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer

_NOT_REPEATED = ("out", "overwrite", "as_json", "quiet", "verbose")  # where the result went and how it was shown


def repeat_command(context: typer.Context) -> str:
    """The command line of this run, files without their folders, which are private, and into a folder `results`."""
    words = ["blockselect", str(context.info_name)]
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name not in _NOT_REPEATED and source is not None and source.name == "COMMANDLINE":
            words += _words(option, context.params[str(option.name)])
    return shlex.join([*words, "--out", "results"])


def _words(option: Any, value: Any) -> list[str]:
    if value is False:
        return [option.secondary_opts[0]]
    name = max(option.opts, key=len)
    if value is True:
        return [name]
    return [name, Path(value).name if _is_file(option, value) else str(value)]


def _is_file(option: Any, value: Any) -> bool:
    """Older versions of typer (0.25) keep a path as text, and know that it is one by the option's type."""
    kind = getattr(getattr(option, "type", None), "name", None)
    return isinstance(value, Path) or kind in ("file", "directory", "path")
