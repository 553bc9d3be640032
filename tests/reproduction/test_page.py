"""The page of claims is complete and self-contained, and errors are escaped."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from blockselect.reproduction.claims import CLAIMS, Judgement, Verdict
from blockselect.reproduction.page import make_files, render
from references.planted_experiment import planted_experiment

NASTY = "<script>alert('x')</script> & more"


@pytest.fixture
def page():
    section = {"name": "datasets", "title": "The networks", "svg": b"<svg></svg>", "n_rows": 3}
    section["failures"] = [f"cora: {NASTY}"]
    judgements = {claim.letter: Judgement(Verdict.HOLDS, NASTY, pd.DataFrame({"a|b": [NASTY]})) for claim in CLAIMS}
    return "made up", judgements, [section]


def test_every_claim_has_its_verdict_its_rule_and_its_figures(page):
    for text in (render(kind, *page).decode() for kind in ("html", "md")):
        for claim in CLAIMS:
            assert re.sub("'", "&#39;", claim.statement) in text or claim.statement in text
        assert text.count("Rule: ") == len(CLAIMS)


def test_text_of_rows_is_escaped(page):
    for kind in ("html", "md"):
        text = render(kind, *page).decode()
        assert "<script" not in text
        assert text.count("&lt;script&gt;") == 3 * len(CLAIMS) + 1


def test_html_needs_no_other_file(page):
    html = render("html", *page).decode()
    assert not re.search(r"(src|href)=\"(?!data:image/svg\+xml;base64,|#)", html)
    assert "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=" in html


@pytest.fixture(scope="module")
def made(rows):
    """All files of a run, and the judgements."""
    with planted_experiment() as config:
        return make_files(rows, config, title="planted")


def test_all_files_of_a_run_are_the_same_twice_over(run, made):
    once, _ = made
    again, judgements = make_files(run.rows, run.config, title="planted")
    assert once == again
    assert list(judgements) == [claim.letter for claim in CLAIMS]
    assert {f"rows/{name}.csv" for name in (*run.rows, "clusterings")} <= once.keys()
    for name in run.rows:
        drawn = {kind: once[f"figures/{name}.{kind}"] for kind in ("svg", "png", "pdf")}
        assert drawn["png"].startswith(b"\x89PNG")
        assert drawn["pdf"].startswith(b"%PDF")
        assert b"<svg" in drawn["svg"]
        assert not any(b"CreationDate" in content or b"Matplotlib v" in content for content in drawn.values())
