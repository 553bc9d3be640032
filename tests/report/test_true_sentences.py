"""Every sentence of a page has the numbers of the data, which are counted again here from links and features."""

from __future__ import annotations

import html
import re
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from scipy.stats import beta, false_discovery_control
from sklearn.metrics import normalized_mutual_info_score

from blockselect import BlockModelSelector, make_attributed_blocks
from blockselect.report.page import make_report
from blockselect.utils.wording import count, per_cent, times

SUBSYSTEMS = [
    "Cell Envelope Biosynthesis",
    "Glycerophospholipid Metabolism",
    "tRNA Charging",
    "Cofactor and Prosthetic Group Biosynthesis",
    "Transport, Outer Membrane Porin",
    "Nucleotide Salvage Pathway",
]


def metabolism():
    """Reactions with two attributes: the subsystem, which the links follow, and an initial, which they do not."""
    rng, n = np.random.default_rng(0), 240
    graph = nx.Graph()
    for i in range(n):
        graph.add_node(f"R{i:03d}", subsystem=SUBSYSTEMS[i % 6], initial=str(rng.choice(list("ABCDE"))))
    for i in range(n):
        for j in range(i):
            probability = 0.17 if i % 6 == j % 6 else 0.04 if i % 3 == j % 3 else 0.005
            if rng.random() < probability:
                graph.add_edge(f"R{i:03d}", f"R{j:03d}")
    return graph


class Network:
    """A fitted selector, its page as text, and the data it was fitted to."""

    def __init__(self, selector, X, A, names, labels):
        self.selector, self.X, self.A, self.names = selector, X, A, np.array(names, dtype=object)
        self.blocks = selector.labels_
        self.known = np.array(labels)
        self.k, self.n = self.blocks.max() + 1, len(X)
        self.chosen = np.argsort(selector.ranking_)[: selector.n_features_]
        self.block_names = selector.blocks_["name"].tolist()
        self.marked = significant(X, self.blocks)
        page = make_report(selector, title="a network", labels=labels).html
        self.page = page
        self.text = plain(re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL))

    def finding(self, section):
        return plain(re.search(rf'<section id="{section}".*?<p class="finding">(.*?)</p>', self.page, re.DOTALL)[1])

    def lift(self, block, feature):
        return self.X[self.blocks == block, feature].mean() / self.X[:, feature].mean()

    def marks(self, block, selected=True):
        """The selected, or the other, features that mark a block."""
        return np.flatnonzero(self.marked[block] & (self.selector.support_ == selected)).tolist()


def significant(X, blocks):
    """Which features, of zeros and ones, are more common in each block, at a false discovery rate of 2.5 %: (k, m)."""
    assert set(np.unique(X)) == {0, 1}
    n, total = len(X), X.sum(axis=0)
    assert (X.var(axis=0) > 0).all()
    effective = total**2 / (n * X.var(axis=0, ddof=1))
    inside = np.array([X[blocks == block].sum(axis=0) for block in range(blocks.max() + 1)]) / total
    share = (np.bincount(blocks) / n)[:, None]
    p_values = np.ones_like(inside)
    more = inside > share + 1e-9
    tail = beta.cdf(share, effective * inside, effective * (1 - inside) + 1)
    p_values[more] = tail[more]
    return false_discovery_control(p_values, axis=None).reshape(p_values.shape) <= 0.025


def plain(part):
    text = html.unescape(re.sub(r"<[^>]*>", "", part))
    return " ".join(re.sub("[\u2068\u2069]", "", text).replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.fixture(scope="module", params=["planted", "metabolism", "two blocks"])
def network(request):
    if request.param == "metabolism":
        graph = metabolism()
        selector = BlockModelSelector(8, random_state=0).fit(graph)
        A = nx.to_numpy_array(graph, nodelist=list(graph))
        names = list(selector.feature_names_in_)
        values = [f"{name}={value}" for node in graph for name, value in graph.nodes[node].items()]
        X = np.array([[name in values[2 * row : 2 * row + 2] for name in names] for row in range(len(graph))], float)
        return Network(selector, X, A, names, [graph.nodes[node]["initial"] for node in graph])
    k = 2 if request.param == "two blocks" else 3
    made = make_attributed_blocks(
        150, k, n_informative=8, n_redundant=4, n_noise=18, mean_degree=8, random_state=1
    ).graph
    selector = BlockModelSelector(7, n_blocks=k, n_candidates=6, random_state=0).fit(made)
    names = [f"x{column}" for column in range(30)]
    return Network(
        selector, made.features.toarray(), made.adjacency.toarray(), names, [f"class {node % 2}" for node in range(150)]
    )


def test_the_first_sentences_count_nodes_links_blocks_and_what_is_left_out(network):
    d, n_links = len(network.chosen), np.count_nonzero(np.triu(network.A))
    assert f"{d} of {len(network.names)} features explain the structure of a network" in network.text
    assert f"The network has {network.n} nodes and {n_links:,} links;" in network.text
    assert f"There are {network.k} blocks of nodes with similar connection patterns (" in network.text
    without = np.count_nonzero(~network.X[:, network.chosen].any(axis=1))
    noun, have = ("node", "has") if without == 1 else ("nodes", "have")
    some = f"{without} {noun} ({per_cent(without / network.n)}) {have} none of the selected features"
    assert (some if without else "Every node has at least one of the selected features.") in network.text


def test_section_1_names_the_best_and_says_how_common_they_are(network):
    first, second, third = map(shown, network.names[network.chosen[:3]])
    half = per_cent(float(np.median((network.X[:, network.chosen] != 0).mean(axis=0))))
    assert network.finding("features") == (
        f"The best features are {first}, {second} and {third}. Half of the selected features occur in at least {half} "
        "of the nodes."
    )


def test_section_2_counts_the_blocks_that_selected_features_mark(network):
    n_markers = Counter({block: len(network.marks(block)) for block in range(network.k)})
    marked = sum(number > 0 for number in n_markers.values())
    found = network.finding("blocks")
    which = {network.k: {2: "Both"}.get(network.k, f"All {network.k}")}.get(marked, f"{marked} of {network.k}")
    assert found.startswith(f"{which} blocks are marked by at least one selected feature")
    (block, most), (_, second) = n_markers.most_common(2)
    by_most = f"the block “{network.block_names[block]}” has the most selected markers ({most})"
    at_most = f"no block has more than {count(most, 'selected marker')}"
    assert f"; {at_most if most == second else by_most}." in found
    others = sum(not n_markers[block] and bool(network.marks(block, False)) for block in range(network.k))
    assert (f" and {others} only by unselected features;" in found) == (others > 0)
    lift = max(network.lift(block, feature) for block in range(network.k) for feature in network.marks(block))
    sharpest = re.search(r"most specific feature is (.*), which is (.*) as common in the block “(.*?)” as", found)
    assert sharpest[2] == times(lift).replace("×", "times")
    ties = [
        (network.names[feature], network.block_names[block])
        for block in range(network.k)
        for feature in network.marks(block)
        if network.lift(block, feature) >= lift - 1e-9
    ]
    assert any(shown(name) == sharpest[1] and shown(block) == sharpest[3] for name, block in ties)
    assert f"those found with a different seed is about {network.selector.block_agreement_:.2f}." in found


def shown(name):
    return name if len(name) <= 32 else f"{name[:20]}…{name[-11:]}"


def test_cards_have_the_numbers_of_their_blocks(network):
    for block, card in re.findall(r'<h3 id="block-(\d+)">(.*?)</article>', network.page, re.DOTALL):
        block, text = int(block), plain(card)
        inside = network.blocks == block
        size, links = inside.sum(), network.A[inside]
        assert text.startswith(
            f"{network.block_names[block]} block {block} {size} nodes ({per_cent(size / network.n)}); "
        )
        assert f"{per_cent(links[:, inside].sum() / links.sum())} of its links are internal" in text
        assert len(network.marks(block)) <= 6  # as many as a card shows
        for feature in network.marks(block):
            assert f"{network.names[feature]} {times(network.lift(block, feature))} (" in text
        number = max(Counter(network.known[inside]).values())
        often = re.search(r"(Mostly|Most common:) (.*?) \((.*?)\)", text)
        assert Counter(network.known[inside])[often[2]] == number
        assert (often[1], often[3]) == ("Mostly" if 2 * number >= size else "Most common:", per_cent(number / size))
        for other, share in re.findall(r'<bdi title="([^"]*)">[^<]*</bdi> \(([\d.]+)\s%\)</span>', card):
            to = links[:, network.blocks == network.block_names.index(html.unescape(other))].sum() / links.sum()
            assert per_cent(to) == f"{share} %"


def test_labels_are_counted_by_block(network):
    uniform = sum(
        2 * max(Counter(network.known[network.blocks == block]).values()) >= np.count_nonzero(network.blocks == block)
        for block in range(network.k)
    )
    n_labels, nmi = len(set(network.known)), normalized_mutual_info_score(network.known, network.blocks)
    assert (
        f"The selection did not use these {n_labels} labels. In {uniform} of {network.k} blocks, at least half of the "
        f"nodes have the same label; the normalised mutual information between blocks and labels is {nmi:.2f}."
    ) in network.text


def test_the_tree_has_the_sizes_of_its_groups(network):
    cells = re.findall(
        r"<th scope=\"(?:row|rowgroup)\"[^>]*><bdi title=\"([^\"]*)\">[^<]*</bdi> <span class=\"muted\">([\d,]+)<",
        network.page,
    )
    if network.k < 6:
        assert not cells
        return
    sizes = Counter(network.block_names[block] for block in network.blocks)
    finest = {html.unescape(name): int(size) for name, size in cells if html.unescape(name) in sizes}
    coarse = Counter(network.selector.labels_at(network.k // 2).tolist())
    shown_sizes = Counter(int(size) for _, size in cells)
    assert not Counter(sizes.values()) - shown_sizes
    assert not Counter(coarse.values()) - shown_sizes
    assert finest.keys() == sizes.keys()


def standardised(pairs):
    return (pairs - pairs.mean(axis=1, keepdims=True)) / pairs.std(axis=1, keepdims=True)


def test_section_3_states_links_within_blocks_and_compares_only_three_blocks_or_more(network):
    same = network.blocks[:, None] == network.blocks
    found = network.finding("fit")
    assert found.startswith(f"{per_cent(network.A[same].sum() / network.A.sum())} of the links are within blocks.")
    assert ("correlation" in found) == ("Difference: features − links" in network.text) == (network.k > 2)
    if network.k == 2:
        return
    members = np.eye(network.k)[network.blocks]
    pairs = np.outer(members.sum(axis=0), members.sum(axis=0))
    links = standardised(members.T @ network.A @ members / pairs)
    Y = network.X[:, network.chosen]
    features = standardised(members.T @ Y @ Y.T @ members / pairs)
    assert float(re.search(r"correlation (-?[\d.]+)", found)[1]) == pytest.approx((links * features).mean(), abs=0.0051)
    differ = features - links
    row, column = np.unravel_index(np.abs(differ).argmax(), differ.shape)
    pattern = r"The largest difference is (?:within|between) the block “(.*?)”.*?: the association is ([\d.]+) standard"
    tie = re.search(pattern, network.text)
    assert float(tie[2]) == pytest.approx(abs(differ[row, column]), abs=0.051)
    assert tie[1] in {shown(name) for name in network.block_names}


def test_section_4_states_what_the_selected_features_explain(network):
    share = network.selector.levels_["explained"].iloc[-1]
    first, *_ = re.findall(r'<p class="lead">(.*?)</p>', network.page)
    assert f"{per_cent(share)} of the " in plain(first)
    assert f"({network.k} blocks)." in plain(first)
    found = network.finding("sure")
    explained = network.selector._fit_result.explained
    assert found.startswith(
        f"The {len(network.chosen)} selected features explain {per_cent(explained['share'])} of the block structure"
    )
    assert f"{per_cent(explained['all'])} for all features together" in found


def test_section_5_counts_candidates_and_correlated_features(network):
    table = network.selector.candidates_table_
    kept, every = int(table["in_consensus"].sum()), len(table)
    best = f"the {kept} best of" if kept > 1 else "the best of"
    if every > 1:
        assert f"ranked by how well they explain {best} {every} candidate block models." in network.finding("made")
    correlations = np.corrcoef(network.X[:, network.chosen].T) - 2 * np.eye(len(network.chosen))
    alike = np.count_nonzero(correlations.max(axis=1) >= 0.5)
    if alike:
        assert f"{alike} of {len(network.chosen)} selected features have a correlation of at least 0.5" in network.text
    else:
        stated = float(re.search(r"the highest correlation is (-?[\d.]+)", network.text)[1].rstrip("."))
        assert stated == pytest.approx(max(correlations.max(), 0), abs=0.0006) or correlations.max() < 0.1


def test_marks_in_the_table_are_those_of_the_blocks(network):
    for feature in network.chosen:
        marked = {network.block_names[block] for block in range(network.k) if feature in network.marks(block)}
        row = re.search(
            rf'data-label="feature"><bdi title="{re.escape(html.escape(network.names[feature]))}">.*?</tr>',
            network.page,
            re.DOTALL,
        )[0]
        cell = re.search(r'<td data-label="marks"(?: title="(.*?)")?>(.*?)</td>', row)
        assert (plain(cell[2]) == "none") == (not marked)
        assert (f"and {len(marked) - 1} more" in plain(cell[2])) == (len(marked) > 1)
        assert all(name in html.unescape(cell[1]) for name in marked)
        assert len(marked) == (cell[1] is not None) + html.unescape(cell[1] or "").replace(", Outer", "").count(", ")
