"""The findings of a selector as data, tables, figures and an HTML report.

Figures and the report need the extra `report`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from blockselect.report.summarize import summarize, summarize_scores
from blockselect.report.tables import blocks_table, nodes_table, scores_table, selected_table
from blockselect.utils.extras import install_advice

if TYPE_CHECKING:
    from blockselect.report.overview import draw_diagnostics, draw_overview, render_png
    from blockselect.report.page import Report, make_report

_HOME = {  # names that need matplotlib or jinja2
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
    "summarize_scores",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        raise ImportError(install_advice(error, "figures and reports need") or str(error), name=error.name) from error
