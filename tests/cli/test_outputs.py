"""All files of a folder of results are written, or none, however and whenever the writing ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from blockselect.cli.failure import Failure
from blockselect.cli.outputs import check_folder, write_together
from file_steps import Killer

MARK = b'{"versions": {"blockselect": "1"}}'
OLD = {"one.txt": b"old first", "sub/two.txt": b"old second", "run.json": MARK + b" "}
FILES = {"one.txt": b"first", "run.json": MARK, "sub/two.txt": b"second", "sub/three.txt": b"third"}


def write(folder, files=FILES):
    write_together(folder, files)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_with_nothing_beside_them(tmp_path):
    write(tmp_path / "a" / "b")
    assert tree(tmp_path) == {f"a/b/{name}": content for name, content in FILES.items()}
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_older_files_are_replaced_and_others_stay(tmp_path):
    (tmp_path / "mine.txt").write_bytes(b"mine")
    write(tmp_path, OLD)
    write(tmp_path)
    assert tree(tmp_path) == {**FILES, "mine.txt": b"mine"}


def test_files_have_the_permissions_of_any_new_file(tmp_path):
    write(tmp_path / "new")
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    assert (tmp_path / "new" / "one.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "folder").stat().st_mode


def test_a_relative_folder_is_made_where_the_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("here"))
    write(Path())
    assert tree(tmp_path) == {**FILES, **{f"here/{name}": content for name, content in FILES.items()}}


def fail(error):
    raise error


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [{}, OLD], ids=["new", "older"])
def test_a_failure_at_any_step_leaves_what_was_there(tmp_path, monkeypatch, before, error):
    n_steps = 0
    while True:
        n_steps += 1
        folder = tmp_path / str(n_steps) / "results"
        folder.parent.mkdir()
        if before:
            write(folder, before)
        with monkeypatch.context() as patch:
            Killer(n_steps, lambda: fail(error)).watch(patch.setattr)
            try:
                write(folder)
            except (Failure, KeyboardInterrupt):
                pass
            else:
                break
        assert tree(folder) == before
        check_folder(folder, FILES, [], overwrite=False)  # its files are still recognised as written by this program
        assert sorted(path.name for path in folder.parent.iterdir()) == (["results"] if before else [])
    assert n_steps > 7
    assert tree(folder) == FILES


KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from blockselect.cli.outputs import write_together
from file_steps import Killer

place, before, files = Path(sys.argv[2]), eval(sys.argv[3]), eval(sys.argv[4])
code, at = 9, 0
while code == 9:
    at += 1
    folder = place / str(at) / "results"
    folder.parent.mkdir()
    if before:
        write_together(folder, before)
    child = os.fork()
    if not child:
        Killer(at, lambda: os._exit(9)).watch(setattr)
        write_together(folder, files)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(code, at)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")
@pytest.mark.parametrize("before", [{}, OLD], ids=["new", "older"])
def test_a_kill_at_any_step_leaves_no_folder_that_looks_whole_and_is_not(tmp_path, capsys, before):
    """One process is killed at each step, each in its own folder; the next run repairs the folder and says so."""
    command = [sys.executable, "-c", KILLED, Path(__file__).parents[1], tmp_path, repr(before), repr(FILES)]
    code, n_steps = map(int, subprocess.run(command, capture_output=True, check=True).stdout.split())
    assert code == 0
    assert n_steps > 7
    for at in range(1, n_steps + 1):
        folder = tmp_path / str(at) / "results"
        found = {name: content for name, content in tree(folder).items() if ".tmp" not in name}
        assert "run.json" not in found or found in (before, FILES)
        if not before:
            assert found in ({}, FILES)  # one step
        left = list(folder.parent.rglob(".blockselect-*"))
        check_folder(folder, FILES, [], overwrite=False)
        assert tree(folder) in (before, FILES)
        assert list(folder.parent.rglob(".blockselect-*")) == []
        assert ("a run" in capsys.readouterr().err) is bool(left)
        write(folder)
        assert tree(folder) == FILES
        assert capsys.readouterr().err == ""


def test_results_above_that_a_killed_run_left_are_kept_for_the_next_run_into_that_folder(tmp_path):
    write(tmp_path, OLD)
    hidden = tmp_path / ".blockselect-00000000.tmp"
    hidden.mkdir()
    (tmp_path / "run.json").rename(hidden / "run.json")
    hidden.rename(f"{hidden}.older")
    write(tmp_path / "other")
    assert "run.json" not in tree(tmp_path)
    check_folder(tmp_path, FILES, [], overwrite=False)
    assert tree(tmp_path) == {**OLD, **{f"other/{name}": content for name, content in FILES.items()}}


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on folders here")
@pytest.mark.parametrize("before", [{}, OLD], ids=["new", "older"])
def test_two_writers_of_one_folder_do_not_mix_their_files(tmp_path, before):
    """At each step of the first writer, a second one starts and is given time to finish."""
    others = dict.fromkeys(FILES, b"of the other")
    n_steps = 0
    while True:
        n_steps += 1
        folder = tmp_path / str(n_steps) / "results"
        folder.parent.mkdir()
        if before:
            write(folder, before)
        other = Thread(target=write, args=(folder, others))

        def begin(other=other):
            other.start()
            other.join(0.2)

        with pytest.MonkeyPatch.context() as patch:
            Killer(n_steps, begin).watch(patch.setattr)
            write(folder)
        if not other.ident:
            break
        other.join()
        assert tree(folder) in (FILES, others)
        assert list(folder.parent.rglob(".blockselect-*")) == []
    assert n_steps > 7


def test_a_disk_that_refuses_the_files_is_named_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: fail(OSError(28, "No space left on device")))
    message = (
        r"--out is '.*results', where the results could not be written: No space left on device; .* Free some space"
    )
    with pytest.raises(Failure, match=message):
        write(tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_the_longest_length_can_be_written(tmp_path):
    write(tmp_path / ("x" * 255))
    assert tree(tmp_path / ("x" * 255)) == FILES
