"""The picture shows the numbers of the summary, on comparable scales, and changes nothing outside itself."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.image import imread
from matplotlib.patches import StepPatch
from numpy.testing import assert_allclose

from blockselect.report import draw_overview, render_png


@pytest.fixture(scope="module")
def figure(summary):
    return draw_overview(summary)


def panel(figure, title):
    (found,) = (axes for axes in figure.axes if axes.get_title(loc="left") == title)
    return found


def profiles(figure):
    return [panel(figure, f"Block densities {which}") for which in ("of the graph", "induced by the scores")]


def losses(figure, kind):
    (found,) = (axes for axes in figure.axes if axes.get_ylabel() == f"{kind} loss")
    return found


def steps(axes):
    return [patch for patch in axes.patches if isinstance(patch, StepPatch)]


def with_scores(summary, scores, n_selected):
    counts = {**summary["counts"], "features": len(scores), "selected_features": n_selected}
    return {**summary, "scores": scores, "counts": counts}


def test_scores_fall_and_the_cut_stands_between_selected_and_not(figure, summary):
    axes = panel(figure, "Scores, the best first")
    selected, others = steps(axes)
    expected = sorted(summary["scores"], reverse=True)
    assert_allclose(selected.get_data().values, expected[:7])
    assert_allclose(others.get_data().values, expected[7:])
    (cut,) = axes.lines
    assert cut.get_xdata()[0] == selected.get_data().edges[-1] == others.get_data().edges[0] == 7.5


def test_legend_and_headline_tell_how_many_are_selected(figure):
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
    many = with_scores(summary, np.linspace(1, 0, 500).tolist(), 7)
    assert panel(draw_overview(many), "Scores, the best first").get_xscale() == "log"
    assert panel(figure, "Scores, the best first").get_xscale() == "linear"


@pytest.mark.parametrize(("scores", "n_selected"), [([0.0] * 6, 0), ([0.4] * 6, 6), ([1.0], 1)])
def test_nothing_or_everything_selected_can_be_drawn(summary, scores, n_selected):
    figure = draw_overview(with_scores(summary, scores, n_selected))
    drawn = [len(patch.get_data().values) for patch in steps(panel(figure, "Scores, the best first"))]
    assert drawn == [part for part in (n_selected, len(scores) - n_selected) if part]
    assert render_png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("n_blocks", [1, 40])
def test_one_block_and_many_can_be_drawn(summary, n_blocks):
    profile = np.full((n_blocks, n_blocks), 1 / n_blocks).tolist()
    blocks = {"sizes": [2] * n_blocks, "target_profile": profile, "induced_profile": profile}
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
    assert imread(io.BytesIO(first)).shape == (1350, 1575, 4)


def test_a_users_matplotlib_settings_neither_matter_nor_change(summary):
    plain = render_png(draw_overview(summary))
    with mpl.rc_context({"font.size": 30, "savefig.dpi": 20, "figure.facecolor": "red"}):
        before = dict(mpl.rcParams)
        assert render_png(draw_overview(summary)) == plain
        assert dict(mpl.rcParams) == before
