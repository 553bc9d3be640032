"""The findings of a fitted selector as plain data that can be written as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from blockselect.base import ScoreSelector
from blockselect.blockmodels.block_guided import BlockGuidedSelector
from blockselect.blockmodels.description import BlockDescription
from blockselect.blockmodels.levels import groups_at, leaf_order, numbers_of_groups
from blockselect.blockmodels.markers import Markers
from blockselect.blockmodels.names import BlockName
from blockselect.bmgufs.estimator import BMGUFS
from blockselect.consensus.estimator import BlockModelSelector
from blockselect.result import Result
from blockselect.utils.arrays import FloatArray, IntArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import as_numbers, check_entries
from blockselect.utils.wording import feature_labels

SMALL = 0.01  # blocks with a smaller share of the nodes are called small
_OTHERS = 10  # maximum number of unselected markers listed per block


def summarize(selector: ScoreSelector, *, stability: FloatArray | None = None) -> dict[str, Any]:
    """Collect what a fitted selector found in its network.

    Parameters
    ----------
    selector : fitted selector of this package
        For a method without blocks, the result is that of :func:`summarize_scores`. Features without names are called
        ``x0``, ``x1``, …
    stability : array of shape (m,), optional
        The result of :func:`blockselect.selection_stability`.

    Returns
    -------
    dict
        It consists of dicts, lists, strings, numbers and None, so that ``json.dumps`` accepts it. Entries that a
        selector does not provide are None.

        - `counts`: the numbers of nodes, links, features and so on.
        - `selected`: one entry per selected feature, best first, with its `prevalence` (share of nodes that have it),
          all `marked_blocks` (in which it is significantly more common than in the whole network, strongest evidence
          first; see :func:`blockselect.blockmodels.markers.block_markers`), their number (`n_marked_blocks`), and the
          first of them (`marked_block`) with its name (`block_name`) and the `lift` of the feature there (None, None
          and 1 if the feature marks no block).
        - `feature_names`, `scores`, `ranking` and `measures` (beyond_chance as 0 or 1, explained_more, explained_alone,
          stability, p_value and q_value, if computed): one value per feature, in the order of the columns.
        - `blocks`: their `count` and the `reason` for it, whether it was chosen from the graph (`automatic`) or the
          blocks were `given`, whether they were refined with the features (`refine`, with the entries `made`,
          `automatic` and `reason`), `seed_agreement` (`block_agreement_`; None if unknown), their `sizes`, which
          blocks are `small` (less than 1 % of the nodes), their `order` along the tree, the `density` of links
          between blocks (paper: M), their `similarity` in the selected features, the standardised patterns of both
          (`link_pattern` and `feature_pattern`; see `block_patterns`), the link weight between each pair of blocks
          (`link_weights`, where each link is counted from both ends), and a description of each block (`described`).
        - `blocks["described"]`: the `name` of the block, what it is named after (`name_origin`: "selected" for a
          selected marker, "other" for an unselected one, "node" for a typical node, "links" for the block it links
          to; "number" if it is numbered, and "given" if the user named it), `share_within`, `stability`, its
          `links`, its `markers` among the selected features, its first ten `other_markers`, the number of all its
          unselected markers (`n_other_markers`), and `typical_nodes` (empty for nodes without names).
        - `tree`: the groups of similar blocks at each level, coarse to fine. Each group has a `name`, `name_origin`
          (as above, or "blocks" if it is named after its largest blocks), `blocks` and `size`. None for BMGUFS, and
          if there is only one block.
        - `explained`: how much of the block structure the features explain (see `explained_by_size`).
        - `levels`: the share of the block structure that the selected features explain (`explained`) when blocks are
          merged into `n_blocks` groups, coarse to fine.
        - `network_evidence`: whether the selected features are associated with this graph: `p_value`,
          `autocorrelation` and `is_clear` of `network_evidence_`; None if this was not tested.
        - `candidates`: how well each candidate block model explains the links and features, and whether it is kept.
        - `effort`: how much of the requested search was done, and whether it was cut short for a large network.
        - `sparsity` (paper: γ), `loss_history` and `n_iter`: the sparsity, losses and number of iterations of BMGUFS.
    """
    if not isinstance(selector, BlockGuidedSelector):
        return summarize_scores(selector, stability=stability)
    result = _reportable(selector)
    chosen, markers = selector._selected_in_order(), selector._markers()
    described = selector._describe_blocks(markers)
    strongest, names = markers.marked_block[chosen].tolist(), [*(one.name for one in described), None]  # −1: none
    of_selected = {
        "prevalence": markers.prevalence[chosen].tolist(),
        "marked_block": [None if block < 0 else block for block in strongest],
        "block_name": [names[block] for block in strongest],
        "lift": markers.marked_lift[chosen].tolist(),
        "n_marked_blocks": markers.marks[:, chosen].sum(axis=0).tolist(),
        "marked_blocks": marked_blocks(markers, chosen),
        "block_means": markers.block_means[:, chosen].T.tolist(),
        "block_lifts": markers.lift[:, chosen].T.tolist(),
    }
    summary = {
        **_of_features(selector, result, _measures(selector, stability), of_selected),
        "blocks": _blocks(selector, result, described, markers.block_means[:, chosen]),
        "tree": None,
        "explained": result.explained,
        "levels": None,
        "relative_error": selector.block_model_.relative_error,
        "candidate_errors": [candidate.relative_error for candidate in selector.candidates_],
        **dict.fromkeys(("candidates", "effort", "loss_history", "sparsity", "n_iter")),
    }
    if isinstance(selector, BlockModelSelector):
        effort = selector.effort_
        summary["candidates"] = selector.candidates_table_.to_dict("records")
        summary["effort"] = {
            "work": effort.work,
            "was_cut": effort.was_cut,
            "candidates": {"asked": effort.asked_candidates, "made": effort.n_candidates},
            "rounds": {"asked": effort.asked_rounds, "made_at_most": effort.max_rounds},
        }
        if len(described) > 1:
            summary["tree"] = _tree(selector, selector._names(markers))
            summary["levels"] = selector.levels_.to_dict("records")
    if isinstance(selector, BMGUFS):
        losses = selector.history_
        summary["loss_history"] = {kind: getattr(losses, kind).tolist() for kind in ("reconstruction", "profile")}
        summary |= {"sparsity": selector.sparsity_, "n_iter": selector.n_iter_}
    return summary


def summarize_scores(selector: ScoreSelector, *, stability: FloatArray | None = None) -> dict[str, Any]:
    """Collect the part of :func:`summarize` that does not need blocks, for any fitted selector.

    It contains `counts`, `selected`, `feature_names`, `scores`, `ranking`, `measures` and `network_evidence`. The
    measures also say where features occur: `prevalence` (share of nodes), mean `degree` of the nodes that have
    the feature, and `autocorrelation` (correlation between linked nodes). `mean_degree` is the mean degree of
    all nodes. An undefined score is None.
    """
    result = _reportable(selector)
    assert result.links is not None  # see `_reportable`
    measures = {
        **_measures(selector, stability),
        "prevalence": result.holders / result.n_nodes,
        "degree": result.links.degree,
        "autocorrelation": result.links.autocorrelation,
    }
    return {**_of_features(selector, result, measures, {}), "mean_degree": result.links.mean_degree}


def _reportable(selector: Any) -> Result:
    """Return the record of a fit; raise an error if it does not suffice for a report, or if there is none."""
    if not isinstance(selector, ScoreSelector):
        raise ParameterError(
            "selector", f"is of type {type(selector).__name__}; pass a fitted selector, such as BlockModelSelector."
        )
    result = selector._fit_result
    if result.n_without_selected is None:
        raise ValueError(
            "a report counts the selected features of each node, which a fit to row chunks does not keep; use table(), "
            "describe_block() and the plots, or fit the same features as one matrix (sparse if it is large)."
        )
    if result.links is None:
        raise ValueError("a report shows the features on a graph, but fit was given none; use fit(X, adjacency=graph).")
    return result


def _of_features(
    selector: ScoreSelector, result: Result, measures: dict[str, Any], of_selected: dict[str, list[Any]]
) -> dict[str, Any]:
    """The part of a summary about features; `of_selected` adds values for the selected features, best first."""
    chosen, names = selector._selected_in_order(), feature_labels(result.feature_names, result.n_features)
    columns = {
        "rank": selector.ranking_[chosen].tolist(),
        "index": chosen.tolist(),
        "name": [names[index] for index in chosen],
        "score": selector.scores_[chosen].tolist(),
        **{measure: values[chosen].tolist() for measure, values in measures.items()},
        **of_selected,
    }
    links, evidence = result.links, getattr(selector, "network_evidence_", None)
    assert links is not None  # see `_reportable`
    return {
        "counts": {
            "nodes": result.n_nodes,
            "links": links.n_links,
            "self_loops": links.n_self_loops,
            "isolated_nodes": links.n_isolated,
            "features": result.n_features,
            "empty_features": int(np.count_nonzero(result.holders == 0)),
            "selected_features": len(chosen),
            "nodes_without_selected_features": result.n_without_selected,
        },
        "selected": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        "feature_names": names,
        "scores": [score if np.isfinite(score) else None for score in selector.scores_.tolist()],  # as JSON requires
        "ranking": selector.ranking_.tolist(),
        "measures": {measure: values.tolist() for measure, values in measures.items()},
        "network_evidence": None if evidence is None else {**asdict(evidence), "is_clear": evidence.is_clear},
    }


def _measures(selector: ScoreSelector, stability: FloatArray | None) -> dict[str, FloatArray]:
    """The measures that were computed for each feature, in addition to its score."""
    measures: dict[str, FloatArray] = {}
    if isinstance(selector, BlockModelSelector) and selector.block_model_.n_blocks > 1:
        measures = {
            "beyond_chance": selector.beyond_chance_.astype(int),
            "explained_more": selector.explained_more_,
            "explained_alone": selector.explained_alone_,
        }
    if stability is not None:
        n_features = len(selector.scores_)
        values = as_numbers("stability", stability, (n_features,), f"one value for each of the {n_features} features")
        fits = (values >= 0) & (values <= 1)
        check_entries("stability", values, fits, "is not a probability; pass values between 0 and 1")
        measures["stability"] = values
    tested = {measure: getattr(selector, f"{measure}s_", None) for measure in ("p_value", "q_value")}
    return measures | {measure: values for measure, values in tested.items() if values is not None}


def marked_blocks(markers: Markers, features: IntArray) -> list[list[int]]:
    """The blocks that each of these features marks, the strongest evidence first."""
    marks, evidence = markers.marks[:, features].T, markers.evidence[:, features].T
    by_evidence = np.argsort(-np.where(marks, evidence, -np.inf), axis=1, kind="stable")
    return [row[:n].tolist() for row, n in zip(by_evidence, marks.sum(axis=1), strict=True)]


def _blocks(
    selector: BlockGuidedSelector, result: Result, described: list[BlockDescription], means: FloatArray
) -> dict[str, Any]:
    """What the summary says about the k blocks; `means` (k, d) are the block means of the selected features."""
    model, k, linkage = selector.block_model_, len(described), getattr(selector, "linkage_", None)
    order = range(k) if linkage is None else leaf_order(linkage, np.zeros(k, dtype=np.intp)).tolist()
    similarity, reflected = means @ means.T, model.reflected().density
    refine = None  # BMGUFS never refines blocks
    if isinstance(selector, BlockModelSelector):
        refine = {"made": selector.refined_, "automatic": selector.refine == "auto", "reason": selector.refine_reason_}
    assert result.blocks is not None  # every selector with blocks has this record
    return {
        "count": k,
        "automatic": isinstance(selector.block_model, str) and selector.n_blocks == "auto",
        "given": selector.block_model is not None and not isinstance(selector.block_model, str),
        "reason": selector.n_blocks_reason_,
        "refine": refine,
        "seed_agreement": getattr(selector, "block_agreement_", None),
        "sizes": model.block_sizes.tolist(),
        "small": small_blocks(model.block_sizes.tolist()),
        "order": list(order),
        "density": model.density.tolist(),
        "similarity": similarity.tolist(),
        "reflected": not np.allclose(reflected, model.density, atol=1e-6 * model.density.max()),
        "link_pattern": block_patterns(reflected).tolist(),
        "feature_pattern": block_patterns(similarity).tolist(),
        "link_weights": result.blocks.link_weights.tolist(),
        "described": [
            {
                "name": one.name,
                "name_origin": one.origin,
                "share_within": one.share_within,
                "stability": one.stability,
                "links": one.links.to_dict("records"),
                "markers": one.markers[one.markers["selected"]].to_dict("records"),
                "other_markers": one.markers[~one.markers["selected"]][:_OTHERS].to_dict("records"),
                "n_other_markers": int((~one.markers["selected"]).sum()),
                "typical_nodes": [] if result.node_ids is None else [str(node) for node in one.typical_nodes],
            }
            for one in described
        ],
    }


def _tree(selector: BlockModelSelector, names: list[BlockName]) -> list[list[dict[str, Any]]]:
    """The groups of blocks at each level, coarse to fine."""
    sizes, levels = selector.block_model_.block_sizes, list[list[dict[str, Any]]]()
    for number in reversed(numbers_of_groups(len(sizes))):
        groups = groups_at(selector.linkage_, number)
        members = [np.flatnonzero(groups == group).tolist() for group in range(number)]
        levels.append(
            [
                {"name": name.text, "name_origin": name.origin, "blocks": blocks, "size": int(sizes[blocks].sum())}
                for name, blocks in zip(selector._group_names(groups, names), members, strict=True)
            ]
        )
    return levels


def block_names(summary: dict[str, Any]) -> list[str]:
    """The names of the blocks, in the order of their numbers."""
    return [one["name"] for one in summary["blocks"]["described"]]


def small_blocks(sizes: Sequence[int]) -> list[int]:
    """Blocks with less than 1 % of the nodes, which are reported together; empty unless there are at least two.

    Examples
    --------
    >>> small_blocks([500, 4, 490, 6])
    [1, 3]
    >>> small_blocks([996, 4])
    []
    """
    least = SMALL * sum(sizes)
    found = [block for block, size in enumerate(sizes) if size < least]
    return found if len(found) > 1 else []


def block_patterns(pairs: FloatArray) -> FloatArray:
    """Standardise each row of a matrix of block pairs (k, k); a constant row becomes 0.

    The row of a block then shows to which blocks it is tied more or less strongly than on average.
    """
    apart = pairs - pairs.mean(axis=1, keepdims=True)
    spread = apart.std(axis=1, keepdims=True)
    is_even = spread <= 1e-9 * np.abs(pairs).max(initial=0.0)
    patterns: FloatArray = np.where(is_even, 0.0, apart / np.where(is_even, 1.0, spread))
    return patterns
