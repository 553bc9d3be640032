"""The picture shows the numbers of the summary, on comparable scales, and changes nothing outside itself."""

from __future__ import annotations

import io
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread
from matplotlib.patches import StepPatch
from numpy.testing import assert_allclose

from blockselect import BMGUFS
from blockselect.report import draw_overview, render_png, summarize


@pytest.fixture(scope="module")
def figure(summary):
    return draw_overview(summary)


def panel(figure, title):
    (found,) = (axes for axes in figure.axes if axes.get_title(loc="left") == title)
    return found


def profiles(figure):
    return [panel(figure, f"Block densities {which}") for which in ("of the graph, reflected", "induced by the scores")]


def losses(figure, kind):
    (found,) = (axes for axes in figure.axes if axes.get_ylabel() == f"{kind}\nloss")
    return found


def steps(axes):
    return [patch for patch in axes.patches if isinstance(patch, StepPatch)]


def with_scores(summary, scores, selected):
    """The same summary of other features, given the best first, of which some are selected."""
    counts = {**summary["counts"], "features": len(scores), "selected_features": len(selected)}
    rows = [{"index": index} for index in selected]
    ranking = list(range(1, len(scores) + 1))
    measures = {"stability": np.linspace(1, 0, len(scores)).tolist()}
    changed = {"scores": scores, "counts": counts, "selected": rows, "ranking": ranking, "measures": measures}
    return {**summary, **changed}


def test_scores_fall_and_the_cut_stands_between_selected_and_not(figure, summary):
    axes = panel(figure, "Scores, the best first")
    selected, others = steps(axes)
    expected = sorted(summary["scores"], reverse=True)
    assert_allclose(selected.get_data().values, [*expected[:7], *[0] * 23])
    assert_allclose(others.get_data().values, [*[0] * 7, *expected[7:]])
    (cut,) = axes.lines
    assert cut.get_xdata()[0] == 7.5
    assert_allclose(selected.get_data().edges, np.arange(31) + 0.5)


def test_a_selection_that_is_not_by_rank_is_drawn_where_it_is_without_a_cut(summary):
    axes = panel(draw_overview(with_scores(summary, [0.5, 0.4, 0.3, 0.2], [0, 2])), "Scores, the best first")
    selected, others = steps(axes)
    assert_allclose(selected.get_data().values, [0.5, 0, 0.3, 0])
    assert_allclose(others.get_data().values, [0, 0.4, 0, 0.2])
    assert len(axes.lines) == 0


def stability_panel(figure):
    return [axes for axes in figure.axes if axes.get_ylabel() == "stability"]


def test_stability_is_drawn_by_rank(figure, summary):
    (axes,) = stability_panel(figure)
    by_rank = np.array(summary["measures"]["stability"])[np.argsort(summary["ranking"])]
    others, selected = axes.lines
    assert_allclose(selected.get_xdata(), range(1, 8))
    assert_allclose(selected.get_ydata(), by_rank[:7])
    assert_allclose(others.get_ydata(), by_rank[7:])
    assert f": {by_rank[:7].mean():.2f}," in axes.get_title(loc="left")


def test_voters_are_filled_on_the_line_of_their_family(figure, summary):
    axes = panel(figure, "Candidates: 2 of 6 voted (filled)")
    families = [tick.get_text() for tick in axes.get_yticklabels()]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    drawn = {
        (families[int(dot.get_ydata()[0])], dot.get_xdata()[0], dot.get_markerfacecolor() != "white") for dot in dots
    }
    assert drawn == {(row["family"], row["gain"], row["voted"]) for row in summary["criteria"]}


def test_a_line_leads_from_the_gain_as_found_to_the_gain_as_refined(figure, summary):
    axes = panel(figure, "Candidates: 2 of 6 voted (filled)")
    drawn = {tuple(line.get_xdata()) for line in axes.lines if line.get_marker() != "o"}
    assert drawn == {(row["gain_at_start"], row["gain"]) for row in summary["criteria"]}
    assert "log-likelihood gain in nats" in axes.get_xlabel()


def test_what_was_not_computed_has_no_panel(figure, summary):
    alone = draw_overview({**summary, "criteria": None, "measures": {}})
    assert not stability_panel(alone)
    assert len(alone.axes) == len(figure.axes) - 2


def test_headline_says_where_the_number_of_blocks_was_chosen(figure, summary):
    assert figure.get_suptitle().endswith("3 blocks")
    chosen = {**summary, "blocks": {**summary["blocks"], "automatic": True}}
    assert draw_overview(chosen).get_suptitle().endswith("3 blocks (chosen)")


def test_legend_and_headline_say_how_many_are_selected(figure):
    labels = [text.get_text() for text in panel(figure, "Scores, the best first").get_legend().get_texts()]
    assert labels == ["selected: 7", "not selected: 23", "cut"]
    assert figure.get_suptitle().startswith("7 of 30 features selected: 80 nodes, ")


def test_both_profiles_are_drawn_on_one_scale_from_zero(figure, summary):
    images = [axes.images[0] for axes in profiles(figure)]
    both = [np.array(summary["blocks"][f"{kind}_profile"]) for kind in ("target", "induced")]
    for image, profile in zip(images, both, strict=True):
        assert_allclose(image.get_array(), profile)
    limits = {image.get_clim() for image in images}
    assert limits == {(0, max(profile.max() for profile in both))}


def test_cells_and_blocks_are_labelled(figure, summary):
    target, _ = profiles(figure)
    shares = np.array(summary["blocks"]["target_profile"]).ravel()
    assert [text.get_text() for text in target.texts] == [f"{share:.2f}" for share in shares]
    sizes = summary["blocks"]["sizes"]
    assert [tick.get_text() for tick in target.get_yticklabels()] == [
        f"{block}  ({size})" for block, size in enumerate(sizes)
    ]


@pytest.mark.parametrize("kind", ["reconstruction", "profile"])
def test_losses_are_drawn_by_iteration(figure, summary, kind):
    (line,) = losses(figure, kind).lines
    history = summary["loss_history"][kind]
    assert_allclose(line.get_ydata(), history)
    assert_allclose(line.get_xdata(), range(len(history)))


def test_density_colours_and_pairs_of_colours_differ_in_lightness(figure):
    def lightness(colour):
        red, green, blue = mpl.colors.to_rgb(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    colours = profiles(figure)[0].images[0].get_cmap()(np.linspace(0, 1, 64))
    assert (np.diff([lightness(colour) for colour in colours]) < 0).all()
    selected, others = (to_hex(patch.get_facecolor()) for patch in steps(panel(figure, "Scores, the best first")))
    assert abs(lightness(selected) - lightness(others)) > 0.25


def test_many_features_are_ranked_on_a_log_axis_and_few_are_not(figure, summary):
    many = with_scores(summary, np.linspace(1, 0, 500).tolist(), range(7))
    assert panel(draw_overview(many), "Scores, the best first").get_xscale() == "log"
    assert panel(figure, "Scores, the best first").get_xscale() == "linear"


@pytest.mark.parametrize(("scores", "n_selected"), [([0.0] * 6, 0), ([0.4] * 6, 6), ([1.0], 1)])
def test_nothing_or_everything_selected_can_be_drawn(summary, scores, n_selected):
    figure = draw_overview(with_scores(summary, scores, range(n_selected)))
    drawn = [patch.get_label() for patch in steps(panel(figure, "Scores, the best first"))]
    parts = {"selected": n_selected, "not selected": len(scores) - n_selected}
    assert drawn == [f"{name}: {count}" for name, count in parts.items() if count]
    assert render_png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("n_blocks", [1, 40])
def test_one_block_and_many_can_be_drawn(summary, n_blocks):
    profile = np.full((n_blocks, n_blocks), 1 / n_blocks).tolist()
    blocks = {**summary["blocks"], "sizes": [2] * n_blocks, "target_profile": profile, "induced_profile": profile}
    figure = draw_overview({**summary, "blocks": blocks})
    target, induced = profiles(figure)
    assert target.images[0].get_array().shape == induced.images[0].get_array().shape == (n_blocks, n_blocks)
    assert len(target.get_yticks()) <= 20
    assert len(target.texts) == (1 if n_blocks == 1 else 0)


def test_text_stays_inside_the_picture_and_titles_do_not_overlap(figure):
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = [axes.get_tightbbox(renderer) for axes in figure.axes]
    for box in boxes:
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width
        assert 0 <= box.y0 < box.y1 <= figure.bbox.height
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])


def test_same_summary_gives_the_same_bytes_without_text_chunks(summary):
    first, second = (render_png(draw_overview(summary)) for _ in range(2))
    assert first == second
    assert b"tEXt" not in first
    assert b"Software" not in first
    assert imread(io.BytesIO(first)).shape == (1575, 1575, 4)


def test_a_users_matplotlib_settings_neither_matter_nor_change(summary):
    plain = render_png(draw_overview(summary))
    with mpl.rc_context({"font.size": 30, "savefig.dpi": 20, "figure.facecolor": "red"}):
        before = dict(mpl.rcParams)
        assert render_png(draw_overview(summary)) == plain
        assert dict(mpl.rcParams) == before


def test_a_selection_of_the_paper_is_drawn_against_plain_densities(graph):
    selector = BMGUFS(7, n_blocks=3, random_state=0).fit(graph.features, adjacency=graph.adjacency)
    titles = [axes.get_title(loc="left") for axes in draw_overview(summarize(selector, graph)).axes]
    assert "Block densities of the graph" in titles
    assert not any("Candidates" in title for title in titles)


def test_without_matplotlib_the_error_names_the_extra_and_the_rest_works():
    code = """
import sys
sys.modules["matplotlib"] = None
from blockselect.report import scores_table, summarize
try:
    from blockselect.report import draw_overview
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "pictures need matplotlib; install it with: pip install 'blockselect[cli]'.\n"
