"""Sentences state the numbers of the result, in words for newcomers."""

from __future__ import annotations

import re

import pytest

from blockselect import BMGUFS, BlockModelSelector
from blockselect.report import sentences, summarize
from blockselect.utils.wording import per_cent

DETAILS = {
    "title": "cora",
    "method": "BlockModelSelector",
    "method_title": "Block models by consensus, the default",
    "versions": {"blockselect": "1.0"},
    "seeded": True,
}


def test_the_headline_counts(summary):
    assert sentences.headline(summary, DETAILS) == "7 of 30 features explain the structure of cora"
    none = {**summary, "counts": {**summary["counts"], "selected_features": 0}}
    assert sentences.headline(none, DETAILS) == "None of 30 features explains the structure of cora"


@pytest.mark.parametrize(("n_selected", "these"), [(7, "the 7 selected features are"), (1, "the selected feature is")])
def test_without_evidence_the_headline_claims_nothing_and_asks_for_the_order(summary, n_selected, these):
    doubtful = {
        **summary,
        "counts": {**summary["counts"], "selected_features": n_selected},
        "network_evidence": {"p_value": 0.45, "is_clear": False},
    }
    assert sentences.headline(doubtful, DETAILS) == f"No evidence that {these} associated with the links in cora"
    assert sentences.lead(doubtful)[0] == (
        "Selections on graphs with randomly permuted nodes fit equally well (p = 0.45). Are the rows of the feature "
        "matrix in the same order as the nodes of the graph?"
    )


def test_evidence_is_stated_in_one_sentence_if_it_was_tested(summary, selector):
    assert selector.network_evidence_.is_clear
    assert sentences.follows_network(summary) == (
        "The selected features are more strongly associated with this network than with any of 39 random relabelings "
        "of its nodes (p ≤ 0.025)."
    )
    one = {**summary, "counts": {**summary["counts"], "selected_features": 1}}
    assert sentences.follows_network(one).startswith("The selected feature is more strongly associated with ")
    assert sentences.follows_network({**summary, "network_evidence": None}) is None
    assert sentences.headline({**summary, "network_evidence": None}, DETAILS).startswith("7 of 30 features explain")


def test_sentences_say_what_is_explained_found_and_to_be_kept_in_mind(summary):
    explained, follows, network, found, mind = sentences.lead(summary)
    assert follows == sentences.follows_network(summary)
    assert explained == sentences.features_explain(summary)
    assert network == "The network has 80 nodes and 307 links; no class labels were used."
    assert found == "There are 3 blocks of nodes with similar connection patterns (as requested)."
    assert "with probability" in mind


def test_the_first_sentence_has_the_numbers_of_the_selector(summary, selector, graph):
    ours = per_cent(selector.levels_["explained"].iloc[-1])
    assert sentences.features_explain(summary) == f"The 7 selected features explain {ours} of the structure (3 blocks)."
    fine = BlockModelSelector(7, n_blocks=6, n_candidates=2, random_state=0)
    fine.fit(graph.features, adjacency=graph.adjacency)
    three, six = (per_cent(share) for share in fine.levels_["explained"])
    assert sentences.features_explain(summarize(fine)) == (
        f"The 7 selected features explain {three} of the coarse structure (3 groups) and {six} of the fine structure "
        "(6 blocks)."
    )
    paper = BMGUFS(7, n_blocks=3, random_state=0).fit(graph.features, adjacency=graph.adjacency)
    of_paper = sentences.features_explain(summarize(paper))
    assert re.match(
        r"The 7 selected features explain \d+ % of the block structure; all features together ",
        of_paper,
    )


@pytest.mark.parametrize(
    ("n_selected", "explained", "sentence"),
    [
        (
            64,
            {"share": 0.38, "all": None},
            "The 64 selected features explain 38 % of the block structure.",
        ),
        (
            1,
            {"share": 0.062, "all": 0.61},
            "The selected feature explains 6.2 % of the block structure; all features together explain 61 %.",
        ),
        (
            0,
            {"share": None, "all": 0.61},
            "No feature is selected; all features together explain 61 % of the block structure.",
        ),
        (0, {"share": None, "all": None}, "No feature is selected."),
        (5, {"share": None, "all": 0.61}, None),
        (5, None, None),
    ],
)
def test_the_first_sentence_says_what_is_known(n_selected, explained, sentence):
    summary = {"counts": {"selected_features": n_selected}, "explained": explained, "levels": None}
    assert sentences.features_explain(summary) == sentence


@pytest.mark.parametrize(
    ("numbers", "groups"), [((4, 9, 19, 38), 9), ((3, 6, 12, 25), 6), ((5, 11), 5), ((6, 12, 24, 48), 6), ((4, 8), 4)]
)
def test_the_coarse_level_is_the_one_closest_to_nine_groups(numbers, groups):
    levels = [{"n_blocks": number, "explained": number / 100} for number in numbers]
    explained = {"share": 0.5, "all": 0.6}
    summary = {"counts": {"selected_features": 60}, "explained": explained, "levels": levels}
    assert sentences.features_explain(summary) == (
        f"The 60 selected features explain {per_cent(groups / 100)} of the coarse structure ({groups} groups) and "
        f"{numbers[-1]} % of the fine structure ({numbers[-1]} blocks)."
    )


FOLLOW, DO_NOT = (
    "the features are associated with the blocks found from the links",
    "the features are not associated with the clear blocks in the links",
)


@pytest.mark.parametrize(
    ("refine", "sentence"),
    [
        ((True, True, FOLLOW), f"The blocks were refined with the features, because {FOLLOW}."),
        ((False, True, DO_NOT), f"The blocks were found from the links only, because {DO_NOT}."),
        ((True, False, "refine=True"), "The blocks were refined with the features, as requested."),
        ((False, False, "refine=False"), "The blocks were not refined with the features, as requested."),
    ],
)
def test_section_5_says_whether_blocks_were_refined(summary, refine, sentence):
    refine = dict(zip(("made", "automatic", "reason"), refine, strict=True))
    blocks = {**summary["blocks"], "refine": refine}
    assert sentence in sentences.how_made({**summary, "blocks": blocks}, DETAILS)


@pytest.mark.parametrize("change", [{"given": True}, {"count": 1}, {"refine": None}])
def test_nothing_is_said_of_refinement_where_none_is_possible(summary, change):
    assert sentences.blocks_refined({**summary, "blocks": {**summary["blocks"], **change}}) is None


def test_what_the_cut_explains_and_how_few_come_close(summary):
    curve = [
        {"n_features": size, "share": share, "random": share / 10}
        for size, share in ((1, 0.2), (4, 0.69), (7, 0.7), (28, 0.9))
    ]
    text = sentences.how_sure({**summary, "explained": {"share": 0.7, "all": 0.95, "curve": curve}, "candidates": None})
    assert text == (
        "The 7 selected features explain 70 % of the block structure, compared with 7 % for the same number of random "
        "features and 95 % for all features together. The top 4 explain at least 95 % of that share. The top 28 "
        "would explain 90 %."
    )
    assert (
        sentences.how_sure({**summary, "explained": None}) == "How much the features explain cannot be computed here."
    )


@pytest.mark.parametrize(
    ("n_levels", "n_models", "what"),
    [
        (1, 1, ""),
        (4, 1, " (all 4 levels)"),
        (1, 3, " (the 3 best block models)"),
        (4, 3, " (all levels of the 3 best block models)"),
    ],
)
def test_section_4_says_what_it_measures_beyond_the_finest_blocks(summary, n_levels, n_models, what):
    levels = [{"n_blocks": 3, "explained": 0.5}] * n_levels
    candidates = [{"in_consensus": model < n_models} for model in range(5)]
    text = sentences.how_sure({**summary, "levels": levels, "candidates": candidates})
    assert re.search(rf" % of the block structure{re.escape(what)}[.,]", text)


def test_a_search_that_was_cut_and_a_missing_seed_are_stated(summary):
    effort = {"was_cut": True, "candidates": {"made": 4, "asked": 12}}
    text = sentences.how_made({**summary, "effort": effort}, {**DETAILS, "seeded": False})
    assert "Because the network is large, only 4 of the 12 requested candidates were computed." in text
    assert "No seed was set" in text


def test_redundancy_is_stated():
    assert sentences.redundancy_found({"redundancy": None}) == "Fewer than two features are selected."
    found = {"n_alike": 0, "n_compared": 5, "pairs": [{"correlation": 0.312}]}
    assert "the highest correlation is 0.312" in sentences.redundancy_found({"redundancy": found})
    assert "2 of 5" in sentences.redundancy_found({"redundancy": {**found, "n_alike": 2}})


def test_what_the_selected_leave_out_is_stated(summary):
    whole = {**summary, "counts": {**summary["counts"], "nodes_without_selected_features": 0}}
    assert sentences.lead(whole)[-1].endswith(" Every node has at least one of the selected features.")
    one = {**summary, "counts": {**summary["counts"], "nodes_without_selected_features": 1}}
    assert sentences.lead(one)[-1].endswith(
        " 1 node (1.2 %) has none of the selected features, so the selection cannot describe it."
    )


def test_patterns_that_hardly_differ_are_said_to_do_so(summary):
    assert sentences.furthest(summary).startswith("The largest difference is ")
    same = {**summary["blocks"], "feature_pattern": summary["blocks"]["link_pattern"]}
    assert sentences.furthest({**summary, "blocks": same}) == "The two patterns are almost identical"


def test_rounding_errors_are_no_difference(summary):
    links = summary["blocks"]["link_pattern"]
    nearly = [[value * (1 - 1e-15) - 1e-16 for value in row] for row in links]
    differ = sentences.pattern_difference({**summary, "blocks": {**summary["blocks"], "feature_pattern": nearly}})
    assert not differ.any()
    assert "-" not in str(differ)


def test_no_agreement_is_claimed_without_evidence(summary):
    assert sentences.agreement(summary) is not None
    doubtful = {**summary, "network_evidence": {"p_value": 0.45, "is_clear": False}}
    assert sentences.agreement(doubtful) is None
    assert sentences.does_it_fit(doubtful).endswith(
        " are within blocks. The features are not compared with the links, because there is no evidence of an "
        "association."
    )


def test_low_agreement_does_not_deny_what_the_features_explain(summary):
    opposite = [[-value for value in row] for row in summary["blocks"]["link_pattern"]]
    low = {**summary, "blocks": {**summary["blocks"], "feature_pattern": opposite}}
    assert sentences.does_it_fit(low).endswith(
        " The selected features carry little information about how the blocks are connected (correlation -1.00); "
        "section 4 shows how well they explain which block each node belongs to."
    )


def test_no_agreement_is_claimed_where_it_cannot_be_measured(summary):
    k = summary["blocks"]["count"]
    even = {**summary, "blocks": {**summary["blocks"], "feature_pattern": [[0.0] * k] * k}}
    assert sentences.agreement(even) is None
    assert sentences.does_it_fit(even).endswith(" of the links are within blocks.")
    assert "how the blocks are connected (correlation " in sentences.does_it_fit(summary)
    same = {**summary, "blocks": {**summary["blocks"], "feature_pattern": summary["blocks"]["link_pattern"]}}
    assert sentences.agreement(same) == 1
