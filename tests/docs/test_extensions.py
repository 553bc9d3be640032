"""What the site adds by itself: fields of records on API pages, and links to examples that lead into the gallery."""

from __future__ import annotations

import runpy
from pathlib import Path

from blockselect import BlockModel, BlockModelSelector
from blockselect.evaluation import Recovery

EXTENSIONS = Path(__file__).parents[2] / "docs" / "extensions"
MEMBERS = runpy.run_path(str(EXTENSIONS / "api_members.py"))
LINKS = runpy.run_path(str(EXTENSIONS / "example_links.py"))


def with_fields(what, subject):
    lines = ["What it is."]
    MEMBERS["add_record_fields"](None, what, "name", subject, None, lines)
    return lines


def test_the_fields_of_a_record_come_with_the_comments_beside_them():
    fields = MEMBERS["record_fields"](BlockModel)
    assert list(fields) == ["labels", "density", "relative_error", "family"]
    assert fields["density"] == "(k, k) mean link weight of each block pair (paper: M)"
    assert "    (k, k) mean link weight of each block pair (paper: M)" in with_fields("class", BlockModel)


def test_only_records_get_fields():
    assert with_fields("class", BlockModelSelector) == ["What it is."]
    assert with_fields("method", BlockModel) == ["What it is."]


def test_members_of_scikit_learn_are_left_out():
    skip = MEMBERS["skip_foreign"]
    assert skip(None, "class", "get_params", BlockModelSelector.get_params, False, None)
    assert skip(None, "class", "fit", BlockModelSelector.fit, False, None) is None
    assert skip(None, "class", "from_labels", BlockModel.from_labels, False, None) is None
    assert skip(None, "class", "precision", Recovery.__dict__.get("precision"), False, None)


def test_links_to_examples_lead_into_the_gallery():
    text = "[one](../examples/plot_pipeline.py), [all](../examples/README.rst), [other](../tests/references/bmgufs.py)"
    assert LINKS["to_gallery"](text) == (
        "[one](gallery/plot_pipeline.rst), [all](gallery/index.rst), [other](../tests/references/bmgufs.py)"
    )
