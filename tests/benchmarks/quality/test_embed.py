"""Made text goes between its marks, and nowhere else."""

from __future__ import annotations

from benchmarks.quality.embed import as_section, embed

PAGE = "# Page\n\n<!-- tables -->\nold\n<!-- end of tables -->\n\nBy hand.\n"


def test_text_replaces_what_stands_between_the_marks():
    once = embed(PAGE, "tables", "new\n")
    assert once == "# Page\n\n<!-- tables -->\nnew\n<!-- end of tables -->\n\nBy hand.\n"
    assert embed(once, "tables", "new") == once


def test_a_page_without_the_marks_stays_as_it_is():
    assert embed(PAGE, "summary", "new") == PAGE
    assert embed("<!-- tables --> never closed", "tables", "new") == "<!-- tables --> never closed"


def test_headings_go_one_level_down_under_a_new_first_one():
    assert as_section("# All\n\n## Part\ntext # not one\n", "Tables") == "## Tables\n\n### Part\ntext # not one"
