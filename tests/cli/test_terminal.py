"""Progress on the terminal."""

from __future__ import annotations

import re
import sys
import time
from io import StringIO

import pytest

from blockselect import BMGUFS, BlockModelSelector, selection_stability
from blockselect.cli import terminal
from blockselect.cli.waiting import Waiting


class Terminal(StringIO):
    def isatty(self):
        return True


def test_every_stage_of_a_fit_has_a_name_here(network):
    seen = []
    selector = BlockModelSelector("auto", n_candidates=2, random_state=0)
    graph = network.graph

    def progress(stage, done, total):
        seen.append(stage)

    selector.fit(graph.features, adjacency=graph.adjacency, progress=progress)
    selection_stability(selector, graph.features, adjacency=graph.adjacency, n_resamples=3, progress=progress)
    BMGUFS(5, n_blocks=3, n_candidates=1).fit(graph.features, adjacency=graph.adjacency, progress=progress)
    assert {*seen, "reading", "writing"} == set(terminal.STAGES)  # these two are reported by the command


def test_stages_that_last_report_each_part(network):
    """Each block model that is found, refined or rescored moves the bar."""
    seen = []
    selector = BlockModelSelector(5, n_blocks=3, n_candidates=12, random_state=0)
    selector.fit(network.graph.features, adjacency=network.graph.adjacency, progress=lambda *step: seen.append(step))
    assert [done for stage, done, total in seen if (stage, total) == ("block models", 12)] == [*range(1, 13)]
    assert [done for stage, done, _ in seen if stage == "screening"] == [*range(16)]
    seen.clear()
    BMGUFS(5, n_blocks=3, random_state=0).fit(
        network.graph.features, adjacency=network.graph.adjacency, progress=lambda *step: seen.append(step)
    )
    assert [step for step in seen if step[0] == "block models" and step[2] == 100] == [
        ("block models", done, 100) for done in (0, 20, 40, 60, 80)
    ]


def test_stages_are_shown_by_their_names_with_what_is_done(monkeypatch):
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    with terminal.progress_bar(quiet=False) as progress:
        progress("block models", 0, 1)
        progress("block models", 1, 1)
        progress("resampling", 2, 8)
        progress("cora.zip", 10, 20)
    for text in (
        "finding blocks in the network",
        "100%",
        "repeating the selection on resampled links",
        "25%",
        "cora.zip",
        "50%",
    ):
        assert text in shown.getvalue()


def test_a_quick_command_shows_nothing_when_quiet_or_where_no_terminal_is(monkeypatch):
    for stream, quiet in ((Terminal(), True), (StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        with terminal.progress_bar(quiet) as progress:
            progress("ranking", 1, 2)
        assert stream.getvalue() == ""


@pytest.mark.parametrize("stream", [StringIO, Terminal])
def test_messages_stand_on_lines_of_their_own_between_the_dots(monkeypatch, stream):
    slow = Waiting(patience=0.01)
    monkeypatch.setattr(sys, "argv", ["blockselect"])
    monkeypatch.setattr(sys, "stderr", shown := stream())

    def until_shown(text):
        while text not in shown.getvalue():
            time.sleep(0.001)

    slow.now("reading")
    slow.begin()
    until_shown("reading .....")
    with slow.interrupted():
        print("a message", file=sys.stderr)
    until_shown("message\nreading ...")
    slow.end()
    said = shown.getvalue()
    time.sleep(0.05)
    assert shown.getvalue() == said  # no dot after the end
    # On a terminal the message replaces the line.
    assert re.fullmatch(r"reading \.{5,}\s+a message\nreading \.{3,}\s+", said)
