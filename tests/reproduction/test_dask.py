"""Trials on a Dask cluster give the rows that they give here."""

from __future__ import annotations

import pytest

from blockselect.reproduction.config import read_config
from blockselect.reproduction.engine import collect, run_experiments
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
    config, experiments = read_config("quick"), [EXPERIMENTS[name] for name in ("datasets", "convergence")]
    there, here = Store(tmp_path / "there", {}), Store(tmp_path / "here", {})
    run_experiments(experiments, config, there, dask=cluster.scheduler_address)
    run_experiments(experiments, config, here)
    for experiment in experiments:
        assert collect(experiment, config, there) == collect(experiment, config, here)


def test_a_cluster_that_does_not_answer_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr("blockselect.reproduction.engine.CONNECT_SECONDS", 1)
    store = Store(tmp_path, {})
    with pytest.raises(OSError, match=r"tcp://127\.0\.0\.1:9"):
        run_experiments([EXPERIMENTS["datasets"]], read_config("quick"), store, dask="tcp://127.0.0.1:9")
