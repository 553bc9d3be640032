"""What a page shows beyond the summary: the table of all features, the graph, settings, and how to repeat the run."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

import blockselect
from blockselect.base import ScoreSelector
from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.blockmodels.markers import Markers
from blockselect.inputs.labels import as_labels, encode_labels, labels_by_id
from blockselect.registry import SELECTORS
from blockselect.report.drawings import node_drawing
from blockselect.report.summarize import marked_blocks
from blockselect.utils.arrays import FloatArray, IntArray, ObjectArray, best_first
from blockselect.utils.errors import ParameterError

_ROWS_BYTES = 9_000_000  # maximum size of the table of features in the page
_MAX_LABELS = 20  # maximum number of known labels with a column of their own
_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba", "matplotlib")
_LONG = 60  # characters; longer values are not written out


def page_details(
    selector: ScoreSelector,
    summary: dict[str, Any],
    *,
    title: str,
    command: str | None,
    warnings: Sequence[str],
    labels: Any = None,
) -> dict[str, Any]:
    """Collect, as plain data, what the page shows in addition to the summary.

    Parameters
    ----------
    selector : fitted selector
    summary : dict
        The result of :func:`blockselect.report.summarize` for this selector.
    title : str
        Name of the network.
    command : str or None
        The command that made the selection.
    warnings : sequence of str
        Warnings of the fit.
    labels : array, Series or dict, optional
        Known labels of the nodes.
    """
    name, result = _registered_name(selector), selector._fit_result
    common: dict[str, Any] = {
        "title": title,
        "method": type(selector).__name__,
        "method_title": type(selector).__name__ if name is None else SELECTORS[name].title,
        "redundancy": result.redundancy,
        "settings": settings_table(selector),
        "seeded": getattr(selector, "random_state", 0) is not None,
        "versions": package_versions(),
        "python": python_to_repeat(selector),
        "command": command,
        "warnings": list(warnings),
        "gram_form": getattr(selector, "gram_form_", None),
    }
    if not isinstance(selector, BlockGuidedSelector) or result.blocks is None:
        if labels is not None:
            common["warnings"].append(
                f"labels are compared with blocks, but {type(selector).__name__} finds no blocks."
            )
        return {**common, "features": feature_rows(summary)}
    blocks, small_graph = selector.labels_, result.blocks.small_graph
    return {
        **common,
        "features": feature_rows(summary, selector._markers()),
        "drawing": None if small_graph is None else node_drawing(small_graph, result.node_ids, blocks),
        "ordered_links": result.blocks.ordered_links.toarray() if small_graph is None else None,
        "labels": None if labels is None else known_labels(labels, result.node_ids, blocks),
    }


def _registered_name(selector: BaseEstimator) -> str | None:
    """The name under which the registry lists the method with these settings, if any."""
    parameters = selector.get_params(deep=False)
    fits = (
        name
        for name, method in SELECTORS.items()
        if method.selector is type(selector) and method.settings.items() <= parameters.items()
    )
    return next(fits, None)


def known_labels(labels: Any, node_ids: ObjectArray | None, blocks: IntArray) -> dict[str, Any]:
    """The distribution of known labels over the blocks.

    Returns
    -------
    dict
        The `names` of the most frequent labels (at most 20), the number of all labels (`n_labels`), the `counts` of
        nodes by block and label (any other labels share the last column), the number of blocks in which at least half
        of the nodes have the same label (`n_uniform`), the most frequent label of each block with its share (`most`),
        and the normalised mutual information (`nmi`).
    """
    values = as_labels(labels_by_id(labels, node_ids, "labels"), "labels")
    if len(values) != len(blocks):
        raise ParameterError("labels", f"has {len(values)} entries for {len(blocks)} nodes; pass one per node.")
    counts = contingency_matrix(blocks, encode_labels(values, "labels"))  # (k, labels)
    order = best_first(counts.sum(axis=0).astype(np.float64))
    shown, others = counts[:, order[:_MAX_LABELS]], counts[:, order[_MAX_LABELS:]]
    names, shares = [str(name) for name in np.unique(values)], counts / counts.sum(axis=1, keepdims=True)
    return {
        "names": [names[label] for label in order[:_MAX_LABELS]],
        "n_labels": len(order),
        "counts": np.column_stack([shown, others.sum(axis=1)]).tolist() if others.size else shown.tolist(),
        "n_uniform": int(np.count_nonzero(2 * counts.max(axis=1) >= counts.sum(axis=1))),
        "most": [{"label": names[row.argmax()], "share": float(row.max())} for row in shares],
        "nmi": float(normalized_mutual_info_score(values, blocks)),
    }


def feature_rows(summary: dict[str, Any], markers: Markers | None = None) -> dict[str, Any]:
    """Features as compact rows, the selected ones first, then by rank, as many as fit into the page.

    Returns
    -------
    dict
        The `rows`, the names of their `columns`, and the names of the columns that are `measures`. The column `blocks`
        contains the blocks that a feature marks, strongest evidence first, and `lift` its lift in the first of them (1
        if there is none). The column `strip` has one digit per block: the mean of the feature there, relative to its
        highest mean (9). For methods without blocks, `blocks` and `strip` are empty.
    """
    names, ranking, scores = (summary[key] for key in ("feature_names", "ranking", "scores"))
    n = len(names)
    marked: list[list[int]] = [[]] * n
    if markers is None:
        prevalence, lift, strips = summary["measures"]["prevalence"], [1.0] * n, [""] * n
    else:
        prevalence, lift = markers.prevalence.tolist(), markers.marked_lift.tolist()
        marked, strips = marked_blocks(markers, np.arange(n)), block_strips(markers.block_means)
    measures = {name: values for name, values in summary["measures"].items() if name != "prevalence"}
    columns = ["name", "rank", "score", "selected", "prevalence", "blocks", "lift", *measures, "strip"]
    selected = {row["index"] for row in summary["selected"]}
    rows: list[list[Any]] = []
    room = _ROWS_BYTES
    for index in sorted(np.argsort(ranking).tolist(), key=lambda index: index not in selected):  # the sort is stable
        row = [
            names[index],
            ranking[index],
            None if scores[index] is None else _short(scores[index], 6),
            int(index in selected),
            _short(prevalence[index]),
            marked[index],
            _short(lift[index]),
            *(_short(values[index]) for values in measures.values()),
            strips[index],
        ]
        room -= len(json.dumps(row, separators=(",", ":"))) + 1
        if room < 0:
            break
        rows.append(row)
    return {"columns": columns, "measures": list(measures), "rows": rows}


def block_strips(block_means: FloatArray) -> list[str]:
    """The block means (k, m) of each feature as k digits, relative to the highest mean."""
    highest = np.maximum(block_means.max(axis=0), np.finfo(np.float64).tiny)
    shares = np.minimum(np.maximum(block_means, 0.0) / highest, 1.0)
    digits = np.ceil(9 * shares).astype(np.uint8) + ord("0")
    return [row.tobytes().decode("ascii") for row in np.ascontiguousarray(digits.T)]


def _short(number: float, digits: int = 4) -> float:
    """Round to a few significant digits; the CSV files have full precision."""
    return number if isinstance(number, int) else float(f"{number:.{digits}g}")


def python_to_repeat(selector: BaseEstimator) -> str:
    """Python code that creates and fits this selector; long values, such as labels, must be filled in."""
    name = type(selector).__name__
    method = None if name in blockselect.__all__ else _registered_name(selector)
    imports, named, given = ["make_selector" if method else name], list[str](), list[str]()
    for parameter, value in changed_settings(selector).items():
        text = repr(value)
        if isinstance(value, BaseEstimator):
            imports.append(type(value).__name__)
        if _is_long(text):
            named.append(f"{parameter} = ...  # your {type(value).__name__}")
            text = parameter
        is_first = not given and parameter == "n_features_to_select" and not method
        given.append(text if is_first else f"{parameter}={text}")
    settings = ", ".join(given)
    lines = [
        f"from blockselect import {', '.join(imports)}",
        "",
        *named,
        f"selector = make_selector({method!r}).set_params({settings})" if method else f"selector = {name}({settings})",
        "selector.fit(X, adjacency=adjacency)  # your features and your graph",
        'selector.report("report.html")',
    ]
    return "\n".join(lines)


def changed_settings(estimator: BaseEstimator) -> dict[str, Any]:
    """Parameters that differ from their defaults, in the order of the signature."""
    values = estimator.get_params(deep=False)
    defaults = {name: each.default for name, each in signature(type(estimator)).parameters.items() if name in values}
    return {name: values[name] for name, default in defaults.items() if repr(values[name]) != repr(default)}


def settings_table(estimator: BaseEstimator) -> list[dict[str, Any]]:
    """Each parameter with its value as text, and whether it differs from its default."""
    changed = changed_settings(estimator)
    return [
        {"name": name, "value": _shown(value), "changed": name in changed}
        for name, value in estimator.get_params(deep=False).items()
    ]


def _is_long(text: str) -> bool:
    return len(text) > _LONG or "\n" in text


def _shown(value: Any) -> str:
    text = repr(value)
    if not _is_long(text):
        return text
    has_length = hasattr(value, "__len__") and not sparse.issparse(value)
    return f"{type(value).__name__} of length {len(value):,}" if has_length else type(value).__name__


def package_versions() -> dict[str, str]:
    """Versions of blockselect, Python and the packages that results and figures depend on."""
    others = {package: version(package) for package in _PACKAGES}
    return {"blockselect": blockselect.__version__, "Python": platform.python_version(), **others}
