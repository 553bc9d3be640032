"""The check of the built site finds dead links, dead anchors and whatever a page loads from elsewhere."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

FAULTS = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "check_site.py"))["faults"]


@pytest.fixture
def site(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "other.html").write_text(
        '<h1 id="here">x</h1><a href="../page.html">back</a>', encoding="utf-8"
    )

    def with_body(body):
        (tmp_path / "page.html").write_text(body, encoding="utf-8")
        return FAULTS(tmp_path)

    return with_body


@pytest.mark.parametrize(
    "body",
    [
        '<a href="sub/other.html#here">x</a>',
        '<a href="#">top</a> <a id="a b"></a><a href="#a%20b">x</a>',
        '<a href="https://example.org/">another site may be linked to</a>',
        '<img src="data:image/png;base64,AAAA">',
    ],
)
def test_a_sound_page_has_no_fault(site, body):
    assert site(body) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="gone.html">x</a>', "page.html links to gone.html: no such file"),
        ('<a href="sub/other.html#there">x</a>', "page.html links to sub/other.html#there: no such anchor"),
        ('<a href="#there">x</a>', "page.html links to #there: no such anchor"),
        ('<img src="gone.png">', "page.html links to gone.png: no such file"),
        ('<script src="https://cdn.example/x.js"></script>', "page.html loads https://cdn.example/x.js"),
        ('<link rel="stylesheet" href="//cdn.example/x.css">', "page.html loads //cdn.example/x.css"),
    ],
)
def test_a_fault_is_found(site, body, fault):
    assert site(body) == [fault]
