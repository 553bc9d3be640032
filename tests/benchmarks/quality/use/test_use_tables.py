"""Tables of use: pooled figures, cells counted by protocol, rivals that are missing."""

from __future__ import annotations

import pytest

from benchmarks.quality.real_networks import REFERENCE, RIVAL, VARIANT
from benchmarks.quality.references import ALL, BY_LABELS, RANDOM
from benchmarks.quality.use.use_tables import make_tables, render
from benchmarks.quality.variants import DEFAULT

FIGURES = ("ACC", "NMI", "few_labels", "few_labels_averaged")


def row(kind, method, value, *, network="cora", top=16, seed=0, hidden=None, sd=0.01):
    measures = FIGURES if hidden is None else ("AUC",)
    return {
        "network": network,
        "kind": kind,
        "method": method,
        "top": top,
        "seed": seed,
        "judged_by": hidden,
        "n_zero_rows": 3,
        "n_selected": top,
        **dict.fromkeys(measures, value),
        **{f"{name}_sd": sd for name in measures},
    }


@pytest.fixture
def tables():
    rows = [
        row(VARIANT, DEFAULT, 0.50, seed=0),
        row(VARIANT, DEFAULT, 0.54, seed=1),
        row(RIVAL, "variance", 0.40),
        row(RIVAL, "morans-i", 0.53),
        row(VARIANT, DEFAULT, 0.70, hidden=0),
        row(RIVAL, "morans-i", 0.90, hidden=0),
        row(VARIANT, DEFAULT, 0.60, network="uai"),
        row(RIVAL, "variance", 0.30, network="uai"),
    ]
    failed = [{"network": "uai", "method": "morans-i", "hidden": None, "seed": 0, "error": "took more than 1 seconds."}]
    return make_tables(rows, failed)


def test_seeds_are_pooled(tables):
    line = tables["use"].set_index(["network", "method"]).loc["cora", DEFAULT]
    assert line["ACC"] == pytest.approx(0.52)
    assert line["ACC_sd"] == pytest.approx((0.01**2 + 0.02**2) ** 0.5, abs=1e-4)
    assert line["AUC"] == pytest.approx(0.70)
    assert line["n_seeds"] == 2


def test_cells_are_counted_by_protocol_and_network(tables):
    counts = tables["use_counts"].set_index(["protocol", "network"])
    of_kmeans = counts.loc[("K-means", "all")]
    assert of_kmeans[["cells", "at_or_above", "within_one_sd", "below"]].tolist() == [4, 2, 2, 0]
    assert of_kmeans["mean_margin"] == pytest.approx((2 * -0.01 + 2 * 0.30) / 4)
    assert counts.loc[("hidden links", "cora"), "below"] == 1
    assert counts.loc[("few labels", "uai"), "at_or_above"] == 2


def test_each_rival_is_counted_where_it_ran(tables):
    counts = tables["use_each_rival"].set_index(["rival", "protocol"])
    assert counts.loc[("variance", "K-means"), ["cells", "at_or_above"]].tolist() == [4, 4]
    assert counts.loc[("morans-i", "K-means"), ["cells", "at_or_above"]].tolist() == [2, 0]


def test_what_is_missing_and_what_is_lost_is_shown(tables):
    shown = render(tables)
    assert "| uai | morans-i | took more than 1 seconds. |" in shown["lost"]
    assert "| cora | hidden links, AUC | 16 (-0.200, morans-i) |" in shown["lost"]
    assert "at or above it in 2 of 4 cells, below it by no more than one standard deviation in 2, " in shown["K-means"]


def test_references_and_the_best_single_rival_stand_beside_the_default():
    """The best rival of one network does not count if another has no result of it."""
    rows = [
        row(VARIANT, DEFAULT, 0.5),
        row(VARIANT, DEFAULT, 0.7, top=64),
        row(VARIANT, DEFAULT, 0.4, network="uai"),
        row(RIVAL, "variance", 0.3),
        row(RIVAL, "variance", 0.3, top=64),
        row(RIVAL, "variance", 0.3, network="uai"),
        row(RIVAL, "morans-i", 0.2),
        row(RIVAL, "morans-i", 0.2, top=64),
        row(RIVAL, "morans-i", 0.35, network="uai"),
        row(RIVAL, "late", 0.9),
        *(row(REFERENCE, method, 0.1) for method in (ALL, RANDOM, BY_LABELS)),
    ]
    table = make_tables(rows, [])["use_protocols"]
    accuracy = table[table["measure"] == "ACC"].set_index("features").drop(columns="measure")
    assert accuracy.index.tolist() == ["the default", "the best single rival: variance", ALL, RANDOM, BY_LABELS]
    assert accuracy.loc["the default"].to_dict() == {"cora": 0.6, "uai": 0.4, "mean": 0.5}
    shown = render(make_tables(rows_with_links(), []))
    assert "| measure | features | cora | mean |" in shown["K-means"]
    assert "| NMI | the default | 0.500 | 0.500 |" in shown["K-means"]
    assert "| hidden links, AUC | the default | 0.600 | 0.600 |" in shown["hidden links"]


def rows_with_links():
    return [row(VARIANT, DEFAULT, 0.5), row(RIVAL, "variance", 0.3), row(VARIANT, DEFAULT, 0.6, hidden=0)]
