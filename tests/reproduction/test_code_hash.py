"""The hash of the code changes with what decides a row, and with nothing else."""

from __future__ import annotations

import pytest

from blockselect.reproduction.code_hash import code_hash
from blockselect.reproduction.experiment_config import read_config

SOURCE = '"""Text."""\n\ndef double(x):\n    """Twice x."""\n    return 2 * x  # a comment\n'


def hash_of(folder, **files):
    for name, content in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    code_hash.cache_clear()
    return code_hash(folder)


@pytest.mark.parametrize(
    "same",
    [
        SOURCE.replace("Twice x", "Two times x"),
        SOURCE.replace("  # a comment", ""),
        SOURCE.replace("2 * x", "(2 *\n x)"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(tmp_path, same):
    assert same != SOURCE
    assert hash_of(tmp_path / "a", scores=SOURCE) == hash_of(tmp_path / "b", scores=same)


def test_a_change_of_a_statement_counts_and_so_does_the_name_of_a_module(tmp_path):
    hashes = {
        hash_of(tmp_path / "a", scores=SOURCE),
        hash_of(tmp_path / "b", scores=SOURCE.replace("2 *", "3 *")),
        hash_of(tmp_path / "c", other=SOURCE),
        hash_of(tmp_path / "d", scores=SOURCE, other=SOURCE),
    }
    assert len(hashes) == 4


def test_what_draws_and_prints_decides_no_row(tmp_path):
    assert hash_of(tmp_path / "a", scores=SOURCE) == hash_of(tmp_path / "b", scores=SOURCE, cli__main=SOURCE)


def test_the_marks_of_a_configuration_have_it():
    code_hash.cache_clear()
    assert read_config("quick").marks["code"] == code_hash()
