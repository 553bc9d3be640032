"""Sentences go between their marks in a page, and nowhere else."""

from __future__ import annotations

from benchmarks.quality.summary import fill_part

PAGE = "# Page\n\n<!-- summary -->\nold\n<!-- end of summary -->\n\nBy hand.\n"


def test_sentences_replace_what_stands_between_the_marks():
    once = fill_part(PAGE, "summary", "- new\n- newer")
    assert once == "# Page\n\n<!-- summary -->\n- new\n- newer\n<!-- end of summary -->\n\nBy hand.\n"
    assert fill_part(once, "summary", "- new\n- newer") == once


def test_a_page_without_the_marks_stays_as_it_is():
    for page in ("# Page\n", "<!-- summary --> never closed"):
        assert fill_part(page, "summary", "new") == page
