"""The findings of a selection in sentences, each with its number, for readers who have not read the paper."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from blockselect.report.explained_curve import ENOUGH, enough
from blockselect.report.small_blocks import SMALL
from blockselect.wording import count, in_text, listed, number, per_cent, times

STABLE = 0.9  # chance from which a feature is called stable


def headline(summary: dict[str, Any], details: dict[str, Any]) -> str:
    """The page in one line."""
    chosen, of = summary["counts"]["selected_features"], summary["counts"]["features"]
    if chosen == 0:
        return f"None of {count(of, 'feature')} explains the structure of {details['title']}"
    if summary["blocks"]["count"] == 1:
        return f"{count(chosen)} of {count(of, 'feature')} selected in {details['title']}, which has one block"
    verb = "explains" if chosen == 1 else "explain"
    return f"{count(chosen)} of {count(of, 'feature')} {verb} the structure of {details['title']}"


def lead(summary: dict[str, Any], details: dict[str, Any]) -> list[str]:
    """What the features explain, what was asked, the blocks, and what to keep in mind: a sentence each."""
    explained = features_explain(summary)
    first = [] if explained is None else [explained]
    return [*first, _asked(summary, details), f"{blocks_found(summary)}.", _mind(summary)]


def features_explain(summary: dict[str, Any]) -> str | None:
    """How much of the blocks the selected features explain, and all of them; None where that is not known.

    The page and the terminal begin with it.
    """
    explained, n_selected = summary["explained"], summary["counts"]["selected_features"]
    if explained is None or (n_selected and explained["share"] is None):
        return None
    of_all, what = explained["all"], "of which block a node is in"
    together = "" if of_all is None else f"; all features together explain {per_cent(of_all)}"
    if not n_selected:
        return f"No feature is selected{together}{f' {what}' if together else ''}."
    these = "This feature explains" if n_selected == 1 else f"These {count(n_selected)} features explain"
    return f"{these} {per_cent(explained['share'])} {what}{together}."


def _asked(summary: dict[str, Any], details: dict[str, Any]) -> str:
    counts, asked = summary["counts"], details["asked"]
    network = f"{count(counts['nodes'], 'node')} with {count(counts['links'], 'link')}"
    if asked == "auto":
        return f"You asked which features match the links better than chance, among {network}; no classes were used."
    few = counts["selected_features"] if asked is None else asked
    best = f"which {count(few)} features best explain" if few != 1 else "which feature best explains"
    return f"You asked {best} who links to whom, among {network}; no classes were used."


def blocks_found(summary: dict[str, Any]) -> str:
    """How many blocks there are and why, without a full stop; the terminal says the same."""
    blocks = summary["blocks"]
    if blocks["count"] == 1:
        return "All nodes are in one block, so there is no structure of blocks that features could explain"
    text = f"There are {count(blocks['count'])} blocks, groups of nodes that link alike ({blocks['reason']})"
    if blocks["small"]:
        text += f", {count(len(blocks['small']))} of them small, with fewer than {per_cent(SMALL)} of the nodes each"
    return text


def _mind(summary: dict[str, Any]) -> str:
    counts = summary["counts"]
    if not counts["selected_features"]:
        return "No feature was selected, so what follows is about the blocks alone."
    without, nodes = counts["nodes_without_selected_features"], counts["nodes"]
    stability = [row["stability"] for row in summary["selected"] if "stability" in row]
    again = ""
    if stability:
        chance = f"with a chance of {np.mean(stability):.2f} on average"
        again = f"On a resampled network a selected feature would be selected again {chance}; "
    if not without:
        return f"{again}every node has at least one of the selected features."
    have = "node has" if without == 1 else "nodes have"
    which = f"{count(without)} {have} none of the selected features ({per_cent(without / nodes)})"
    return f"{again}{which}, so these say nothing about {'it' if without == 1 else 'them'}."


def which_features(summary: dict[str, Any]) -> str:
    """Section 1."""
    selected = summary["selected"]
    if not selected:
        return "No feature is selected. All features can still be searched below, by their scores."
    best = [in_text(row["name"]) for row in selected[:3]]
    text = f"The strongest {'is' if len(best) == 1 else 'are'} {listed(best)}"
    stability = [row["stability"] for row in selected if "stability" in row]
    if stability:
        surely = sum(value >= STABLE for value in stability)
        text += f"; {count(surely)} of {count(len(stability))} would almost surely be selected again"
        text += f" (stability {STABLE} or more)"
    prevalence = per_cent(float(np.median([row["prevalence"] for row in selected])))
    common = f"It is in {prevalence}" if len(selected) == 1 else f"Half of the selected are in {prevalence} or more"
    return f"{text}. {common} of the nodes."


def what_marks_blocks(summary: dict[str, Any]) -> str:
    """Section 2."""
    blocks = summary["blocks"]
    if blocks["count"] == 1:
        return "There is one block only, so no feature marks one block more than another."
    marked = Counter(row["marked_block"] for row in summary["selected"] if row["marked_block"] is not None)
    if not marked:
        return "No selected feature is more common in one block than in the others."
    block, features = marked.most_common(1)[0]
    strongest = max(summary["selected"], key=lambda row: row["lift"])
    return (
        f"{count(len(marked))} of {count(blocks['count'])} blocks are marked by a selected feature; most mark block "
        f"{block} ({count(features)}). The sharpest is {in_text(strongest['name'])}, {times(strongest['lift'])} as "
        f"common in block {strongest['marked_block']} as in all nodes."
    )


def share_within(summary: dict[str, Any]) -> float:
    """Share of the link weight that joins nodes of the same block."""
    weights = np.array(summary["blocks"]["link_weights"])
    return float(np.trace(weights) / weights.sum())


def agreement(summary: dict[str, Any]) -> float | None:
    """Correlation of whom each block is tied to by links and by features, the mean over the blocks."""
    links, features = (np.array(summary["blocks"][f"{kind}_pattern"]) for kind in ("link", "feature"))
    if not links.any() or not features.any():
        return None
    return round(float(np.mean(links * features)), 2) + 0.0  # no −0.00


def does_it_fit(summary: dict[str, Any]) -> str:
    """Section 3."""
    if summary["blocks"]["count"] == 1:
        return "With one block there is nothing to compare."
    text = f"{per_cent(share_within(summary))} of the links stay within a block"
    fit = agreement(summary)
    if fit is None:
        return f"{text}."
    how = "closely" if fit >= 0.9 else "well" if fit >= 0.7 else "partly" if fit >= 0.4 else "poorly"
    return f"{text}. The features repeat how blocks connect {how}: the correlation of the two patterns is {fit:.2f}."


def how_sure(summary: dict[str, Any]) -> str:
    """Section 4."""
    n_selected, explained = summary["counts"]["selected_features"], summary["explained"]
    if not n_selected:
        return "No feature is selected, so there is no cut to judge."
    if explained is None or explained["share"] is None:
        return "What the features explain cannot be measured here."
    share, curve = explained["share"], explained["curve"]
    text = "The selected feature explains" if n_selected == 1 else f"The {count(n_selected)} selected explain"
    text += f" {per_cent(share)} of which block a node is in"
    by_chance = next((point["random"] for point in curve if point["n_features"] == n_selected), None)
    if by_chance is not None:
        text += f", as many random features {per_cent(by_chance)}"
    fewer = enough(curve, n_selected)
    if fewer is not None and fewer < n_selected:
        text += f"; the first {count(fewer)} come within {per_cent(1 - ENOUGH)} of that"
    if curve and curve[-1]["n_features"] > n_selected:
        last = curve[-1]
        change = "hardly more" if last["share"] - share <= 0.02 * share else per_cent(last["share"])
        text += f"; {count(last['n_features'])} would explain {change}"
    return f"{text}."


def how_made(summary: dict[str, Any], details: dict[str, Any]) -> str:
    """Section 5."""
    candidates = summary["candidates"]
    method = {"BMGUFS": "the method of the paper (BMGUFS)", "BlockModelSelector": "the default of blockselect"}
    text = f"Made with {method.get(details['method'], details['method'])}, version {details['versions']['blockselect']}"
    if candidates is not None and len(candidates) > 1:
        kept = sum(row["in_consensus"] for row in candidates)
        text += f": {count(len(candidates))} candidate block models were compared, and the features are ranked by how "
        text += f"much of the best {f'{count(kept)} they explain' if kept > 1 else 'one they explain'}"
    effort = summary["effort"]
    if effort is not None and effort["was_cut"]:
        found = effort["candidates"]
        text += f" ({count(found['made'])} of {count(found['asked'])} that were asked for, as the network is large)"
    seed = "" if details["seeded"] else " No seed was set (random_state), so another run may differ a little."
    return f"{text}.{seed}"


def redundancy_found(details: dict[str, Any]) -> str:
    """Do the selected features repeat one another?"""
    found = details["redundancy"]
    if found is None:
        return "Fewer than two features are selected."
    if not found["n_alike"]:
        highest = found["pairs"][0]["correlation"] if found["pairs"] else 0.0
        return f"No two selected features are much alike: the highest correlation is {number(highest)}."
    return (
        f"{count(found['n_alike'])} of {count(found['n_compared'])} selected features have a partner that is alike "
        "(correlation 0.5 or more); one of each pair may be enough to read."
    )
