"""`python -m benchmarks.quality.use`: tables, only what is missing the second time, and what it refuses."""

from __future__ import annotations

import pandas as pd
import pytest

import blockselect
from benchmarks.quality.references import ALL, BY_LABELS, RANDOM
from benchmarks.quality.use import judgements, seen_networks, selections
from benchmarks.quality.use.__main__ import main
from benchmarks.quality.use.sweep import STORE
from blockselect.reproduction.store import Store

SMALL = ["--networks", "planted", "--tops", "4", "8", "--seeds", "2", "--runs", "2", "--starts", "1"]


@pytest.fixture
def here(planted, monkeypatch):
    """One rival is too slow."""
    rank = selections.rank_by_method

    def rank_by_method(method, *arguments):
        if method == "lufs":
            raise TimeoutError("took more than 300 seconds.")
        return rank(method, *arguments)

    monkeypatch.setattr(selections, "rank_by_method", rank_by_method)
    yield
    seen_networks.network.cache_clear()
    seen_networks.split.cache_clear()


def test_tables_a_page_and_a_second_call_that_computes_nothing(tmp_path, here, capsys, monkeypatch):
    docs = tmp_path / "docs"
    rivals = ["--rivals", "variance", "morans-i", "lufs"]
    arguments = [*SMALL, *rivals, "--out", str(tmp_path / "out"), "--docs", str(docs)]
    main(arguments)
    shown = capsys.readouterr().out
    table = pd.read_csv(docs / "quality" / "use.csv")
    assert set(table["method"]) >= {"default", ALL, RANDOM, BY_LABELS, "variance", "morans-i"}
    assert table.loc[table["method"] == "variance", "AUC"].notna().all()  # it sees no links: judged without a new fit
    missing = pd.read_csv(docs / "quality" / "use_missing.csv")
    assert missing.loc[0, ["method", "reason", "fits"]].tolist() == ["lufs", "took more than 300 seconds.", 2]
    assert "| measure | features | planted | mean |" in shown

    def never(*arguments, **settings):
        raise AssertionError("made again")

    monkeypatch.setattr(selections.BlockModelSelector, "fit", never)
    monkeypatch.setattr(selections, "rank_by_method", never)
    for name in ("evaluate_selection", "classify_selection", "predict_links"):
        monkeypatch.setattr(judgements, name, never)
    main(arguments)
    assert capsys.readouterr().out == shown


def test_selections_can_be_judged_elsewhere_and_ranked_again(tmp_path, here, capsys):
    arguments = [*SMALL, "--rivals", "variance", "--out", str(tmp_path)]
    main([*arguments, "--only", "select"])
    assert "selections are in" in capsys.readouterr().out
    store = Store(tmp_path / STORE, {"n_runs": 2, "n_init": 1, "version": blockselect.__version__})
    before = len(store.rows(selections.NAME))
    assert before
    assert not store.rows(judgements.JUDGEMENTS)
    main([*arguments, "--again", "default", "--only", "select"])
    assert len(store.rows(selections.NAME)) == before
    capsys.readouterr()
    main([*arguments, "--rivals", "variance", "lufs", "--only", "judge"])
    shown = capsys.readouterr().out
    main([*arguments, "--rivals", "variance", "lufs", "--only", "tables"])
    assert capsys.readouterr().out == shown
    missing = pd.read_csv(tmp_path / "tables" / "use_missing.csv")
    assert missing[["method", "reason"]].to_numpy().tolist() == [["lufs", "not run."]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rivals", "morans"), "no rival is called 'morans'"),
        (("--networks", "nowhere"), "no network 'nowhere' is available"),
        (("--again", "defualt"), "no method to rank again is called 'defualt'"),
    ],
)
def test_what_is_not_known_is_refused(tmp_path, options, message):
    with pytest.raises(SystemExit, match=message):
        main(["--out", str(tmp_path), *options])
