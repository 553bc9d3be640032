"""What a fitted selector found: as plain data, as tables, and as a picture."""

from blockselect.report.overview import draw_overview, render_png
from blockselect.report.summarize import summarize
from blockselect.report.tables import scores_table, selected_table

__all__ = ["draw_overview", "render_png", "scores_table", "selected_table", "summarize"]
