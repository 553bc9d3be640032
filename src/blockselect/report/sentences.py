"""The findings of a selection as sentences with numbers, for readers who have not read the paper."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from blockselect.blockmodels.levels import coarse_level
from blockselect.consensus.explained_curve import NEARLY_ALL, fewest_for_nearly_all
from blockselect.inspection.evidence import N_PERMUTATIONS
from blockselect.report.summarize import SMALL
from blockselect.utils.arrays import FloatArray
from blockselect.utils.wording import count, in_text, listed, number, per_cent, times

STABLE = 0.9  # features with at least this stability are called stable
_HARDLY = 0.05  # standard deviations; smaller differences count as zero


def headline(summary: dict[str, Any], details: dict[str, Any]) -> str:
    """The main finding, as the title of the page."""
    chosen, of = summary["counts"]["selected_features"], summary["counts"]["features"]
    if chosen == 0:
        return f"None of {count(of, 'feature')} explains the structure of {details['title']}"
    if is_doubtful(summary):
        return f"{no_evidence(summary)} in {details['title']}"
    if "blocks" not in summary:
        return f"{count(chosen)} of {count(of, 'feature')} selected in {details['title']} by {details['method_title']}"
    if summary["blocks"]["count"] == 1:
        return f"{count(chosen)} of {count(of, 'feature')} selected in {details['title']}, which has only one block"
    verb = "explains" if chosen == 1 else "explain"
    return f"{count(chosen)} of {count(of, 'feature')} {verb} the structure of {details['title']}"


def is_doubtful(summary: dict[str, Any]) -> bool:
    """Whether the test found no evidence that the selected features are associated with this graph."""
    evidence = summary["network_evidence"]
    return evidence is not None and not evidence["is_clear"]


def no_evidence(summary: dict[str, Any]) -> str:
    """The headline of a doubtful selection, without a full stop."""
    chosen = summary["counts"]["selected_features"]
    these = "the selected feature is" if chosen == 1 else f"the {count(chosen)} selected features are"
    return f"No evidence that {these} associated with the links"


def follows_network(summary: dict[str, Any]) -> str | None:
    """Whether the selected features are associated with this graph; None if this was not tested."""
    evidence, chosen = summary["network_evidence"], summary["counts"]["selected_features"]
    if evidence is None:
        return None
    p_value = f"{evidence['p_value']:.2g}"
    if not evidence["is_clear"]:
        return (
            f"Selections on graphs with randomly permuted nodes fit equally well (p = {p_value}). Are the rows of the "
            "feature matrix in the same order as the nodes of the graph?"
        )
    these = "The selected feature is" if chosen == 1 else "The selected features are"
    return (  # `is_clear` requires the smallest p-value that this number of permutations can give
        f"{these} more strongly associated with this network than with any of {N_PERMUTATIONS} random relabelings of "
        f"its nodes (p ≤ {p_value})."
    )


def lead(summary: dict[str, Any]) -> list[str]:
    """The opening sentences: the main findings, the size of the network, its blocks, and limits of the selection."""
    blocks = [f"{blocks_found(summary)}."] if "blocks" in summary else []
    return [*main_findings(summary), _network(summary), *blocks, _limits(summary)]


def main_findings(summary: dict[str, Any]) -> list[str]:
    """The first sentences on page and terminal: the share explained and the evidence, which comes first if unclear."""
    follows, explain = follows_network(summary), features_explain(summary) if "explained" in summary else None
    ordered = (follows, explain) if is_doubtful(summary) else (explain, follows)
    return [sentence for sentence in ordered if sentence is not None]


def features_explain(summary: dict[str, Any]) -> str | None:
    """How much of the blocks the selected features explain, at a coarse and at the finest level; None if unknown.

    Without levels, the share is compared with that of all features.
    """
    explained, n_selected = summary["explained"], summary["counts"]["selected_features"]
    if explained is None or (n_selected and explained["share"] is None):
        return None
    of_all, what = explained["all"], "of the block structure"
    together = "" if of_all is None else f"; all features together explain {per_cent(of_all)}"
    if not n_selected:
        return f"No feature is selected{together}{f' {what}' if together else ''}."
    these = _these_explain(n_selected)
    if not summary["levels"]:
        return f"{these} {per_cent(explained['share'])} {what}{together}."
    *coarser, finest = summary["levels"]
    fine = per_cent(finest["explained"])
    if not coarser:
        return f"{these} {fine} of the structure ({count(finest['n_blocks'], 'block')})."
    coarse = next(level for level in coarser if level["n_blocks"] == coarse_level(finest["n_blocks"]))
    return (
        f"{these} {per_cent(coarse['explained'])} of the coarse structure ({count(coarse['n_blocks'], 'group')}) and "
        f"{fine} of the fine structure ({count(finest['n_blocks'], 'block')})."
    )


def _these_explain(n_selected: int) -> str:
    return "The selected feature explains" if n_selected == 1 else f"The {count(n_selected)} selected features explain"


def _network(summary: dict[str, Any]) -> str:
    nodes, links = count(summary["counts"]["nodes"], "node"), count(summary["counts"]["links"], "link")
    return f"The network has {nodes} and {links}; no class labels were used."


def blocks_found(summary: dict[str, Any]) -> str:
    """How many blocks there are and why, without a full stop; the terminal prints the same sentence."""
    blocks = summary["blocks"]
    if blocks["count"] == 1:
        return "All nodes are in one block, so there is no block structure for the features to explain"
    text = f"There are {count(blocks['count'])} blocks of nodes with similar connection patterns ({blocks['reason']})"
    if blocks["small"]:
        text += f"; {count(len(blocks['small']))} of them contain fewer than {per_cent(SMALL)} of the nodes each"
    return text


def blocks_refined(summary: dict[str, Any]) -> str | None:
    """Whether the blocks were refined with the features, and why; None if there was nothing to refine."""
    blocks = summary["blocks"]
    refine = blocks["refine"]
    if refine is None or blocks["given"] or blocks["count"] == 1:
        return None
    if not refine["automatic"]:
        return f"The blocks were {'' if refine['made'] else 'not '}refined with the features, as requested."
    how = "refined with the features" if refine["made"] else "found from the links only"
    return f"The blocks were {how}, because {refine['reason']}."


def _limits(summary: dict[str, Any]) -> str:
    counts = summary["counts"]
    if not counts["selected_features"]:
        rest = "only the blocks" if "blocks" in summary else "all features"
        return f"No feature was selected, so the rest of this page describes {rest}."
    without, nodes = counts["nodes_without_selected_features"], counts["nodes"]
    again = ""
    if stability := _stability(summary):
        these = "the selected feature" if len(stability) == 1 else "the selected features"
        mean = f"{np.mean(stability):.2f}{' on average' if len(stability) > 1 else ''}"
        again = f"On a resampled network, {these} would be selected again with probability {mean}. "
    if not without:
        return f"{again}Every node has at least one of the selected features."
    noun, have, them = ("node", "has", "it") if without == 1 else ("nodes", "have", "them")
    these = f"{count(without)} {noun} ({per_cent(without / nodes)}) {have}"
    return f"{again}{these} none of the selected features, so the selection cannot describe {them}."


def _stability(summary: dict[str, Any]) -> list[float]:
    return [row["stability"] for row in summary["selected"] if "stability" in row]


def which_features(summary: dict[str, Any]) -> str:
    """The finding of section 1."""
    selected = summary["selected"]
    if not selected:
        return "No feature is selected. All features can still be searched and sorted below."
    best = [in_text(row["name"]) for row in selected[:3]]
    text = f"The best {'feature is' if len(best) == 1 else 'features are'} {listed(best)}."
    if len(stability := _stability(summary)) > 1:
        stable = sum(value >= STABLE for value in stability)
        they = "is stable: it" if stable == 1 else "are stable: they"
        again = f"would be selected again with probability {STABLE} or more"
        text += f" {count(stable)} of the {count(len(stability))} {they} {again}."
    prevalence = per_cent(float(np.median([row["prevalence"] for row in selected])))
    if len(selected) == 1:
        return f"{text} It occurs in {prevalence} of the nodes."
    return f"{text} Half of the selected features occur in at least {prevalence} of the nodes."


def where_they_occur(summary: dict[str, Any]) -> str:
    """How common the selected features are, and whether they are features of hubs."""
    selected, of_all = summary["selected"], number(summary["mean_degree"])
    if not selected:
        return f"No feature is selected. The nodes have {of_all} links on average."
    rare, common = (per_cent(pick(row["prevalence"] for row in selected)) for pick in (min, max))
    degree = number(float(np.mean([row["degree"] for row in selected])))
    occur = f"occurs in {rare}" if len(selected) == 1 else f"occur in {rare} to {common}"
    return (
        f"The selected {'feature' if len(selected) == 1 else 'features'} {occur} of the nodes. Nodes with "
        f"{'this' if len(selected) == 1 else 'a selected'} feature have {degree} links on average, compared with "
        f"{of_all} for all nodes."
    )


def do_they_follow(summary: dict[str, Any]) -> str:
    """How strongly the selected features are correlated between linked nodes, compared with all features."""
    every = f"{np.mean(summary['measures']['autocorrelation']):.2f}"
    if not summary["selected"]:
        return f"No feature is selected. The mean correlation between linked nodes is {every} for all features."
    mean = f"{np.mean([row['autocorrelation'] for row in summary['selected']]):.2f}"
    text = (
        f"The mean correlation between linked nodes is {mean} for the selected features and {every} for all features."
    )
    evidence = follows_network(summary)
    return text if evidence is None else f"{text} {evidence}"


def called(summary: dict[str, Any], block: int) -> str:
    """The name of a block, for use within a sentence."""
    found = summary["blocks"]["described"][block]
    return f"block {block}" if found["name_origin"] == "number" else f"the block “{in_text(found['name'])}”"


def what_marks_blocks(summary: dict[str, Any]) -> str:
    """The finding of section 2."""
    described, k = summary["blocks"]["described"], summary["blocks"]["count"]
    if k == 1:
        return "There is only one block, so no feature can distinguish between blocks."
    marked = Counter({block: len(one["markers"]) for block, one in enumerate(described) if one["markers"]})
    by_others = sum(not one["markers"] and one["n_other_markers"] > 0 for one in described)
    if not marked:
        text = "No selected feature is significantly more common in any block than in the whole network."
        return f"{text} Unselected features mark {count(by_others, 'block')}." if by_others else text
    (block, most), *others = marked.most_common(2)
    is_tied = bool(others) and others[0][1] == most
    some = "Both" if k == 2 else f"All {count(k)}"
    which = f"{some} blocks are" if len(marked) == k else f"{count(len(marked))} of {count(k)} blocks are"
    text = f"{which} marked by at least one selected feature"
    if by_others:
        text += f" and {count(by_others)} only by unselected features"
    at_most = f"no block has more than {count(most, 'selected marker')}"
    has_most = f"{called(summary, block)} has the most selected markers ({count(most)})"
    text += f"; {at_most if is_tied else has_most}"
    sharpest, where = max(
        ((row, each) for row in summary["selected"] for each in row["marked_blocks"]),
        key=lambda pair: pair[0]["block_lifts"][pair[1]],
    )
    lift = times(sharpest["block_lifts"][where]).removesuffix(" ×")
    return (
        f"{text}. The most specific feature is {in_text(sharpest['name'])}, which is "
        f"{lift} times as common in {called(summary, where)} as in the whole network."
    )


_ORIGINS = {  # sources of names other than selected features
    "other": "an unselected feature",
    "node": "a typical node",
    "links": "the block it links to",
}


def where_names_come_from(summary: dict[str, Any]) -> str:
    """Where the names of the blocks come from."""
    origins = {one["name_origin"] for one in summary["blocks"]["described"]}
    if origins == {"given"}:
        return "The block names were provided by the user."
    lighter = " or ".join(meaning for origin, meaning in _ORIGINS.items() if origin in origins)
    if "selected" in origins:
        rest = f"; names in lighter type come from {lighter}" if lighter else ""
        return f"Each block is named after its strongest selected marker that names no other block{rest}."
    return f"Each block is named after {lighter}." if lighter else "The blocks have no markers, so they are numbered."


def blocks_agree(summary: dict[str, Any]) -> str | None:
    """How similar the blocks would be with a different seed; None if unknown."""
    agreement = summary["blocks"]["seed_agreement"]
    if agreement is None:
        return None
    return (
        f"The adjusted Rand index between these blocks and those found with a different seed is about {agreement:.2f}."
    )


def labels_found(summary: dict[str, Any], details: dict[str, Any]) -> str:
    """How well the blocks match known labels."""
    found, n_blocks = details["labels"], summary["blocks"]["count"]
    return (
        f"The selection did not use these {count(found['n_labels'], 'label')}. In {count(found['n_uniform'])} of "
        f"{count(n_blocks, 'block')}, at least half of the nodes have the same label; the normalised mutual "
        f"information between blocks and labels is {found['nmi']:.2f}."
    )


def share_within(summary: dict[str, Any]) -> float:
    """Share of the link weight that joins nodes of the same block."""
    weights = np.array(summary["blocks"]["link_weights"])
    return float(np.trace(weights) / weights.sum())


def agreement(summary: dict[str, Any]) -> float | None:
    """Mean correlation, over blocks, of the link and feature patterns of a block; None if meaningless.

    With two blocks, this correlation is always 1 or −1. Features without evidence of an association with the links
    are not compared with them.
    """
    if summary["blocks"]["count"] <= 2 or is_doubtful(summary):
        return None
    links, features = (np.array(summary["blocks"][f"{kind}_pattern"]) for kind in ("link", "feature"))
    if not links.any() or not features.any():
        return None
    return round(float(np.mean(links * features)), 2) + 0.0  # avoids −0.00


def does_it_fit(summary: dict[str, Any]) -> str:
    """The finding of section 3."""
    if summary["blocks"]["count"] == 1:
        return "There is only one block, so there is nothing to compare."
    text = f"{per_cent(share_within(summary))} of the links are within blocks."
    if is_doubtful(summary):
        return f"{text} The features are not compared with the links, because there is no evidence of an association."
    fit = agreement(summary)
    if fit is None:
        return text
    if fit < 0.4:  # the features may still explain the blocks
        return (
            f"{text} The selected features carry little information about how the blocks are connected (correlation "
            f"{fit:.2f}); section 4 shows how well they explain which block each node belongs to."
        )
    how = "closely" if fit >= 0.9 else "largely" if fit >= 0.7 else "partly"
    return f"{text} The selected features {how} reproduce how the blocks are connected (correlation {fit:.2f})."


def pattern_difference(summary: dict[str, Any]) -> FloatArray:
    """Standardised association of each pair of blocks in the features minus that in the links, (k, k)."""
    difference: FloatArray = np.subtract(summary["blocks"]["feature_pattern"], summary["blocks"]["link_pattern"])
    return difference.round(2) + 0.0  # rounding removes numerical noise, and adding 0.0 avoids −0


def furthest(summary: dict[str, Any]) -> str:
    """Where the patterns of links and features differ most, without a full stop."""
    differ = pattern_difference(summary)
    row, column = np.unravel_index(np.abs(differ).argmax(), differ.shape)
    value = differ[row, column]
    if abs(value) < _HARDLY:
        return "The two patterns are almost identical"
    first, second = (called(summary, int(block)) for block in (row, column))
    where = f"within {first}" if row == column else f"between {first} and {second}"
    how = "stronger" if value > 0 else "weaker"
    tie = f"the association is {abs(value):.1f} standard deviations {how} in the features than in the links"
    return f"The largest difference is {where}: {tie}"


def how_sure(summary: dict[str, Any]) -> str:
    """The finding of section 4."""
    n_selected, explained = summary["counts"]["selected_features"], summary["explained"]
    if not n_selected:
        return "No feature is selected, so there is nothing to assess."
    if explained is None or explained["share"] is None:
        return "How much the features explain cannot be computed here."
    share, curve = explained["share"], explained["curve"]
    text = f"{_these_explain(n_selected)} {per_cent(share)} of the block structure{_at_all_levels(summary)}"
    by_chance = next((point["random"] for point in curve if point["n_features"] == n_selected), None)
    compared = []
    if by_chance is not None:
        random = "a random feature" if n_selected == 1 else "the same number of random features"
        compared.append(f"{per_cent(by_chance)} for {random}")
    if explained["all"] is not None:
        compared.append(f"{per_cent(explained['all'])} for all features together")
    if compared:
        text += f", compared with {listed(compared)}"
    fewer = fewest_for_nearly_all(curve, n_selected)
    if fewer is not None and fewer < n_selected:
        text += f". The top {count(fewer)} explain at least {per_cent(NEARLY_ALL)} of that share"
    if curve and curve[-1]["n_features"] > n_selected:
        last = curve[-1]
        change = "little more" if last["share"] - share <= 0.02 * share else per_cent(last["share"])
        text += f". The top {count(last['n_features'])} would explain {change}"
    return f"{text}."


def _at_all_levels(summary: dict[str, Any]) -> str:
    """The levels and block models that section 4 covers, if these are more than the first sentence covers."""
    n_levels = len(summary["levels"] or [])
    n_models = sum(row["in_consensus"] for row in summary["candidates"] or [])
    levels = f"all {count(n_levels)} levels" if n_levels > 1 else ""
    if n_models > 1:
        return f" ({'all levels of ' if levels else ''}the {count(n_models)} best block models)"
    return f" ({levels})" if levels else ""


def how_made(summary: dict[str, Any], details: dict[str, Any]) -> str:
    """The finding of section 5."""
    candidates, effort = summary.get("candidates"), summary.get("effort")
    method = {"BMGUFS": "the method of the paper, BMGUFS", "BlockModelSelector": "the default method"}
    maker = method.get(details["method"], details["method_title"])
    text = f"The features were selected with {maker} (blockselect {details['versions']['blockselect']})."
    if candidates is not None and len(candidates) > 1:
        kept = sum(row["in_consensus"] for row in candidates)
        best = f"the {count(kept)} best of" if kept > 1 else "the best of"
        text += f" They are ranked by how well they explain {best} {count(len(candidates))} candidate block models."
    if "blocks" in summary and (refined := blocks_refined(summary)):
        text += f" {refined}"
    if effort is not None and effort["was_cut"]:
        made, asked = (count(effort["candidates"][key]) for key in ("made", "asked"))
        text += f" Because the network is large, only {made} of the {asked} requested candidates were computed."
    if not details["seeded"]:
        text += " No seed was set (random_state), so results may differ slightly between runs."
    return text


def redundancy_found(details: dict[str, Any]) -> str:
    """Whether the selected features are redundant."""
    found = details["redundancy"]
    if found is None:
        return "Fewer than two features are selected."
    if not found["n_alike"]:
        highest = found["pairs"][0]["correlation"] if found["pairs"] else 0.0
        return f"No two selected features are strongly correlated: the highest correlation is {number(highest)}."
    return (
        f"{count(found['n_alike'])} of {count(found['n_compared'])} selected features have a correlation of at least "
        "0.5 with another selected feature; one feature of each such pair may be enough."
    )
