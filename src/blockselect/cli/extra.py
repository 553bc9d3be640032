"""The packages that the command needs and the library does not: the extra `cli`."""

from __future__ import annotations

PACKAGES = ("typer", "rich", "matplotlib", "jinja2")  # a download without pooch names its own extra


def advice(error: ImportError) -> str | None:
    """What to install, if the error is that a package of the extra is missing."""
    package = (error.name or "").partition(".")[0]
    if package not in PACKAGES:
        return None
    return f"the command needs {package}; install it with: pip install 'blockselect[cli]'."
