"""What a run of the tests skips can be run alone by a later one, which has what was missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

MODULE = """
import os
import pytest

if "MISSING" not in os.environ:
    pytest.skip("all of it", allow_module_level=True)

def test_of_it():
    pass
"""
SINGLE = """
import os
import pytest

@pytest.mark.parametrize("case", ["here", "not here: [a] b"])
def test_case(case):
    if case != "here" and "MISSING" not in os.environ:
        pytest.skip("this one")
"""


def test_what_was_skipped_is_named_and_can_be_run_alone(tmp_path):
    shutil.copy(Path(__file__).parent / "conftest.py", tmp_path)
    (tmp_path / "test_module.py").write_text(MODULE)
    (tmp_path / "test_single.py").write_text(SINGLE)
    names = tmp_path / "skipped"

    def outcome(*arguments, **variables):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", *arguments]
        environment = {**os.environ, "BLOCKSELECT_SKIPPED": str(names), **variables}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout.splitlines()[-1].partition(" in ")[0], names.read_text()

    skipped = "test_module.py\ntest_single.py::test_case[not here: [a] b]\n"
    assert outcome() == ("1 passed, 2 skipped", skipped)
    assert outcome(f"@{names}", MISSING="1") == ("2 passed", "")
