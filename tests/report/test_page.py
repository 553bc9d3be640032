"""The page states what was found, has all sections in every unusual state, and no name can break it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from blockselect import (
    BMGUFS,
    BlockModelSelector,
    check_attributed_graph,
    make_selector,
    plot,
    selection_stability,
)
from blockselect.blockmodels.markers import Markers
from blockselect.report import sentences
from blockselect.report.details import feature_rows
from blockselect.report.page import cards, digits, heat_rows, lift_shade, make_report, shade, template_environment
from blockselect.report.summarize import summarize_scores
from blockselect.rows.chunks import RowChunks
from blockselect.utils.wording import per_cent
from made_reports import NASTY_NAMES, STATES, page, planted, report

VOID = {"meta", "link", "input"}


class Outline(HTMLParser):
    """Text, headings, ids and tags of a page; an error where tags do not close in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.headings, self.ids, self.tags, self.outside = [], [], [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        self.outside += [given[name] for name in ("src", "href") if name in given]
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.outside += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["script"], ["style"]):
            self.text.append(data)


@pytest.fixture(scope="module", params=STATES)
def state(request):
    made = page(request.param)
    return made, Outline(made.html), STATES[request.param][1]


BY_BLOCKS = ("What marks each block?", "Do the features fit the network?", "How reliable is the selection")
WITHOUT_BLOCKS = ("Where do they occur?", "Are they associated with the network?")


def test_every_state_says_what_it_is_with_all_its_sections(state):
    _, outline, sentence = state
    text = re.sub(r"\s+", " ", "".join(outline.text))
    assert sentence in text
    shown, others = (WITHOUT_BLOCKS, BY_BLOCKS) if sentence.endswith("by Variance") else (BY_BLOCKS, WITHOUT_BLOCKS)
    assert all(title in text for title in ("Which features?", *shown, "How was it computed?", "Glossary"))
    assert not any(title in text for title in others)
    assert not re.search(r"\b(nan|inf|None|undefined)\b", text.split("Settings (bold")[0].replace("None of ", ""))


def test_headings_are_in_order_and_ids_are_unique(state):
    _, outline, _ = state
    assert outline.headings[0] == 1
    assert all(later - earlier <= 1 for earlier, later in zip(outline.headings, outline.headings[1:], strict=False))
    assert len(set(outline.ids)) == len(outline.ids)


def test_nothing_outside_the_page_is_named(state):
    made, outline, _ = state
    assert all(target.startswith(("#", "data:")) for target in outline.outside)
    assert "http://" not in made.html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in made.html


def test_charts_have_a_text_that_states_the_finding(state):
    _, outline, _ = state
    labels = [given.get("aria-label") for tag, given in outline.tags if tag == "svg"]
    assert labels
    assert all(labels)


def test_ten_terms_are_explained_and_six_without_blocks(state):
    _, outline, sentence = state
    assert sum(tag == "dt" for tag, _ in outline.tags) == (6 if sentence.endswith("by Variance") else 10)


def data_of(made):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', made.html, flags=re.DOTALL)
    return json.loads(text)


def test_nasty_names_come_back_as_they_were():
    data = data_of(page("nasty names"))
    assert set(NASTY_NAMES) <= {row[0] for row in data["rows"]}


def test_the_table_holds_all_features_the_selected_first():
    graph = planted()
    selector = BlockModelSelector(7, n_blocks=3, n_candidates=4, random_state=0)
    data = data_of(report(graph, selector))
    assert [row[3] for row in data["rows"]] == [1] * 7 + [0] * 23
    assert [row[1] for row in data["rows"]] == list(range(1, 31))
    assert data["rows"][0][2] == pytest.approx(selector.scores_.max(), rel=1e-5)
    assert all(len(row[-1]) == 3 and set(row[-1]) <= set("0123456789") for row in data["rows"])
    assert data["measures"] == ["beyond_chance", "explained_more", "explained_alone", "stability"]


@pytest.mark.parametrize("n_selected", [3, 30])
def test_a_line_is_above_the_first_feature_that_may_follow_by_chance(n_selected):
    selector = BlockModelSelector(n_selected, n_blocks=3, n_candidates=4, random_state=0)
    (table,) = re.findall(r'<table class="features".*?</table>', report(planted(), selector).html, flags=re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1], flags=re.DOTALL)
    n_clear = int(selector.beyond_chance_.sum())
    assert 3 < n_clear < 30
    assert [place for place, row in enumerate(rows) if "chance" in row] == ([n_clear] if n_selected == 30 else [])
    assert len([row for row in rows if 'data-label="feature"' in row]) == n_selected


def test_levels_are_a_table_of_section_4():
    selector = BlockModelSelector(7, n_blocks=6, n_candidates=4, random_state=0)
    html = report(planted(), selector).html
    (levels,) = re.findall(r'<table class="plain" id="levels">.*?</table>', html, flags=re.DOTALL)
    cells = re.findall(r'<td class="num">(.*?)</td>', levels)
    assert cells == [
        cell for number, share in selector.levels_.to_numpy() for cell in (f"{number:.0f}", per_cent(share, zeros=True))
    ]


def large_table(n_features, name="feature_{:06d}"):
    rng = np.random.default_rng(0)
    summary = {
        "selected": [{"index": index} for index in range(500)],
        "feature_names": [name.format(index) for index in range(n_features)],
        "scores": np.linspace(1, 1e-5, n_features).tolist(),
        "ranking": list(range(1, n_features + 1)),
        "measures": {
            "beyond_chance": rng.integers(2, size=n_features).tolist(),
            **{name: rng.random(n_features).tolist() for name in ("explained_more", "explained_alone", "stability")},
        },
    }
    means = rng.random((12, n_features))
    ones = np.ones(n_features)
    markers = Markers(ones, means, means, means, means > 0.8, means.argmax(axis=0), ones, ones, np.ones(12) / 12, 0.01)
    return feature_rows(summary, markers)


def test_a_hundred_thousand_features_take_less_than_ten_megabytes():
    table = large_table(100_000)
    assert len(table["rows"]) == 100_000
    assert len(json.dumps(table, separators=(",", ":"))) < 9_100_000


def test_very_long_names_leave_out_the_last_features_rather_than_grow_the_page():
    table = large_table(5_000, name="حمض" * 500 + "{}")
    assert 500 < len(table["rows"]) < 5_000
    assert 8_900_000 < len(json.dumps(table, separators=(",", ":"))) < 9_100_000


def test_the_same_input_gives_the_same_bytes():
    assert report(planted(names=NASTY_NAMES)).to_bytes() == page("nasty names").to_bytes()


@pytest.fixture(scope="module")
def fitted():
    graph = planted(names=["first"])
    selector = BlockModelSelector(5, n_blocks=3, n_candidates=2, random_state=0)
    return selector.fit(graph.features, adjacency=graph.adjacency), graph


def test_a_selector_writes_its_page(fitted, tmp_path):
    selector, _ = fitted
    path = selector.report(tmp_path / "report.html", title="my <network>")
    assert path.read_text(encoding="utf-8") == make_report(selector, title="my <network>").html
    assert "my &lt;network&gt;" in path.read_text(encoding="utf-8")


def test_a_page_is_written_only_as_html_and_other_names_are_refused_at_once(fitted, tmp_path):
    selector, _ = fitted
    for name in ("page.pdf", "page"):
        with pytest.raises(ValueError, match=rf"path is '.*{name}', but a report is an HTML page; .* ends in \.html"):
            BlockModelSelector().report(tmp_path / name)  # before it is known that nothing is fitted
        with pytest.raises(ValueError, match="a report is an HTML page"):
            selector.show_report().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_shown_in_a_frame_of_its_own(fitted):
    selector, _ = fitted
    shown = selector.show_report()._repr_html_()
    frame = Outline(shown).tags[0]
    assert frame[0] == "iframe"
    assert frame[1]["srcdoc"].startswith("<!DOCTYPE html>")


def test_stability_passed_on_is_shown(fitted):
    selector, graph = fitted
    stability = selection_stability(selector, graph.features, adjacency=graph.adjacency, n_resamples=3)
    assert "would be selected again with probability 0.9 or more." in selector.show_report(stability=stability).html


def test_features_in_chunks_are_refused(tmp_path):
    graph = planted()
    chunks = RowChunks.from_blocks([graph.features[:50], graph.features[50:]])
    selector = BMGUFS(4, n_blocks=3, n_candidates=1, random_state=0).fit(chunks, adjacency=graph.adjacency)
    with pytest.raises(ValueError, match="fit to row chunks does not keep; use table"):
        selector.report(tmp_path / "report.html")


WITHOUT_PACKAGE = """
import sys
sys.modules["{package}"] = None
from blockselect import BMGUFS, make_attributed_blocks
from blockselect.report import scores_table, summarize
made = make_attributed_blocks(40, 2, random_state=0)
selector = BMGUFS(3, n_blocks=2, n_candidates=2).fit(made.features, adjacency=made.adjacency)
print(scores_table(summarize(selector)).split(",")[0])
for use in (selector.show_report, lambda: __import__("blockselect.plot")):
    try:
        use()
    except ImportError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("package", "refused"), [("jinja2", ["figures and reports"]), ("matplotlib", ["figures and reports", "plots"])]
)
def test_without_a_package_of_the_extra_the_error_names_it_and_the_rest_works(package, refused):
    command = [sys.executable, "-c", WITHOUT_PACKAGE.format(package=package)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    how = f"need {package}; install it with: pip install 'blockselect[report]'."
    assert done.stdout.splitlines() == ["rank", *(f"{what} {how}" for what in refused)]


def test_a_report_of_constant_features_can_be_made():
    graph = planted()
    graph = check_attributed_graph(np.ones((graph.n_nodes, 4)), graph.adjacency)
    assert "<title>" in report(graph, BMGUFS(2, n_blocks=2, random_state=0)).html


@pytest.mark.parametrize("kind", [BMGUFS, BlockModelSelector])
@pytest.mark.parametrize(
    ("n_nodes", "seed", "exponents"),
    [(2, 0, (-60, 60, -60)), (3, 4, (60, 0, -60)), (3, 8, (0, -60, -60)), (4, 0, (60, 60, -60)), (4, 1, (0, 60, 0))],
)
def test_a_report_of_columns_of_any_scale_can_be_made(kind, n_nodes, seed, exponents):
    features = np.random.default_rng(seed).random((n_nodes, 3)) * 10.0 ** np.array(exponents)
    graph = check_attributed_graph(features, np.ones((n_nodes, n_nodes)) - np.eye(n_nodes))
    assert "<title>" in report(graph, kind(2, n_blocks=2, random_state=0)).html


def test_control_characters_of_names_do_not_reach_the_file():
    content = report(planted(names=["\x1b[31mred", "bell\x07", "\x9bC1"]), labels=["\x1b"] * 80).to_bytes().decode()
    assert not re.search(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]", content)
    assert "?[31mred" in content


def test_a_name_that_is_not_public_is_no_attribute():
    import blockselect.report

    with pytest.raises(AttributeError, match=r"module 'blockselect\.report' has no attribute 'draw_overviews'"):
        _ = blockselect.report.draw_overviews


def test_a_graph_made_from_the_features_is_announced_on_the_page():
    features = planted().features
    selector = BlockModelSelector(5, n_blocks=3, n_candidates=2, random_state=0)
    with pytest.warns(UserWarning, match="given no adjacency"):
        selector.fit(features)
    assert "fit was given no adjacency" in selector.show_report().html


def test_a_table_and_a_networkx_graph_are_known_again():
    networkx = pytest.importorskip("networkx")
    graph = planted()
    names = [f"node {i}" for i in range(graph.n_nodes)]
    table = pd.DataFrame(graph.features.toarray(), index=names, columns=[f"gene {i}" for i in range(30)])
    links = networkx.from_scipy_sparse_array(graph.adjacency)
    links = networkx.relabel_nodes(links, dict(enumerate(names)))
    selector = BlockModelSelector(5, n_blocks=3, n_candidates=2, random_state=0).fit(table, adjacency=links)
    assert "The best features are \u2068gene " in selector.show_report().html
    assert plot.ordered_adjacency(selector, Figure().subplots()).images
    assert plot.features_by_block(selector, Figure().subplots()).images


def test_a_report_is_printed_in_one_line(graph, selector):
    made = make_report(selector, title="R & D")
    size = round(len(made.to_bytes()) / 1000)
    assert repr(made) == f"Report('7 of 30 features explain the structure of R & D', {size} kB)"


@pytest.fixture(scope="module")
def without_blocks(graph):
    selector = make_selector("laplacian-score", 7).fit(graph.features, adjacency=graph.adjacency)
    return selector, summarize_scores(selector)


def test_a_page_without_blocks_shows_where_features_occur_and_how_linked_nodes_agree(graph, without_blocks):
    _, summary = without_blocks
    X, A = graph.features.toarray(), graph.adjacency.toarray()
    degrees = (A > 0).sum(axis=1)
    i, j = np.nonzero(np.triu(A, 1))
    for row in summary["selected"]:
        column = X[:, row["index"]]
        assert row["prevalence"] == np.mean(column != 0)
        assert row["degree"] == pytest.approx(degrees[column != 0].mean())
        ends = column[np.r_[i, j]], column[np.r_[j, i]]
        assert row["autocorrelation"] == pytest.approx(np.corrcoef(*ends)[0, 1])
    assert summary["mean_degree"] == pytest.approx(degrees.mean())
    mean = np.mean([row["autocorrelation"] for row in summary["selected"]])
    assert f"linked nodes is {mean:.2f} for the selected features" in sentences.do_they_follow(summary)


def test_any_method_writes_its_page_about_the_network_of_its_fit(graph, without_blocks, tmp_path):
    selector, _ = without_blocks
    written = selector.report(tmp_path / "page.html", title="here").read_text(encoding="utf-8")
    assert "<h1>7 of 30 features selected in here by Laplacian score</h1>" in written
    assert "selector = make_selector(&#39;laplacian-score&#39;).set_params(n_features_to_select=7)" in written
    (data,) = re.findall(r'id="data">(.*?)</script>', written)
    assert json.loads(data)["blocks"] is None
    alone = make_selector("variance", 7).fit(graph.features)
    with pytest.raises(ValueError, match=r"fit was given none; use fit\(X, adjacency=graph\)"):
        alone.show_report()
    shown = alone.fit(graph.features, adjacency=graph.adjacency).show_report(labels=["a"] * 80).html
    assert "by Variance" in shown
    assert "labels are compared with blocks, but VarianceScore finds no blocks." in shown


def test_an_undefined_score_and_no_selection_have_a_page(graph):
    features = graph.features.toarray()
    features[:, 3] = 1.0
    constant = make_selector("variance", 7).fit(features, adjacency=graph.adjacency)
    (data,) = re.findall(r'id="data">(.*?)</script>', constant.show_report().html)
    assert [row[2] for row in json.loads(data)["rows"]].count(None) == 1
    summary = {**summarize_scores(constant), "selected": []}
    assert sentences.where_they_occur(summary).startswith("No feature is selected.")
    assert sentences.do_they_follow(summary).startswith("No feature is selected.")


@pytest.mark.parametrize(
    ("lift", "step"),
    [(0.0, "m3"), (0.3, "m2"), (0.6, "m1"), (1.0, "z"), (2.0, "p1"), (5.0, "p2"), (41.4, "p3")],
)
def test_a_cell_is_a_step_around_as_expected(lift, step):
    assert lift_shade(lift) == step


def test_a_share_is_shaded_from_its_first_step_on():
    assert [shade(share, (0.05, 0.2, 0.5)) for share in (0.0, 0.05, 0.3, 1.0)] == ["z", "p1", "p2", "p3"]


def test_nothing_has_no_sign():
    assert [digits(value, 1) for value in (0.02, -0.02, 50.0, -50.0)] == ["0", "0", "50.0", "-50.0"]


def test_features_are_ordered_by_the_block_they_mark(summary):
    blocks = [3 if row["marked_block"] is None else row["marked_block"] for row in heat_rows(summary)]
    assert blocks == sorted(blocks)
    assert len(blocks) == 7
    other_order = {**summary, "blocks": {**summary["blocks"], "order": [2, 0, 1]}}
    assert heat_rows(other_order)[0]["marked_block"] == 2


def test_a_heat_map_has_all_features_up_to_a_megabyte(summary):
    assert len(heat_rows({**summary, "selected": summary["selected"] * 300})) == 2100
    assert len(heat_rows({**summary, "selected": summary["selected"] * 2000})) == 13_333


def test_the_page_says_how_many_features_the_heat_map_leaves_out(monkeypatch):
    monkeypatch.setattr("blockselect.report.page._HEAT_CELLS", 6)
    assert (
        "Only the first 2 of 7 selected features are shown; selected.csv contains all of them."
        in report(planted()).html
    )


def test_the_page_states_how_stable_the_blocks_are():
    selector = BlockModelSelector(7, n_blocks=4, n_candidates=12, random_state=0)
    html = report(planted(), selector).html
    assert f"those found with a different seed is about {selector.block_agreement_:.2f}." in html
    for stability in selector.block_stability_:
        assert f">Stability {stability:.2f}</p>" in html
    one_model = report(planted(), BlockModelSelector(7, n_blocks=4, n_candidates=4, random_state=0)).html
    assert "found with a different seed" not in one_model


@pytest.mark.parametrize(("n_blocks", "compared"), [(2, False), (3, True)])
def test_two_blocks_are_not_compared_because_their_correlation_is_always_one(n_blocks, compared):
    html = report(planted(n_blocks=n_blocks), BlockModelSelector(7, n_blocks=n_blocks, random_state=0)).html
    assert "of the links are within blocks." in html
    for claim in ("features − links", "how the blocks are connected (correlation", "he largest difference"):
        assert (claim in html) is compared, claim


def test_a_page_that_doubts_the_features_claims_no_agreement():
    graph = planted()
    rows = np.random.default_rng(0).permutation(graph.n_nodes)
    html = report(replace(graph, features=graph.features[rows]), BlockModelSelector(7, n_blocks=3, random_state=0)).html
    assert "<h1>No evidence that the 7 selected features are associated with the links in a network</h1>" in html
    assert "of the links are within blocks. The features are not compared with the links, because" in html
    for claim in ("features − links", "how the blocks are connected", "The two patterns are almost identical"):
        assert claim not in html


def drawn_matrix(values, names):
    source = '{% from "charts.jinja" import matrix %}{{ matrix(values, names, order, "what", "alt", diverging=true) }}'
    order = list(range(len(names)))
    return Outline(template_environment().from_string(source).render(values=values, names=names, order=order))


def test_small_differences_are_pale():
    values = [[0.02, -0.01], [0.0, 0.02]]
    drawn = drawn_matrix(values, ["a", "b"])
    assert max(float(given["fill-opacity"]) for tag, given in drawn.tags if tag == "rect") == 0.01


def test_small_blocks_are_listed_together(summary):
    shown, others = cards(summary["blocks"])
    assert [card["size"] for card in shown] == sorted(summary["blocks"]["sizes"], reverse=True)
    assert others == []
    shown, others = cards({**summary["blocks"], "sizes": [2000, 5, 9], "small": [1, 2]})
    assert ([card["block"] for card in shown], [block["block"] for block in others]) == ([0], [2, 1])


def test_of_fifty_blocks_the_largest_have_cards_and_the_others_are_listed(summary):
    described = summary["blocks"]["described"][:1] * 50
    shown, others = cards({"sizes": list(range(31, 81)), "described": described, "small": []})
    assert [card["block"] for card in shown] == list(range(49, 37, -1))
    assert [block["block"] for block in others] == list(range(37, -1, -1))
    assert others[-1]["markers"][0]["feature"] == described[0]["markers"][0]["feature"]


@pytest.mark.parametrize("k", [1, 12, 40])
def test_a_matrix_is_relative_to_its_largest_and_few_blocks_have_numbers(k):
    values = (np.arange(k * k, dtype=float).reshape(k, k) - 1).tolist()
    drawn = drawn_matrix(values, [f"block {block}" for block in range(k)])
    cells = [given for tag, given in drawn.tags if tag == "rect"]
    assert len(cells) == k * k
    assert max(float(cell["fill-opacity"]) for cell in cells) == (0.5 if k <= 12 else 1)
    assert [cell["class"] for cell in cells[:2]] == ["less", "more"][: k * k]
    assert sum(given.get("class") == "value" for _, given in drawn.tags) == (k * k if k <= 12 else 0)
    assert sum(given.get("class") == "tick" for _, given in drawn.tags) == k


def text_of(html, pattern):
    return " ".join(re.sub(r"<[^>]*>", " ", re.search(pattern, html, re.DOTALL)[0]).split())


def test_cards_are_headed_by_the_name_with_the_number_and_the_most_frequent_label(fitted):
    selector, _ = fitted
    labels = np.where(selector.labels_ == 1, "CD4 T", [f"other {node % 5}" for node in range(80)])
    html = make_report(selector, labels=labels).html
    name = selector.blocks_["name"][1]
    card = text_of(html, r'<h3 id="block-1">.*?</article>')
    assert card.startswith(f"{name} block 1 ")
    assert "Mostly CD4 T (100 %)" in card
    assert re.search('<p>Most common: <bdi title="other [0-4]">', html)
    assert f'<th scope="row"><bdi title="{name}">' in html  # in the table of labels


def test_other_markers_stand_in_lighter_type_on_the_card_of_a_block_without_selected_ones(summary, fitted):
    described = summary["blocks"]["described"]
    rows = described[0]["markers"]
    one = {**described[0], "markers": [], "other_markers": rows, "n_other_markers": len(rows), "name_origin": "other"}
    blocks = {**summary["blocks"], "described": [one, *described[1:]]}
    html = make_report(fitted[0], summary={**summary, "blocks": blocks}).html
    card = re.search(r'<h3 id="block-0">.*?</article>', html, re.DOTALL)[0]
    assert "No selected feature marks this block; unselected markers:" in card
    assert '<ul class="markers light">' in card
    assert '<span class="light">' in card


def test_the_tree_has_one_row_per_block_and_is_left_out_with_a_single_level(graph):
    selector = BlockModelSelector(7, n_blocks=6, n_candidates=2, random_state=0)
    html = make_report(selector.fit(graph)).html
    tree = re.search(r'<table class="tree">.*?</table>', html, re.DOTALL)[0]
    assert tree.count("<tr>") == 7
    assert text_of(tree, "<thead>.*?</thead>") == "3 groups 6 blocks"
    assert all(f'<bdi title="{name}">' in tree for name in selector.blocks_["name"])
    assert '<table class="tree">' not in page("ordinary").html


@pytest.mark.parametrize(
    ("origins", "sentence"),
    [
        (["given"], "The block names were provided by the user."),
        (["selected"], "Each block is named after its strongest selected marker that names no other block."),
        (
            ["selected", "node", "other"],
            "Each block is named after its strongest selected marker that names no other block; names in lighter type "
            "come from an unselected feature or a typical node.",
        ),
        (["other"], "Each block is named after an unselected feature."),
        (["number"], "The blocks have no markers, so they are numbered."),
    ],
)
def test_the_drawing_says_where_names_come_from(summary, origins, sentence):
    described = [{"name_origin": origin} for origin in origins]
    assert sentences.where_names_come_from({"blocks": {"described": described}}) == sentence
