"""Fixtures for all tests: small networks, a fit, and the folders of the real networks and of the golden arrays."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Every run draws the same examples. There is no time limit per example, because machines differ in speed.
settings.register_profile(
    "blockselect",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("blockselect")


def pytest_configure() -> None:
    """A background job of a shell may ignore Ctrl-C or hanging up; tests of these, and what they start, must not."""
    for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
        number = getattr(signal, name, None)  # no SIGHUP on Windows
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


SLOW = (  # prefixes of the ids of the tests that the fast run, `make check`, leaves out
    "README.md",
    "docs/tutorial.md",
    "src",
    "tests/baselines/by_features",
    "tests/baselines/by_network",
    "tests/benchmarks",
    "tests/blockmodels/test_candidates.py",
    "tests/blockmodels/test_names.py::test_debian_blocks",
    "tests/bmgufs/test_cluster.py",
    "tests/consensus/test_cluster.py",
    "tests/consensus/test_row_chunks.py::test_a_fit_never_holds",
    "tests/consensus/test_row_chunks.py::test_debian_in_chunks",
    "tests/bmgufs/test_descent.py::test_torch",
    "tests/bmgufs/test_device.py::test_scores_are_those_of_numpy_in_every_form",
    "tests/bmgufs/test_device.py::test_solves_stop_at_the_same_iteration",
    "tests/bmgufs/test_estimator.py::test_scores_are_those_of_the_paper_written_out",
    "tests/bmgufs/test_cuda.py",
    "tests/cli",
    "tests/consensus/test_estimator.py",
    "tests/consensus/test_estimator_contract.py",
    "tests/consensus/test_moves.py::test_compilation",
    "tests/consensus/test_refine.py",
    "tests/datasets/test_planted.py::test_each_pair_of_nodes",
    "tests/evaluation/test_classification.py",
    "tests/evaluation/test_clustering.py",
    "tests/evaluation/test_comparison.py",
    "tests/evaluation/test_link_prediction.py",
    "tests/evaluation/test_protocol.py",
    "tests/graphs/test_affinity.py::test_published",
    "tests/inspection/test_evidence.py::test_on_random_matchings",
    "tests/inputs/test_mutated_files.py",
    "tests/graphs/test_links.py::test_counts_of_links",
    "tests/graphs/test_links.py::test_resampling_does_not_depend",
    "tests/graphs/test_neighbours.py::test_neighbours_do_not_depend",
    "tests/graphs/test_neighbours.py::test_cora",
    "tests/inputs/test_node_attributes.py::test_a_fit_to_a_graph",
    "tests/inputs/test_node_graph.py::test_a_grid_search",
    "tests/inspection",
    "tests/plot",
    "tests/report/test_browser.py",
    "tests/report/test_overview.py",
    "tests/report/test_page.py",
    "tests/reproduction/test_endurance.py",
    "tests/reproduction/test_engine.py::test_processes",
    "tests/reproduction/test_experiments.py",
    "tests/reproduction/test_page.py",
    "tests/reproduction/test_store.py",
    "tests/utils/test_eigenvectors.py",
    "tests/test_estimator_checks.py",
    "tests/test_fuzz.py",
    "tests/test_invariance.py",
    "tests/test_network_evidence.py::test_a_selector_warns",
    "tests/test_readme.py",
    "tests/test_registry.py",
    "tests/test_result.py::test_another_process",
    "tests/test_result.py::test_copies_and_pickles",
    "tests/test_result.py::test_edges_that_were",
    "tests/test_result.py::test_row_chunks_give",
    "tests/test_scale.py",
    "tests/test_shapes.py",
    "tests/test_signed.py",
)

SMOKE = (  # slow tests that the fast run includes: seeded results of every package
    "tests/baselines/by_features/test_laplacian.py::test_the_criterion_equals",
    "tests/baselines/by_features/test_mcfs.py::test_scores_equal",
    "tests/baselines/by_features/test_ndfs.py::test_scores_equal",
    "tests/baselines/by_features/test_spec.py::test_criteria_on_a_given_affinity",
    "tests/baselines/by_features/test_udfs.py::test_scores_equal",
    "tests/baselines/by_features/test_variance.py::test_the_criterion_is_the_variance",
    "tests/baselines/by_network/test_adapt.py::test_with_all_pairs_the_iterations",
    "tests/baselines/by_network/test_gfs.py::test_with_all_pairs_the_iterations",
    "tests/baselines/by_network/test_hotspot.py::test_values_equal_stored_values",
    "tests/baselines/by_network/test_lufs.py::test_scores_equal",
    "tests/baselines/by_network/test_mmpop.py::test_the_loss_of_a_batch",
    "tests/baselines/by_network/test_moran.py::test_the_criterion_equals",
    "tests/baselines/by_network/test_netfs.py::test_scores_equal",
    "tests/baselines/by_network/test_partial_order.py::test_scores_equal_a_loop",
    "tests/blockmodels/test_candidates.py::test_planted_blocks_that_link_within",
    "tests/cli/test_select.py::test_scores_are_those_of_the_selector",
    "tests/consensus/test_estimator.py::test_the_table_has_the_candidates_in_their_order",
    "tests/evaluation/test_classification.py::test_it_is_the_protocol_to_the_letter",
    "tests/evaluation/test_clustering.py::test_it_is_the_protocol_of_the_paper_to_the_letter",
    "tests/evaluation/test_comparison.py::test_scores_are_those_of_the_protocol",
    "tests/evaluation/test_link_prediction.py::test_similarities_that_differ_little",
    "tests/evaluation/test_link_prediction.py::test_the_area_is_the_share_of_pairs",
    "tests/inspection/test_discoveries.py::test_discoveries_are_those_whose_q_value_is_within_the_level",
    "tests/inspection/test_evidence.py::test_planted_features_are_evidence",
    "tests/inspection/test_given_totals.py::test_block_means_are_those_of_the_residuals",
    "tests/inspection/test_discoveries_p_values.py::test_p_values_are_those_of_the_formula",
    "tests/inspection/test_stability.py::test_stability_is_a_chance_and_larger_for_what_was_selected",
    "tests/plot/test_of_blocks.py::test_densities_are_relative_to_the_densest_pair",
    "tests/plot/test_of_features.py::test_scores_are_the_best_on_top",
    "tests/plot/test_of_runs.py::test_those_kept_are_filled",
    "tests/report/test_page.py::test_the_table_holds_all_features_the_selected_first",
    "tests/utils/test_eigenvectors.py::test_they_equal_those_of_the_dense_matrix",
    "tests/test_signed.py::test_parts_add_up_to_the_features",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The fast lane does not even import files of which it would run nothing."""
    if config.option.markexpr != "not slow" or not collection_path.is_relative_to(config.rootpath):
        return None
    place = collection_path.relative_to(config.rootpath).as_posix()
    return (place.startswith(SLOW) and not any(test.startswith(place) for test in SMOKE)) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark slow tests; with BLOCKSELECT_TEST_ORDER, a seed, shuffle all: no test may need another before it."""
    if seed := os.environ.get("BLOCKSELECT_TEST_ORDER"):
        random.Random(seed).shuffle(items)
    for item in items:
        if item.nodeid.startswith(SLOW) and not item.nodeid.startswith(SMOKE):
            item.add_marker("slow")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """With BLOCKSELECT_SKIPPED, a file, name there what was skipped: `pytest @file` runs these tests alone."""
    if file := os.environ.get("BLOCKSELECT_SKIPPED"):
        skipped = {report.nodeid for report in terminalreporter.stats.get("skipped", ())}
        Path(file).write_text("".join(f"{name}\n" for name in sorted(skipped)), encoding="utf-8")


def _folder(variable: str) -> Path:
    folder = os.environ.get(variable)
    if not folder or not Path(folder).is_dir():
        pytest.skip(f"{variable} does not name a folder")
    return Path(folder)


@pytest.fixture(scope="session")
def golden_path() -> Path:
    """Folder of networks as published elsewhere; smaller arrays are in tests/golden."""
    return _folder("BLOCKSELECT_GOLDEN")


@pytest.fixture(scope="session")
def data_path() -> Path:
    """Folder of the public network files."""
    return _folder("BLOCKSELECT_DATA")


@pytest.fixture(scope="session")
def network():
    """200 nodes and 52 features; tests must not change it, nor what is fitted to it."""
    from made_fits import easy_network  # imported only when needed, because every process imports this file

    return easy_network()


@pytest.fixture(scope="session")
def fitted(network):
    """The default, fitted to the network."""
    from made_fits import fit

    return fit(network)


@pytest.fixture(params=range(4))
def problem(request):
    """Twenty nodes and nine features, small enough for the slow formulas."""
    from references.problems import make_problem

    return make_problem(request.param)


@pytest.fixture
def mixed_problem():
    """Three block models with different numbers of blocks."""
    from references.problems import make_problem

    return make_problem(7, n=25, m=12, blocks=(2, 5, 3))
