"""`blockselect doctor`: what is installed, what is missing and how to get it."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import blockselect
from blockselect.cli import doctor

REQUIRES = ["numpy>=2.0", "nowhere>=1; extra == 'torch'", 'numpy>=2; extra == "dask"', "pytest; extra == 'dev'"]


@pytest.fixture
def without_torch(monkeypatch):
    """A look at the GPU would import it, which takes long."""
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: REQUIRES)


def test_it_shows_versions_extras_gpu_and_threads(run, without_torch):
    result = run("doctor")
    assert (result.exit_code, result.stderr) == (0, "")
    shown = result.stdout
    assert f"blockselect {blockselect.__version__}, Python {sys.version.split()[0]}" in shown
    assert f"numpy {np.__version__}" in shown
    assert "extra torch: lacks nowhere: pip install 'blockselect[torch]'" in shown
    assert "extra dask: installed" in shown
    assert "pytest" not in shown
    assert "GPU:       not used: PyTorch is not installed" in shown
    assert " cores; " in shown


def test_json_has_the_same(run, without_torch):
    found = json.loads(run("doctor", "--json").stdout)
    assert found["extras"] == {"torch": ["nowhere"], "dask": []}
    assert found["packages"]["numpy"] == np.__version__


def test_a_gpu_is_named(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "A card")
    assert doctor.gpu().startswith("A card (PyTorch ")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert doctor.gpu().startswith("none that PyTorch ")


def test_it_examines_an_installation_that_cannot_download(run, without_torch, monkeypatch):
    monkeypatch.delenv("BLOCKSELECT_CACHE", raising=False)
    assert "data:      downloads are kept in " in run("doctor").stdout
    monkeypatch.setitem(sys.modules, "pooch", None)
    result = run("doctor")
    assert result.exit_code == 0
    assert "data:      no downloads: pooch is not installed (pip install 'blockselect[datasets]')" in result.stdout
    assert json.loads(run("doctor", "--json").stdout)["cache"] is None
