"""What a fitted selector found: as plain data, tables, pictures and a page. Pictures and pages need the extra `cli`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from blockselect.report.summarize import summarize
from blockselect.report.tables import blocks_table, nodes_table, scores_table, selected_table

if TYPE_CHECKING:
    from blockselect.report.overview import draw_diagnostics, draw_overview, render_png
    from blockselect.report.page import Report, make_report

_HOME = {  # what needs matplotlib or jinja2
    "Report": "page",
    "draw_diagnostics": "overview",
    "draw_overview": "overview",
    "make_report": "page",
    "render_png": "overview",
}

__all__ = [
    "Report",
    "blocks_table",
    "draw_diagnostics",
    "draw_overview",
    "make_report",
    "nodes_table",
    "render_png",
    "scores_table",
    "selected_table",
    "summarize",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'blockselect.report' has no attribute {name!r}")
    try:
        return getattr(import_module(f"blockselect.report.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("jinja2", "matplotlib"):
            raise
        message = f"pictures and pages need {package}; install it with: pip install 'blockselect[cli]'."
        raise ImportError(message, name=package) from error
