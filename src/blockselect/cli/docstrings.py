"""What the docstring of a class says of its parameters: the section "Parameters" of numpydoc."""

from __future__ import annotations

import inspect
import re


def parameter_texts(documented: type) -> dict[str, str]:
    """Name of each parameter → its description, in one line."""
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in _section(documented, "Parameters"):
        if line.startswith(" "):
            for name in names:
                texts[name].append(line.strip())
        else:
            names = line.partition(" : ")[0].split(", ")
            texts.update({name: [] for name in names})
    return {name: " ".join(lines) for name, lines in texts.items()}


def plain(text: str, names: dict[str, str]) -> str:
    """A description without markup; `names` are put in place of those in backticks."""
    text = re.sub(r":\w+:`[\w.]*?(\w+)`", r"\1", text)  # :func:`package.name`
    return re.sub(r"`+([^`]+)`+", lambda found: names.get(found[1], found[1]), text)


def _section(documented: type, title: str) -> list[str]:
    """The lines of a section, without blank ones."""
    _, _, rest = (inspect.getdoc(documented) or "").partition(f"{title}\n{'-' * len(title)}\n")
    body = re.split(r"\n\n\S+\n-{3,}\n", rest, maxsplit=1)[0]
    return [line for line in body.splitlines() if line.strip()]
