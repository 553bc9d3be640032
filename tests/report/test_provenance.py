"""The Python that a page shows makes the same selector."""

from __future__ import annotations

import numpy as np
import pytest

import blockselect
from blockselect import BMGUFS, BlockModelSelector, Descent
from blockselect.report import provenance
from blockselect.report.provenance import package_versions, python_to_repeat, settings_table

SELECTORS = [
    BlockModelSelector(64, random_state=0),
    BlockModelSelector(),
    BMGUFS(n_features_to_select=0.1, n_blocks=7, solver=Descent(max_iter=60)),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_the_code_makes_a_selector_of_the_same_settings(selector):
    code = python_to_repeat(selector).split("selector.fit")[0]
    made = {}
    exec(code, made)
    assert repr(made["selector"]) == repr(selector)


def test_labels_of_ones_own_go_by_a_name():
    code = python_to_repeat(BMGUFS(3, block_model=np.arange(500) % 3))
    assert "block_model = ...  # ndarray: your own" in code
    assert "BMGUFS(3, block_model=block_model)" in code


def test_settings_say_which_are_changed():
    rows = {row["name"]: row for row in settings_table(BMGUFS(3, block_model=np.arange(500) % 3))}
    assert rows["block_model"] == {"name": "block_model", "value": "ndarray of length 500", "changed": True}
    assert rows["n_jobs"]["changed"] is False


def test_versions_begin_with_our_own():
    versions = package_versions()
    assert next(iter(versions.items())) == ("blockselect", blockselect.__version__)
    assert versions["numpy"] == np.__version__


def test_an_extra_that_is_not_installed_has_no_version(monkeypatch):
    def without_matplotlib(package):
        if package == "matplotlib":
            raise provenance.PackageNotFoundError(package)
        return "1.0"

    monkeypatch.setattr(provenance, "version", without_matplotlib)
    versions = package_versions()
    assert "matplotlib" not in versions
    assert versions["numpy"] == "1.0"
