"""Files appear together and whole, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from blockselect.cli import outputs
from blockselect.cli.outputs import write_together

FILES = {"one.txt": b"first", "two.txt": b"second"}


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fail_at(monkeypatch, name, error):
    """Let the move of one file fail, all being staged."""
    replace = Path.replace

    def fragile(self, target):
        if Path(target).name == name:
            raise error
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fragile)


def test_files_are_written_with_nothing_beside_them(tmp_path):
    write_together(tmp_path / "a" / "b", FILES)
    assert tree(tmp_path) == {f"a/b/{name}": content for name, content in FILES.items()}


def test_files_have_the_permissions_of_any_new_file(tmp_path):
    write_together(tmp_path, FILES)
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "one.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("error", [OSError("gone"), KeyboardInterrupt()])
@pytest.mark.parametrize("name", FILES)
def test_a_failure_while_moving_leaves_neither_file_nor_folder(tmp_path, monkeypatch, name, error):
    fail_at(monkeypatch, name, error)
    with pytest.raises(type(error)):
        write_together(tmp_path / "a" / "b", FILES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [OSError("full"), KeyboardInterrupt()])
def test_a_failure_while_writing_keeps_the_older_files(tmp_path, monkeypatch, error):
    (tmp_path / "one.txt").write_bytes(b"old")
    monkeypatch.setattr(outputs.os, "fsync", lambda stream: (_ for _ in ()).throw(error))
    with pytest.raises(type(error)):
        write_together(tmp_path, FILES)
    assert tree(tmp_path) == {"one.txt": b"old"}


def test_a_relative_folder_is_made_where_the_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_together(Path("here"), FILES)
    assert sorted(os.listdir(tmp_path / "here")) == sorted(FILES)
