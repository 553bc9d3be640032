"""The report shows the command that was given, without the folders of files and of results."""

from __future__ import annotations

import html
import re
import shlex


def command_on(page):
    (found,) = re.findall(
        r'<pre[^>]*aria-label="Command to repeat the run">(.*?)</pre>', page.read_text(encoding="utf-8")
    )
    return shlex.split(html.unescape(found))


def test_the_page_shows_the_options_that_were_given(run, network, tmp_path):
    given = ["--top", "5", "--blocks", "3", "--seed", "7", "--resamples", "0"]
    given += ["--set", "n_candidates=2", "--set", "refine=False"]
    assert run("select", *network.options, *given, "--out", tmp_path / "here", "--quiet").exit_code == 0
    shown = command_on(tmp_path / "here" / "report.html")
    assert shown[:2] == ["blockselect", "select"]
    assert shown[-2:] == ["--out", "results"]
    pairs = " ".join(shown)
    for option in ("--features features.csv", "--graph edges.csv", "--top 5", "--blocks 3", "--seed 7"):
        assert option in pairs
    assert "--set n_candidates=2 --set refine=False" in pairs
    assert str(tmp_path) not in pairs
    assert "--quiet" not in shown
    assert "--neighbors" not in shown  # a default


def test_the_command_on_the_page_gives_the_same_page(run, network, tmp_path, monkeypatch):
    quick = ("--top", 5, "--blocks", 3, "--set", "n_candidates=2", "--resamples", 0)
    run("select", *network.options, *quick, "--out", tmp_path / "a")
    monkeypatch.chdir(network.features.parent)
    again = command_on(tmp_path / "a" / "report.html")[1:-1]
    assert run(*again, tmp_path / "b").exit_code == 0
    assert (tmp_path / "b" / "report.html").read_bytes() == (tmp_path / "a" / "report.html").read_bytes()
