"""Trials on a Dask cluster give the rows that they give here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blockselect.reproduction.config import read_config
from blockselect.reproduction.engine import complete_rows, run_experiments
from blockselect.reproduction.experiments import EXPERIMENTS
from blockselect.reproduction.store import Store

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


def test_a_cluster_gives_the_same_rows(cluster, tmp_path):
    config = replace(read_config("quick"), n_candidates=2, max_iter=5)
    plans = {name: EXPERIMENTS[name].trials for name in ("datasets", "convergence")}
    there, here = Store(tmp_path / "there", {}), Store(tmp_path / "here", {})
    run_experiments(plans, config, there, dask=cluster.scheduler_address)
    run_experiments(plans, config, here)
    rows = complete_rows(plans, config, here)
    assert rows.keys() == plans.keys()
    assert complete_rows(plans, config, there) == rows


def test_a_cluster_that_does_not_answer_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr("blockselect.reproduction.engine.CONNECT_SECONDS", 1)
    store = Store(tmp_path, {})
    with pytest.raises(OSError, match=r"tcp://127\.0\.0\.1:9"):
        run_experiments(
            {"datasets": EXPERIMENTS["datasets"].trials}, read_config("quick"), store, dask="tcp://127.0.0.1:9"
        )
