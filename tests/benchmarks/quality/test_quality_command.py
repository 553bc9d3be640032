"""`python -m benchmarks.quality`: tables, rows, a folder of documents, and what it refuses."""

from __future__ import annotations

import pytest

from benchmarks.quality.__main__ import main
from benchmarks.quality.sweep import STORE


def test_tables_rows_and_documents_are_written_and_the_same_command_goes_on(tmp_path, capsys):
    docs = tmp_path / "docs"
    arguments = ["--config", "quick", "--variants", "default", "--out", str(tmp_path / "out"), "--docs", str(docs)]
    main(arguments)
    shown = capsys.readouterr().out
    assert "At or above the best label-free rival in" in shown
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*") if path.is_file()}
    assert written >= {"quality.md", "config.json", "rows/clusterings.csv", "tables/every_method.csv"}
    assert any(name.startswith(f"{STORE}/") for name in written)
    assert "| ACC / NMI | cora | mean |" in (tmp_path / "out" / "quality.md").read_text()
    tables = {path.name: path.read_bytes() for path in (docs / "quality").iterdir()}
    assert tables == {path.name: path.read_bytes() for path in (tmp_path / "out" / "tables").iterdir()}
    main(arguments)
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--config", "quick", "--variants", "defualt"), "no variant is called 'defualt'; choose one of: default,"),
        (("--config", "quick", "--again", "joint"), "no variant is called 'joint'"),
        (("--config", "papers"), "no configuration 'papers'"),
    ],
)
def test_what_is_not_known_is_refused_before_any_work(tmp_path, options, message):
    with pytest.raises(SystemExit, match=message):
        main(["--out", str(tmp_path / "out"), *options])
    assert not (tmp_path / "out").exists()
