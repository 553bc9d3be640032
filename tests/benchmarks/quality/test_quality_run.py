"""The whole measurement at small size: every trial, tables, files; going on after an interruption; doing again."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality import networks
from benchmarks.quality import planted as planted_networks
from benchmarks.quality.ablations import DEFAULT, SETTINGS, Setting
from benchmarks.quality.cells import compare, count, summarize
from benchmarks.quality.config import read_quality_config
from benchmarks.quality.networks import RIVAL, SETTING
from benchmarks.quality.page import headlines, render_tables
from benchmarks.quality.regimes import PlantedSizes
from benchmarks.quality.run import STORE, measure_quality, quality_files
from blockselect.reproduction.store import Store
from blockselect.consensus.estimator import BlockModelSelector


@pytest.fixture(scope="module")
def small(planted):
    """The network 'planted', two rivals and two settings, of seconds."""
    return replace(
        read_quality_config("quick"),
        protocol=replace(planted, n_candidates=2, sparsities=(0.0, 1.0)),
        methods=("bmgufs", "variance", "lufs"),
        settings=(DEFAULT, "no evidence"),
        regimes=("assortative",),
        planted_seeds=2,
        planted=PlantedSizes(60, 3, 6, 2, 8, 4),
    )


@pytest.fixture(scope="module")
def measured(small, tmp_path_factory):
    return measure_quality(tmp_path_factory.mktemp("quality"), small)


def selections(rows, **told):
    return [
        row
        for row in rows[networks.NAME]
        if row["experiment"] == networks.NAME and all(row.get(name) == value for name, value in told.items())
    ]


def test_no_trial_failed(measured):
    assert {row["error"] for rows in measured.values() for row in rows} == {None}


def test_random_rivals_are_run_with_every_seed_and_others_once(measured):
    assert {row["seed"] for row in selections(measured, method="lufs")} == {0, 1}
    assert {row["seed"] for row in selections(measured, method="variance")} == {0}
    assert {row["seed"] for row in selections(measured, kind="grid")} == {0, 1}


def test_one_fit_of_the_default_selects_what_a_fit_for_each_number_would(measured, small):
    graph = networks.network("planted")
    for top in small.protocol.tops:
        selector = BlockModelSelector(top, random_state=1).fit(graph.features, adjacency=graph.adjacency)
        (row,) = selections(measured, kind=SETTING, method=DEFAULT, seed=1, top=top)
        assert row["asked_for"] == max(small.protocol.tops)
        assert sorted(json.loads(row["selected"])) == selector.get_support(indices=True).tolist()


def test_a_setting_of_one_fit_serves_every_number(small, monkeypatch):
    monkeypatch.setitem(SETTINGS, "once", Setting(one_fit=True))
    config = replace(small, settings=("once",), methods=())
    found = [trial for trial in networks.trials(config, []) if trial.settings["kind"] == SETTING]
    assert [trial.settings["asked_for"] for trial in found] == [8, 8]  # one for each seed
    assert [row["top"] for row in found[0].run(**found[0].payload)] == [4, 8]


def test_every_cell_compares_the_default_with_the_best_rival(measured, small):
    cells = compare(summarize(measured[networks.NAME]), DEFAULT)
    assert len(cells) == 2 * len(small.protocol.tops)
    assert cells["mean"].notna().all()
    assert count(cells).cells == 4


def test_a_rival_that_fails_is_a_row_with_its_error_and_told_at_the_end(small, tmp_path, monkeypatch):
    def broken(name, method, tops, seed):
        raise ArithmeticError("degenerate")

    monkeypatch.setattr(networks, "select_by_method", broken)
    config = replace(small, settings=(DEFAULT,), methods=("variance",))
    rows = measure_quality(tmp_path, config)
    (failed,) = selections(rows, method="variance")
    assert failed["error"].startswith("ArithmeticError: degenerate")
    page = render_tables(rows, config, "small")
    assert "- planted, variance, 0: ArithmeticError: degenerate" in page.split("## Failed")[1]
    assert "variance" not in page.split("## Every method")[1].split("## Failed")[0]


def test_a_method_that_selects_fewer_is_judged_by_what_it_selected():
    ranked = np.array([3, 1])
    assert networks._taken(ranked, 4) == {
        **networks._taken(ranked, 2),
        "top": 4,
    }
    nothing = networks._taken(ranked[:0], 4)
    assert (nothing["selection"], nothing["error"]) == (None, "no feature was selected.")


def test_tables_are_well_formed(measured, small):
    page = render_tables(measured, small, "small")
    tables = re.findall(r"(?:^\|.*\|\n)+", page, flags=re.MULTILINE)
    assert len(tables) == 7 + 3
    for table in tables:
        lines = table.splitlines()
        assert len(lines) > 2
        assert len({line.count("|") for line in lines}) == 1
    assert "nan" not in page
    assert "BMGUFS*" in page
    assert all(sentence.endswith(".") for sentence in headlines(measured))


def test_an_interrupted_run_goes_on_and_ends_with_the_same_files(small, measured, tmp_path):
    def stop(standing):
        if standing.done == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_quality(tmp_path, small, progress=stop)
    seen = []
    rows = measure_quality(tmp_path, small, progress=seen.append)
    assert seen[0].done == 9
    once, other = (quality_files(each, small, title="small", parquet=False) for each in (measured, rows))
    assert once == other


def test_settings_are_run_again_when_asked_and_nothing_else(small, tmp_path, monkeypatch):
    config = replace(small, methods=("variance",))
    measure_quality(tmp_path, config)
    ran = []
    real = BlockModelSelector.fit

    def fit(self, *given, **named):
        ran.append(self.evidence)
        return real(self, *given, **named)

    monkeypatch.setattr(BlockModelSelector, "fit", fit)
    measure_quality(tmp_path, config)
    assert ran == []
    measure_quality(tmp_path, config, again=["no evidence"])
    assert ran == ["none"] * (2 + 2)  # seeds, and planted networks


def test_a_setting_whose_arguments_changed_is_run_anew(small, tmp_path, monkeypatch):
    config = replace(small, methods=("variance",))
    measure_quality(tmp_path, config)
    monkeypatch.setitem(SETTINGS, "no evidence", Setting({"profile_ratio": 1.0}))
    rows = measure_quality(tmp_path, config)
    assert {row["arguments"] for row in selections(rows, method="no evidence")} == {'{"profile_ratio": 1.0}'}
    with Store(tmp_path / STORE, config.marks) as store:
        kept = {row["arguments"] for row in store.rows(networks.NAME) if row.get("method") == "no evidence"}
    assert len(kept) == 2


def test_planted_networks_are_the_same_for_every_method(measured, small):
    table = [row for row in measured[planted_networks.NAME] if row["experiment"] == planted_networks.NAME]
    assert {(row["kind"], row["method"]) for row in table} == {
        (SETTING, DEFAULT),
        (SETTING, "no evidence"),
        *((RIVAL, method) for method in small.methods),
    }
    assert all({row["seed"] for row in table if row["method"] == method} == {0, 1} for method in small.methods)
