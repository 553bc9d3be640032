"""`blockselect quality`: tables, rows, a page filled in, and what it refuses."""

import pytest

from benchmarks.quality.run import STORE

ARGUMENTS = ("quality", "--config", "quick", "--settings", "default", "--no-parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("quality")


def test_tables_and_rows_are_written_and_the_counts_told(run, folder):
    page = folder / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text("# By hand\n\n<!-- tables -->\n<!-- end of tables -->\n\nThe end.\n")
    result = run(*ARGUMENTS, "--out", folder / "out", "--tables", page)
    assert result.exit_code == 0, result.stderr
    assert "At or above the best label-free rival in" in result.stdout
    written = {str(path.relative_to(folder / "out")) for path in (folder / "out").rglob("*.*") if path.is_file()}
    assert written >= {"quality.md", "config.json", STORE, "rows/clusterings.csv", "rows/quality-networks.csv"}
    filled = page.read_text()
    assert filled.startswith("# By hand\n\n<!-- tables -->\n## Tables\n")
    assert filled.endswith("<!-- end of tables -->\n\nThe end.\n")
    assert "### Every method" in filled


def test_the_same_command_goes_on_and_a_file_without_marks_gets_the_tables(run, folder):
    tables = folder / "docs" / "tables.md"
    result = run(*ARGUMENTS, "--out", folder / "out", "--tables", tables, "--quiet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert tables.read_bytes() == (folder / "out" / "quality.md").read_bytes()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--config", "quick", "--settings", "defualt"), "no setting is called 'defualt'; known are: default,"),
        (("--config", "quick", "--again", "joint"), "no setting is called 'joint'"),
        (("--config", "papers"), "no configuration 'papers'"),
    ],
)
def test_what_is_not_known_is_refused_before_any_work(run, tmp_path, options, told):
    result = run("quality", "--out", tmp_path / "out", "--no-parquet", *options)
    assert result.exit_code == 2
    assert told in result.stderr
    assert not (tmp_path / "out").exists()
