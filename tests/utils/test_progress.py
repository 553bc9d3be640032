"""verbose=1 shows a line in a terminal or notebook, and the logger "blockselect" reports the stages."""

from __future__ import annotations

import logging
import threading
from io import StringIO

import pytest

from blockselect import BMGUFS, BlockModelSelector, SignedSelector, discover_features, selection_stability
from blockselect.anndata import select_genes
from blockselect.utils.progress import follow
from made_fits import QUICK
from test_anndata import Cells


class Terminal(StringIO):
    def isatty(self):
        return True


class Notebook(StringIO):
    __module__ = "ipykernel.iostream"


def watch(monkeypatch):
    """Make stderr a terminal. This is not a fixture, because pytest replaces stderr after fixtures have run."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    return stream


def default(network, verbose):
    BlockModelSelector(12, **QUICK, verbose=verbose).fit(network.features, adjacency=network.adjacency)


def paper(network, verbose):
    BMGUFS(12, n_blocks=3, n_candidates=2, verbose=verbose).fit(network.features, adjacency=network.adjacency)


def signed(network, verbose):
    selector = SignedSelector(BlockModelSelector(12, **QUICK, verbose=verbose))
    selector.fit(network.features, adjacency=network.adjacency)


def discoveries(network, verbose):
    discover_features(network.features, adjacency=network.adjacency, n_candidates=3, n_permutations=20, verbose=verbose)


def stability(network, verbose):
    fitted = BlockModelSelector(12, **QUICK).fit(network.features, adjacency=network.adjacency)
    selection_stability(fitted, network.features, adjacency=network.adjacency, n_resamples=3, verbose=verbose)


def genes(network, verbose):
    select_genes(Cells(network.features, network.adjacency), 12, **{**QUICK, "verbose": verbose})


STAGES_OF = {
    default: ["preparing the network", "finding blocks in the network", "comparing blocks", "ranking features"],
    paper: [
        "preparing the network",
        "finding blocks in the network",
        "scoring features  [....................]  1/200",
    ],
    signed: ["finding blocks in the network", "ranking features"],
    discoveries: [
        "estimating the number of blocks",
        "finding blocks in the network",
        "testing features against chance",
    ],
    stability: ["preparing the network", "repeating the selection on resampled links"],
    genes: ["finding blocks in the network", "ranking features"],
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("run", STAGES_OF, ids=lambda run: run.__name__)
def test_the_stages_are_shown_on_a_terminal_and_removed_at_the_end(network, monkeypatch, run):
    watched = watch(monkeypatch)
    run(network, 1)
    shown = watched.getvalue()
    for stage in STAGES_OF[run]:
        assert f"\r{stage}" in shown
    assert "\n" not in shown
    last = shown.split("\r")
    assert last[-1] == ""
    assert last[-2].strip() == ""
    assert len(last[-2]) >= len(last[-3].rstrip())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("run", STAGES_OF, ids=lambda run: run.__name__)
def test_nothing_is_shown_by_default(network, monkeypatch, run):
    watched = watch(monkeypatch)
    run(network, 0)
    assert watched.getvalue() == ""


def test_the_line_is_shown_in_a_notebook_but_not_in_a_file(network, monkeypatch):
    for stream, is_shown in ((StringIO(), False), (Notebook(), True), (None, False)):
        monkeypatch.setattr("sys.stderr", stream)
        default(network, 1)
        assert stream is None or ("ranking features" in stream.getvalue()) is is_shown


@pytest.mark.parametrize("wrapped", [False, True])
def test_nested_fits_draw_no_lines(network, monkeypatch, wrapped):
    watched = watch(monkeypatch)
    paper = BMGUFS(12, n_blocks=3, n_candidates=1, verbose=1)
    selector = (SignedSelector(paper) if wrapped else paper).fit(network.features, adjacency=network.adjacency)
    assert watched.getvalue()
    watched.truncate(0)
    watched.seek(0)
    selection_stability(selector, network.features, adjacency=network.adjacency, n_resamples=3)
    assert watched.getvalue() == ""


def test_the_time_keeps_running_during_a_stage(monkeypatch):
    watched = watch(monkeypatch)
    with follow("fit", 1) as report:
        report("ranking", 0, 1)
        for seconds in (" 0 s", " 1 s"):
            for _ in range(100):
                if seconds in watched.getvalue():
                    break
                threading.Event().wait(0.1)
            assert f"ranking features {seconds}" in watched.getvalue()


def test_the_line_ends_when_an_error_is_raised(monkeypatch):
    watched = watch(monkeypatch)
    before = threading.active_count()
    with pytest.raises(ValueError, match="no link"):
        BlockModelSelector(2, verbose=1).fit([[1, 0], [0, 1], [1, 1]], adjacency=[[0] * 3] * 3)
    assert threading.active_count() == before
    assert watched.getvalue().endswith("\r")


def test_a_long_line_is_cut_to_the_width_of_the_terminal(monkeypatch):
    watched = watch(monkeypatch)
    monkeypatch.setenv("COLUMNS", "20")
    with follow("fit", 1) as report:
        report("resampling", 1, 8)
    assert max(len(line) for line in watched.getvalue().split("\r")) == 19


def test_stages_are_logged_once_each(network, caplog):
    caplog.set_level(logging.INFO, logger="blockselect")
    default(network, 0)
    told = [record.getMessage() for record in caplog.records if record.name == "blockselect"]
    assert told[:3] == [
        "BlockModelSelector.fit: finding blocks in the network",
        "BlockModelSelector.fit: comparing blocks by links and features",
        "BlockModelSelector.fit: ranking features",
    ]
    assert told[3].startswith("BlockModelSelector.fit: done after ")
    assert len(told) == 4


def test_verbose_is_checked(network):
    with pytest.raises(ValueError, match="'verbose' parameter of BlockModelSelector must be"):
        BlockModelSelector(verbose="yes").fit(network.features, adjacency=network.adjacency)
