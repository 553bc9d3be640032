"""Errors name a missing package and the extra that installs it."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from blockselect.utils.extras import _EXTRAS, comes_from, needed


@pytest.mark.parametrize("package", _EXTRAS)
def test_the_error_names_a_missing_package_and_its_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"a file needs {package}; .*'blockselect\[{_EXTRAS[package]}\]'"):
        needed(package, "a file")


def test_every_extra_installs_its_packages_and_all_installs_those_of_users():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    declared = tomllib.loads(text)["project"]["optional-dependencies"]
    names = {extra: {re.match(r"[\w.-]+", line)[0] for line in lines} for extra, lines in declared.items()}
    brings = {**{package: package for package in _EXTRAS}, "h5py": "anndata"}  # anndata itself needs h5py
    assert [package for package, extra in _EXTRAS.items() if brings[package] not in names[extra]] == []
    assert [extra for extra, packages in names.items() if "pytest" in packages] == ["test-single-cell", "dev"]
    listed = re.search(r"\[(.*)\]", declared["all"][0])[1].split(",")
    assert set(listed) >= set(_EXTRAS.values()) - {"datasets", "report"}  # which are parts of the command
    assert declared["cli"][0] == "blockselect[datasets,report]"


def test_the_origin_of_an_object_follows_from_its_types():
    class Derived(dict):
        pass

    assert comes_from(Derived(), "builtins")
    assert not comes_from(Derived(), "networkx", "polars")
