"""What the site adds by itself: fields of records on API pages, and links to examples that lead into the gallery."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from blockselect import BlockModel, BlockModelSelector
from blockselect.evaluation import Recovery

EXTENSIONS = Path(__file__).parents[2] / "docs" / "extensions"
MEMBERS = runpy.run_path(str(EXTENSIONS / "api_members.py"))
pytest.importorskip("docutils", reason="the index of the site needs docutils, which comes with the extra docs")
INDEX = runpy.run_path(str(EXTENSIONS / "api_index.py"))
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


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        ("(orthogonality=1000000000.0, tol=1e-05)", "(orthogonality=1e9, tol=1e-5)"),
        ("(budget=200000000000.0)", "(budget=2e11)"),
        ("(memory_limit=1073741824, width=0.7071067811865476)", "(memory_limit=2**30, width=0.707)"),
        ("(n_runs=20, share=0.1, max_iter=1000, name='a1000000000', frequency=(0.02, 0.2))",) * 2,
    ],
)
def test_defaults_are_shown_as_people_write_them(shown, written):
    assert MEMBERS["as_written"](shown) == written
    assert MEMBERS["write_defaults"](None, "class", "name", None, None, shown, None) == (written, None)


def test_the_index_has_every_name_of_the_pages():
    folder = EXTENSIONS.parent / "api"
    index = "\n".join(INDEX["tables"](folder)).splitlines()
    name = re.compile(r"   [A-Za-z_][\w.]*")
    for page in folder.glob("*.rst"):
        for line in page.read_text(encoding="utf-8").splitlines():
            assert page.stem == "index" or not name.fullmatch(line) or line in index
    assert "   BlockModelSelector" in index
    assert not any("toctree" in line for line in index)
