"""What a fitted selector found: as plain data, as tables, and as a picture. The picture needs the extra `cli`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from blockselect.report.summarize import summarize
from blockselect.report.tables import scores_table, selected_table

if TYPE_CHECKING:
    from blockselect.report.overview import draw_overview, render_png

__all__ = ["draw_overview", "render_png", "scores_table", "selected_table", "summarize"]


def __getattr__(name: str) -> Any:
    if name not in ("draw_overview", "render_png"):
        raise AttributeError(f"module 'blockselect.report' has no attribute {name!r}")
    try:
        return getattr(import_module("blockselect.report.overview"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        message = "pictures need matplotlib; install it with: pip install 'blockselect[cli]'."
        raise ImportError(message, name="matplotlib") from error
