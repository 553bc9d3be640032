"""Every public name stands on a page of the API, and every name there exists."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import blockselect
from blockselect.registry import SELECTORS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "api").glob("*.rst"))


def documented() -> dict[str, object]:
    """Full name on a page → what it stands for."""
    found = {}
    for page in PAGES:
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif match := re.fullmatch(r"   ([A-Za-z_]\w*(?:\.\w+)*)|\.\. data:: (\w+)", line):
                name = match[1] or match[2]
                if page.name != "index.rst":
                    found[f"{module}.{name}"] = resolve(f"{module}.{name}")
    return found


def resolve(full_name: str) -> object:
    home, _, name = full_name.rpartition(".")
    return getattr(importlib.import_module(home), name)


def public_names() -> list[str]:
    """Names in the `__all__` of the package and of every package and module within that is not private."""
    modules = [blockselect.__name__]
    for module in pkgutil.walk_packages(blockselect.__path__, "blockselect."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            modules.append(module.name)
    return [
        f"{name}.{public}"
        for name in modules
        if "\n__all__ = [" in source_of(name)
        for public in importlib.import_module(name).__all__
    ]


def source_of(module: str) -> str:
    path = ROOT / "src" / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def on_pages() -> dict[str, object]:
    return documented()


def test_every_public_name_is_on_a_page(on_pages):
    public = public_names()
    assert len(public) > 50
    assert [name for name in public if not any(resolve(name) is value for value in on_pages.values())] == []


def test_every_method_of_the_registry_is_on_a_page(on_pages):
    assert {method.selector for method in SELECTORS.values()} <= {
        value for value in on_pages.values() if isinstance(value, type)
    }


def test_no_name_stands_on_two_pages(on_pages):
    functions = [id(value) for value in on_pages.values()]
    assert len(set(functions)) == len(functions)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_of_the_api_is_listed(page):
    listed = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    assert page.stem == "index" or re.search(rf"^   {page.stem}$", listed, flags=re.MULTILINE)
