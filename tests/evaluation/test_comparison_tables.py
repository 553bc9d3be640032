"""Rows of a comparison as CSV and as Markdown."""

import csv
import io

from blockselect.evaluation.comparison import Comparison, ComparisonRow, Figure
from blockselect.evaluation.comparison_tables import cells, csv_table, header, markdown_table

TITLES = {"accuracy": "ACC", "nmi": "NMI"}
FIGURES = {"accuracy": Figure(0.51234, 0.01), "nmi": Figure(0.2, 0.005)}
SCORED = ComparisonRow("variance", 16, 15, FIGURES, 3, 123.4, 250.2, 200.0, agreement=0.256)
FAILED = ComparisonRow("ndfs", 16, error="a | b, c")


def test_csv_holds_every_field_in_full_and_nothing_for_what_is_missing():
    scored, failed = csv.DictReader(io.StringIO(csv_table(Comparison(TITLES, "", [SCORED, FAILED]))))
    assert float(scored["accuracy"]) == 0.51234
    assert (scored["method"], scored["n_selected"], scored["error"]) == ("variance", "15", "")
    assert list(scored) == [
        "method",
        "n_features",
        "n_selected",
        "accuracy",
        "accuracy_sd",
        "nmi",
        "nmi_sd",
        "n_zero_rows",
        "seconds",
        "peak_mb",
        "base_mb",
        "agreement",
        "error",
    ]
    assert (failed["accuracy"], failed["seconds"], failed["error"]) == ("", "", "a | b, c")


def test_rows_for_people_are_rounded_and_say_what_failed():
    assert dict(zip(header(TITLES), cells(SCORED, TITLES), strict=True)) == {
        "method": "variance",
        "d": "16",
        "selected": "15",
        "ACC ± sd": "0.512 ± 0.010",
        "NMI ± sd": "0.200 ± 0.005",
        "zero rows": "3",
        "agreement": "0.26",
        "seconds": "123",
        "peak MB": "250",
    }
    assert cells(FAILED, TITLES) == ("ndfs", "16", "", "failed", "", "", "", "", "")


def test_markdown_keeps_bars_inside_their_cells():
    assert markdown_table(["a", "b"], [["x|y", "1"]]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n"
