"""The figures show the numbers of the summary with the names of the features, and leave no global state behind."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread
from numpy.testing import assert_allclose

from blockselect import BMGUFS
from blockselect.report import draw_diagnostics, draw_overview, render_png, summarize
from blockselect.report.sentences import follows_network


@pytest.fixture(scope="module")
def figure(summary):
    return draw_overview(summary)


def panel(figure, title):
    (found,) = (axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))
    return found


def test_scores_of_the_selected_are_drawn_with_their_names(figure, summary):
    axes = panel(figure, "Scores of the selected")
    assert_allclose([bar.get_width() for bar in axes.patches], [row["score"] for row in summary["selected"]])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [row["name"] for row in summary["selected"]]


def test_beside_each_feature_is_its_lift_by_block(figure, summary):
    axes = panel(figure, "Lift of each feature")
    lifts = np.array([row["block_lifts"] for row in summary["selected"]])
    assert_allclose(axes.images[0].get_array(), np.log2(np.maximum(lifts, 1 / 8)))
    assert axes.get_ylim() == panel(figure, "Scores of the selected").get_ylim()


def test_no_more_than_twenty_features_are_named(summary):
    first = summary["selected"][0]
    many = {**summary, "selected": [{**first, "name": f"x{rank}", "score": 1 / rank} for rank in range(1, 65)]}
    axes = panel(draw_overview(many), "Scores of the top 20 features")
    assert len(axes.get_yticklabels()) == 20


@pytest.mark.parametrize(("title", "key"), [("Link density", "density"), ("Feature similarity", "similarity")])
def test_graph_and_features_are_each_on_a_scale_of_their_own(figure, summary, title, key):
    density = np.array(summary["blocks"][key])
    assert_allclose(panel(figure, title).images[0].get_array(), density / density.max())


def test_the_explained_curve_is_beside_random_and_all_features_and_has_the_cut(figure, summary):
    axes = panel(figure, "Block structure explained")
    curve, random, of_all, cut = axes.lines
    assert_allclose(curve.get_ydata(), [point["share"] for point in summary["explained"]["curve"]])
    assert_allclose(random.get_ydata(), [point["random"] for point in summary["explained"]["curve"]])
    assert of_all.get_ydata()[0] == summary["explained"]["all"]
    assert cut.get_xdata()[0] == np.log2(7)


def test_headline_says_how_many_and_where_the_number_of_blocks_was_chosen(figure, summary):
    assert figure.get_suptitle().startswith("7 of 30 features selected: 80 nodes, ")
    assert figure.get_suptitle().endswith("3 blocks")
    chosen = {**summary, "blocks": {**summary["blocks"], "automatic": True}}
    assert draw_overview(chosen).get_suptitle().endswith("3 blocks (chosen automatically)")


def test_diagnostics_hold_what_was_computed(summary, graph):
    titles = [axes.get_title(loc="left") for axes in draw_diagnostics(summary).axes]
    assert [title.split()[0] for title in titles] == ["Candidate", "Stability"]
    paper = BMGUFS(7, n_blocks=3, random_state=0).fit(graph.features, adjacency=graph.adjacency)
    (alone,) = draw_diagnostics(summarize(paper)).axes
    assert alone.get_title(loc="left") == "Losses by iteration"


@pytest.mark.parametrize(
    "change",
    [
        lambda summary: {"selected": [], "explained": {"share": None, "all": 0.5, "curve": []}},
        lambda summary: {
            "selected": summary["selected"][:1],
            "explained": {**summary["explained"], "curve": summary["explained"]["curve"][:1]},
        },
        lambda summary: {
            "selected": [
                {**row, "name": "$x$ 🧬 \x1b\ud83d حمض" * place + "\n"}
                for place, row in enumerate(summary["selected"], start=40)
            ]
        },
    ],
    ids=["nothing", "one feature", "odd names"],
)
def test_odd_selections_can_be_drawn(summary, change):
    figure = draw_overview({**summary, **change(summary)})
    assert render_png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("n_blocks", [1, 40])
def test_one_block_and_many_can_be_drawn(summary, n_blocks):
    density = np.full((n_blocks, n_blocks), 1 / n_blocks).tolist()
    sizes = {"count": n_blocks, "sizes": [2] * n_blocks, "density": density, "similarity": density}
    rows = [{**row, "block_lifts": [1.0] * n_blocks} for row in summary["selected"]]
    described = [{"name": f"block {block}"} for block in range(n_blocks)]
    blocks = {**summary["blocks"], **sizes, "described": described}
    figure = draw_overview({**summary, "blocks": blocks, "selected": rows, "explained": None})
    assert panel(figure, "Link density").images[0].get_array().shape == (n_blocks, n_blocks)
    assert len(panel(figure, "Link density").get_yticks()) <= 20


def test_blocks_have_their_names(figure, summary):
    names = [block["name"] for block in summary["blocks"]["described"]]
    shown = [label.get_text() for label in panel(figure, "Lift of each feature").get_xticklabels()]
    assert shown == names


def test_text_stays_inside_the_picture_and_panels_do_not_overlap(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    for box in boxes:
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width
        assert 0 <= box.y0 < box.y1 <= figure.bbox.height
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


@pytest.mark.parametrize("draw", [draw_overview, draw_diagnostics])
def test_bytes_are_the_same_without_text_chunks_whatever_a_users_matplotlib_settings_are(summary, draw):
    plain = render_png(draw(summary))
    assert b"tEXt" not in plain
    assert imread(io.BytesIO(plain)).ndim == 3
    with mpl.rc_context({"font.size": 30, "savefig.dpi": 20, "figure.facecolor": "red"}):
        before = dict(mpl.rcParams)
        assert render_png(draw(summary)) == plain
        assert dict(mpl.rcParams) == before


def test_the_picture_says_if_there_is_no_evidence(summary, figure):
    assert figure.get_suptitle().startswith("7 of 30 features selected: ")
    doubtful = {**summary, "network_evidence": {"p_value": 0.45, "is_clear": False}}
    headline = draw_overview(doubtful).get_suptitle()
    assert headline.startswith("No evidence that the 7 selected features are associated with the links (30 f")
    assert " ".join(headline.splitlines()[1:]) == follows_network(doubtful)
