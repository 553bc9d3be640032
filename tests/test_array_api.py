"""Scikit-learn's check of array-API input, which runs only where SciPy's switch is set before anything is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

TESTS = Path(__file__).parent


def test_the_array_api_check_holds_for_every_selector():
    checked = [path for path in TESTS.rglob("test_*.py") if "\n@parametrize_with_checks" in path.read_text("utf-8")]
    assert len(checked) > 1
    command = [sys.executable, "-m", "pytest", *map(str, checked), "-k", "check_array_api_input", "-q"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(command, env=environment, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    is_old = parse_version(sklearn.__version__) < parse_version("1.9")
    if is_old and done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED:
        pytest.skip("this scikit-learn checks only estimators that say they take such arrays")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
    assert "skipped" not in done.stdout
