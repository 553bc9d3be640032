"""The page of a comparison says which method is best and by how much, and which features methods share."""

from __future__ import annotations

import re

import numpy as np
import pytest

from blockselect.evaluation.comparison_result import ALL_FEATURES, Comparison, ComparisonRow, Figure
from blockselect.report.comparison import agreement_found, comparison_report, headline, verdict

NAMES = ["<b>ann</b>", "bob", "cleo", "dan", "eve"]


def row(method, number, mean, sd=0.01, **more):
    return ComparisonRow(method, number, number, {"auc": Figure(mean, sd)}, 0.38, 0.5, agreement=0.3, **more)


def compared(variance=0.5, sd=0.01, failed=()):
    rows = [
        row(ALL_FEATURES, 5, 0.4), row("morans-i", 2, 0.6, sd), row("morans-i", 3, 0.7, sd),
        row("variance", 2, 0.8, sd), row("variance", 3, variance, sd),
        *(ComparisonRow(name, n, error="a < b") for name in failed for n in (2, 3)),
    ]  # fmt: skip
    made = Comparison({"auc": "AUC"}, "By links.", None, NAMES, rows, {"variance": ("few & rare",)})
    made.selections = {
        ("morans-i", 2): np.array([0, 1]), ("morans-i", 3): np.array([1, 0, 2]),
        ("variance", 2): np.array([3, 1]), ("variance", 3): np.array([3, 1, 4]),
    }  # fmt: skip
    return made


def test_the_headline_names_the_best_for_each_number():
    assert headline(compared()) == "Best by AUC: variance with 2 features and morans-i with 3 features"
    assert headline(compared(variance=0.75)) == "Best by AUC: variance"


def test_a_difference_counts_if_it_is_larger_than_runs_vary():
    assert verdict(compared()) == (
        "With 3 features, morans-i reaches 0.700; the next best method, variance, reaches 0.500. The difference is "
        "larger than the standard deviation between runs. All 5 features together reach 0.400."
    )
    assert "so the two perform about equally well" in verdict(compared(sd=0.3))
    assert "standard deviation" not in verdict(compared(sd=0))  # a single run


def test_the_most_and_the_least_alike_are_named():
    assert agreement_found(compared()) == "The selections of morans-i and variance have a Jaccard index of 0.20."
    three = compared()
    three.selections["hotspot", 3] = np.array([1, 0])
    assert agreement_found(three) == (
        "The selections of morans-i and hotspot overlap most (Jaccard index 0.67), those of morans-i and variance "
        "least (0.20)."
    )


def test_the_page_shows_figures_overlap_and_what_is_found_once():
    page = comparison_report(compared(), title="a network", command="blockselect compare").html
    assert "comparison of methods on a network" in page
    assert page.index("<h3>With 3 features</h3>") < page.index("<h3>With 2 features</h3>")
    assert '<td class="num" data-label="coverage">38 %</td>' in page
    assert "the share of nodes that have at least one selected feature" in page
    assert page.index("0.700 ± 0.010") < page.index("0.500 ± 0.010")  # the best first
    assert '<td class="z" title="morans-i and variance: 0.20">0.20</td>' in page
    assert '1 feature: <bdi title="bob">bob</bdi>.' in page  # found by every method
    assert "No other method selected 2 of its 3 features:" in page
    assert "few &amp; rare" in page
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert "<b>ann" not in page
    assert "<pre" in page
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)  # it loads nothing


def test_a_method_may_have_found_nothing_alone():
    same = compared()
    same.selections["variance", 3] = np.array([0, 1])
    assert "Each of its 2 features was also selected by another method." in comparison_report(same).html


def test_many_features_are_folded():
    many = compared()
    many.names = [f"f{column}" for column in range(40)]
    many.selections["morans-i", 3] = np.arange(40)
    assert "<summary>25 more</summary>" in comparison_report(many).html


def test_methods_that_failed_are_told_and_all_may_fail():
    page = comparison_report(compared(failed=["gfs"])).html
    assert "1 method failed" in page
    assert "gfs: a &lt; b" in page
    none = compared(failed=["gfs"])
    none.rows, none.selections = [one for one in none.rows if one.error or one.method == ALL_FEATURES], {}
    assert "No method produced a result" in comparison_report(none).html
    assert "Comparing selections takes at least two methods" in agreement_found(none)


def test_a_comparison_writes_its_page(tmp_path):
    assert compared().report(tmp_path / "page.html", title="mine") == tmp_path / "page.html"
    assert "methods on mine" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_page_about_a_comparison_is_written_only_as_html(tmp_path):
    with pytest.raises(ValueError, match=r"path is '.*\.pdf', but a report is an HTML page"):
        compared().report(tmp_path / "page.pdf")
    assert compared().report(tmp_path / "page.html").exists()
