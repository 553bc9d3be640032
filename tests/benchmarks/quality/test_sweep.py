"""The whole measurement at small size: every trial, tables, files; going on after an interruption; doing again."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality import planted_networks, real_networks
from benchmarks.quality.cells import compare, count, summarize
from benchmarks.quality.quality_config import read_quality_config
from benchmarks.quality.quality_tables import make_tables
from benchmarks.quality.real_networks import RIVAL, VARIANT
from benchmarks.quality.references import ALL, BY_LABELS, N_DRAWS, RANDOM
from benchmarks.quality.regimes import PlantedSizes
from benchmarks.quality.selected import taken
from benchmarks.quality.summary import RULES, headlines, render_page
from benchmarks.quality.sweep import STORE, measure_quality, quality_files
from benchmarks.quality.variants import DEFAULT, VARIANTS, Variant
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.reproduction.store import Store
from references.planted_experiment import planted_experiment


def make_small(planted):
    """The network 'planted', three rivals and two variants, of seconds."""
    return replace(
        read_quality_config("quick"),
        protocol=replace(planted, n_candidates=2, sparsities=(0.0, 1.0)),
        methods=("bmgufs", "variance", "lufs"),
        variants=(DEFAULT, "blocks not refined"),
        regimes=("assortative",),
        planted_seeds=2,
        planted=PlantedSizes(60, 3, 6, 2, 8, 4),
    )


@pytest.fixture
def small(planted):
    return make_small(planted)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    with planted_experiment() as planted:
        return measure_quality(tmp_path_factory.mktemp("quality"), make_small(planted))


def selections(rows, **wanted):
    return [
        row
        for row in rows[real_networks.NAME]
        if row["experiment"] == real_networks.NAME and all(row.get(name) == value for name, value in wanted.items())
    ]


def test_no_trial_failed(measured):
    assert {row["error"] for rows in measured.values() for row in rows} == {None}


def test_random_rivals_are_run_with_every_seed_and_others_once(measured):
    assert {row["seed"] for row in selections(measured, method="lufs")} == {0, 1}
    assert {row["seed"] for row in selections(measured, method="variance")} == {0}
    assert {row["seed"] for row in selections(measured, kind="grid")} == {0, 1}


def test_one_fit_of_the_default_selects_what_a_fit_for_each_number_would(measured, small):
    graph = real_networks.network("planted")
    for top in small.protocol.tops:
        selector = BlockModelSelector(top, random_state=1).fit(graph.features, adjacency=graph.adjacency)
        (row,) = selections(measured, kind=VARIANT, method=DEFAULT, seed=1, top=top)
        assert row["asked_for"] == max(small.protocol.tops)
        assert sorted(json.loads(row["selected"])) == selector.get_support(indices=True).tolist()


def test_every_cell_compares_the_default_with_the_best_rival(measured, small):
    cells = compare(summarize(measured[real_networks.NAME]), DEFAULT)
    assert len(cells) == 2 * len(small.protocol.tops)
    assert cells["mean"].notna().all()
    assert count(cells).cells == 4


def test_a_rival_that_fails_is_a_row_with_its_error_and_listed_at_the_end(small, tmp_path, monkeypatch):
    def broken(name, method, tops, seed):
        raise ArithmeticError("degenerate")

    monkeypatch.setattr(real_networks, "select_by_method", broken)
    config = replace(small, variants=(DEFAULT,), methods=("variance",))
    rows = measure_quality(tmp_path, config)
    (failed,) = selections(rows, method="variance")
    assert failed["error"].startswith("ArithmeticError: degenerate")
    tables = make_tables(rows, config)
    page = render_page(rows, tables, config, "small")
    assert "- planted, variance, 0: ArithmeticError: degenerate" in page.split("## Failed")[1]
    assert "variance" not in set(tables["every_method"]["method"])


def test_a_method_that_selects_fewer_is_judged_by_what_it_selected():
    ranked = np.array([3, 1])
    assert taken(ranked, 4) == {
        **taken(ranked, 2),
        "top": 4,
    }
    nothing = taken(ranked[:0], 4)
    assert (nothing["selection"], nothing["error"]) == (None, "no feature was selected.")


def test_tables_are_complete(measured, small):
    tables = make_tables(measured, small)
    n_numbers, n_methods = len(small.protocol.tops), len(small.variants) + len(small.methods)
    assert len(tables["against_best_rival"]) == len(tables["against_tuned_by_labels"]) == 2 * n_numbers
    assert set(tables["against_each_rival"]["rival"]) == {"variance", "lufs", "BMGUFS*"}
    assert tables["variants"]["variant"].tolist() == list(small.variants)
    assert len(tables["planted_precision"]) == n_methods
    assert len(tables["every_method"]) == n_numbers * (n_methods + 4)  # tuned by labels, three references
    for table in tables.values():
        assert not table.isin(["nan", ""]).any(axis=None)


def test_the_page_is_well_formed(measured, small):
    page = render_page(measured, make_tables(measured, small), small, "small")
    tables = re.findall(r"(?:^\|.*\|\n)+", page, flags=re.MULTILINE)
    assert len(tables) == len(RULES)
    for table in tables:
        assert len({line.count("|") for line in table.splitlines()}) == 1
    assert all(sentence.endswith(".") and f"- {sentence}" in page for sentence in headlines(measured))


def test_an_interrupted_run_goes_on_and_ends_with_the_same_files(small, measured, tmp_path):
    def stop(done, known):
        if done == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_quality(tmp_path, small, progress=stop)
    seen = []
    rows = measure_quality(tmp_path, small, progress=lambda *counts: seen.append(counts))
    assert seen[0][0] == 9
    once, other = (quality_files(each, small, title="small") for each in (measured, rows))
    assert once == other


def test_variants_are_run_again_when_asked_and_nothing_else(small, tmp_path, monkeypatch):
    config = replace(small, methods=("variance",))
    measure_quality(tmp_path, config)
    ran = []
    real = BlockModelSelector.fit

    def fit(self, *given, **named):
        ran.append(self.refine)
        return real(self, *given, **named)

    monkeypatch.setattr(BlockModelSelector, "fit", fit)
    measure_quality(tmp_path, config)
    assert ran == []
    measure_quality(tmp_path, config, again=["blocks not refined"])
    assert ran == [False] * (2 + 2)  # seeds, and planted networks


def test_a_variant_whose_arguments_changed_is_run_anew(small, tmp_path, monkeypatch):
    config = replace(small, methods=("variance",))
    measure_quality(tmp_path, config)
    monkeypatch.setitem(VARIANTS, "blocks not refined", Variant({"refine": False, "n_candidates": 6}))
    rows = measure_quality(tmp_path, config)
    assert {row["arguments"] for row in selections(rows, method="blocks not refined")} == {
        '{"n_candidates": 6, "refine": false}'
    }
    stored = Store(tmp_path / STORE, config.marks).rows(real_networks.NAME)
    kept = {row["arguments"] for row in stored if row.get("method") == "blocks not refined"}
    assert len(kept) == 2


def test_planted_networks_are_the_same_for_every_method(measured, small):
    table = [row for row in measured[planted_networks.NAME] if row["experiment"] == planted_networks.NAME]
    assert {(row["kind"], row["method"]) for row in table} == {
        (VARIANT, DEFAULT),
        (VARIANT, "blocks not refined"),
        *((RIVAL, method) for method in small.methods),
    }
    assert all({row["seed"] for row in table if row["method"] == method} == {0, 1} for method in small.methods)


def test_references_stand_beside_the_default_at_every_number_of_features(measured, small):
    table = make_tables(measured, small)["paper_protocol"].set_index(["row", "network"])
    rows = table.index.get_level_values("row").unique()
    assert rows[0] == "the default"
    assert rows[1].startswith("the best single rival: ")
    assert rows[2:].tolist() == ["BMGUFSˢ (sees labels)", ALL, RANDOM, BY_LABELS]
    assert table.loc[BY_LABELS, "accuracy"].mean() > table.loc[RANDOM, "accuracy"].mean()
    assert len(selections(measured, method=RANDOM)) == N_DRAWS * len(small.protocol.tops)
    n_features = real_networks.network("planted").n_features
    assert {row["n_selected"] for row in selections(measured, method=ALL)} == {n_features}
