"""A fit works if compiled functions cannot be cached on disk, with a single message."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import blockselect

pytestmark = [
    pytest.mark.slow,  # everything is compiled again
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled"),
]

FIT = """
from blockselect import BlockModelSelector, make_attributed_blocks
graph = make_attributed_blocks(60, 3, n_informative=8, n_noise=8, random_state=0).graph
selector = BlockModelSelector(5, n_candidates=2, random_state=0).fit(graph.features, adjacency=graph.adjacency)
print(selector.get_support(indices=True).tolist())
"""
FULL_DISK = """
import resource
import joblib  # it writes semaphores
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # every write to a file fails; files can still be created
"""


def fit(code: str = FIT, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")
    }  # it writes files
    return subprocess.run(
        [sys.executable, "-c", code], env={**inherited, **environment}, capture_output=True, text=True, check=False
    )


def test_a_fit_needs_no_writable_folder(tmp_path):
    shutil.copytree(
        Path(blockselect.__file__).parent, tmp_path / "blockselect", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in ("graphs", "consensus", "bmgufs"):
        (tmp_path / "blockselect" / folder / "__pycache__").touch()  # a file: nobody, not even root, can write into it
    done = fit(PYTHONPATH=str(tmp_path), HOME="/dev/null", XDG_CACHE_HOME="/dev/null", LOCALAPPDATA="/dev/null")
    assert (done.returncode, done.stdout) == (0, fit().stdout), done.stderr
    assert done.stderr.startswith("compiled functions cannot be cached on disk (neither the installed package")
    assert "set NUMBA_CACHE_DIR to a writable folder" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_fit_works_if_the_disk_of_the_cache_is_full(tmp_path):
    pytest.importorskip("resource", reason="no limits on files here")
    done = fit(FULL_DISK + FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, fit().stdout), done.stderr
    assert done.stderr.startswith("compiled functions cannot be cached on disk (File too large)")
    assert done.stderr.count("\n") == 1


MODULE = """
from typing import NamedTuple
from blockselect.utils.compiled import compiled

class {record}(NamedTuple):
    value: float

@compiled
def double(record):
    return 2 * record.value

print(double({record}(1.5)))
"""


def test_the_cache_of_another_version_is_replaced(tmp_path):
    """Numba refers to classes by name, and another version may not have them."""
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    for record in ("Older", "Newer", "Older"):
        (tmp_path / "versions.py").write_text(MODULE.format(record=record))
        done = fit("import versions", PYTHONPATH=path, NUMBA_CACHE_DIR=str(tmp_path / "kept"))
        assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr
