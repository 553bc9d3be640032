"""show_versions lists each package, including missing ones, and the GPUs."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from blockselect import show_versions
from blockselect.utils.versions import OPTIONAL


def shown(capsys) -> dict[str, str]:
    show_versions()
    return dict(line.strip().split(": ", 1) for line in capsys.readouterr().out.splitlines()[2:])


def test_packages_are_shown_with_their_versions_or_as_missing(capsys):
    installed = {package.metadata["Name"].lower(): package.version for package in metadata.distributions()}
    found = shown(capsys)
    assert found["scikit-learn"] == metadata.version("scikit-learn")
    for name in OPTIONAL:
        assert found[name] == installed.get(name, "not installed")


def test_without_pytorch_it_says_how_to_use_a_gpu(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "pip install 'blockselect[torch]'" in shown(capsys)["GPU"]


def test_gpus_are_named(capsys, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"card {number}")
    assert shown(capsys)["GPU"] == "card 0"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert shown(capsys)["GPU"] == "none that PyTorch can use"
