"""A package that is missing is named together with the extra that brings it."""

from __future__ import annotations

import sys

import pytest

from blockselect.extras import _EXTRAS, comes_from, needed


@pytest.mark.parametrize("package", _EXTRAS)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"a file needs {package}; .*'blockselect\[{_EXTRAS[package]}\]'"):
        needed(package, "a file")


def test_where_a_thing_comes_from_is_told_by_its_types():
    class Derived(dict):
        pass

    assert comes_from(Derived(), "builtins")
    assert not comes_from(Derived(), "networkx", "polars")
