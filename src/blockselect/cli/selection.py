"""One run of `blockselect select`: the network in, a fitted selector, the contents of the files out."""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from blockselect import __version__
from blockselect.cli.agreement import check_discoverable, check_together
from blockselect.cli.failure import Failure, expecting_bad_input, one_line
from blockselect.cli.inputs import NetworkInput, load_dataset, load_files
from blockselect.cli.settings import in_terms_of_options, selector_settings
from blockselect.consensus.estimator import PAPER, BlockModelSelector
from blockselect.consensus.guidance import Progress
from blockselect.report.overview import draw_overview, render_png
from blockselect.report.summarize import summarize
from blockselect.report.tables import scores_table, selected_table

RECORDED_VERSIONS = ("numpy", "scipy", "scikit-learn", "pandas", "matplotlib")


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """A run that is done, nothing written yet."""

    network: NetworkInput
    selector: BlockModelSelector
    summary: dict[str, Any]
    warnings: list[str]


def make_selector(options: Mapping[str, Any], *, paper: bool, links_given: bool) -> BlockModelSelector:
    """The selector that the options describe, if they agree with each other."""
    selector = BlockModelSelector(**selector_settings(options, PAPER if paper else {}))
    check_together(options, selector.get_params())
    check_discoverable(selector.get_params(), links_given=links_given)
    return selector


def load_network(
    dataset: str | None,
    features: Path | None,
    graph: Path | None,
    *,
    n_neighbors: int,
    progress: Progress | None = None,
) -> NetworkInput:
    """The network that the options name, in one of the two ways."""
    if (dataset is None) == (features is None):
        raise Failure("give either --dataset NAME or --features FILE (with --graph FILE), and not both.")
    if features is None:
        if graph is not None:
            raise Failure("--graph goes with --features; a --dataset brings its own graph.")
        return load_dataset(str(dataset), progress)
    with complaining_of_options(), expecting_bad_input():
        return load_files(features, graph, n_neighbors=n_neighbors)


def run_selection(network: NetworkInput, selector: BlockModelSelector, progress: Progress | None) -> Selection:
    """Fit, and collect what the library warns of."""
    graph = network.graph
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for noise in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", noise)  # for programmers, not for users of the command
        with complaining_of_options(), expecting_bad_input():
            selector.fit(graph.features, adjacency=graph.adjacency, progress=progress)
    messages = list(dict.fromkeys(one_line(in_terms_of_options(str(warning.message))) for warning in caught))
    return Selection(network, selector, summarize(selector, graph), messages)


@contextmanager
def complaining_of_options() -> Iterator[None]:
    """Turn a failure that speaks of the library into one that speaks of options."""
    try:
        yield
    except Failure as failure:
        raise Failure(in_terms_of_options(str(failure))) from failure


def file_contents(selection: Selection) -> dict[str, bytes]:
    """Every file of the run, by name. The same input and settings give the same bytes."""
    summary = selection.summary
    return {
        "selected.csv": selected_table(summary).encode(),
        "scores.csv": scores_table(summary).encode(),
        "run.json": (json.dumps(run_record(selection), indent=2, allow_nan=False) + "\n").encode(),
        "overview.png": render_png(draw_overview(summary)),
    }


def run_record(selection: Selection) -> dict[str, Any]:
    """What it takes to repeat the run, and its main figures; no time and no place: runs can be compared."""
    settings = selection.selector.get_params()
    seed = settings.pop("random_state")
    summary = selection.summary
    return {
        "command": "select",
        "input": selection.network.record,
        "settings": settings,
        "seed": seed,
        "versions": versions(settings["device"]),
        "counts": summary["counts"],
        "n_blocks": summary["blocks"]["count"],
        "block_sizes": summary["blocks"]["sizes"],
        "relative_error": summary["relative_error"],
        "candidate_errors": summary["candidate_errors"],
        "criteria": summary["criteria"],
        "sparsity": summary["sparsity"],
        "n_iter": summary["n_iter"],
        "gram_form": selection.selector.gram_form_,
        "warnings": selection.warnings,
    }


def versions(device: str) -> dict[str, str]:
    packages = RECORDED_VERSIONS if device == "cpu" else (*RECORDED_VERSIONS, "torch")
    return {
        "blockselect": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }
