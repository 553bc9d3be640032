"""Networks are drawn with linked nodes close together, areas by size, and names that do not overlap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from blockselect.report.drawings import block_drawing, node_drawing, node_places

LABELS = np.array([1, 0, 1, 0, 1, 0, 1, 0])
TWO = sparse.csr_array((LABELS[:, None] == LABELS).astype(float) - np.eye(8))


def test_linked_nodes_are_drawn_closer_than_others_in_the_unit_square():
    places = node_places(TWO, LABELS)
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    linked = TWO.toarray() > 0
    assert distance[linked].max() < distance[~linked & ~np.eye(8, dtype=bool)].min()
    assert (places >= 0).all()
    assert (places <= 1).all()


def test_blocks_are_drawn_with_areas_by_size_and_lines_by_density(summary):
    drawn = block_drawing(summary)
    sizes = summary["blocks"]["sizes"]
    assert [circle["block"] for circle in drawn["circles"]] == [0, 1, 2]
    areas = [circle["radius"] ** 2 for circle in drawn["circles"]]
    assert areas == pytest.approx([max(areas) * size / max(sizes) for size in sizes])
    widest = max(drawn["links"], key=lambda line: line["width"])
    density = np.triu(summary["blocks"]["density"], 1)
    i, j = np.unravel_index(density.argmax(), density.shape)
    names = [block["name"] for block in summary["blocks"]["described"]]
    assert widest["title"].startswith(f"{names[i]} and {names[j]}: density ")
    assert all(f"{size} nodes" in circle["title"] for circle, size in zip(drawn["circles"], sizes, strict=True))
    assert [circle["name"] for circle in drawn["circles"]] == [[name] for name in names]
    assert all(circle["title"].startswith(f"{name}, ") for circle, name in zip(drawn["circles"], names, strict=True))


def renamed(summary, **about):
    described = [{**block, **about} for block in summary["blocks"]["described"]]
    return {**summary, "blocks": {**summary["blocks"], "described": described}}


def test_a_long_name_below_a_block_has_two_lines_broken_between_words(summary):
    for name, lines in {
        "Glycerophospholipid Metabolism": ["Glycerophospholipid", "Metabolism"],
        "Cofactor and Prosthetic Group Biosynthesis": ["Cofactor and", "Prosthetic …"],
        "x" * 300: [f"{'x' * 19}…"],
    }.items():
        circles = block_drawing(renamed(summary, name=name))["circles"]
        assert all(circle["name"] == lines for circle in circles)


@pytest.mark.parametrize(("origin", "light"), [("selected", False), ("given", False), ("other", True), ("node", True)])
def test_names_that_no_selected_feature_gives_are_light(summary, origin, light):
    circles = block_drawing(renamed(summary, name_origin=origin))["circles"]
    assert {circle["light"] for circle in circles} == {light}


def test_a_block_that_has_only_a_number_has_no_name_below_it(summary):
    circles = block_drawing(renamed(summary, name="block 7", name_origin="number"))["circles"]
    assert all(circle["name"] == [] for circle in circles)


@pytest.mark.parametrize("narrow", [False, True])
def test_circles_and_names_do_not_overlap_and_are_inside(summary, narrow):
    k = 24
    rng = np.random.default_rng(0)
    described = [
        {**summary["blocks"]["described"][0], "name": f"name {block} " + "x" * (block % 9)} for block in range(k)
    ]
    blocks = {
        "count": k,
        "density": rng.random((k, k)),
        "sizes": rng.integers(5, 90, k).tolist(),
        "described": described,
    }
    drawn = block_drawing({"blocks": blocks}, narrow=narrow)
    assert drawn["width"] == (360 if narrow else 860)
    boxes = [
        (circle["x"], circle["y"], 6.2 * max(map(len, circle["name"])), circle["radius"]) for circle in drawn["circles"]
    ]
    for place, (x, y, width, radius) in enumerate(boxes):
        assert x - width / 2 >= 0
        assert x + width / 2 <= drawn["width"]
        assert y - radius >= 0
        assert y + radius + 13 <= drawn["height"]
        for other_x, other_y, other_width, other_radius in boxes[:place]:
            beside = abs(x - other_x) >= (width + other_width) / 2 - 1
            assert beside or abs(y - other_y) >= min(radius, other_radius) + 13


@pytest.mark.parametrize("count", [1, 41])
def test_one_block_and_very_many_are_not_drawn(summary, count):
    assert block_drawing({**summary, "blocks": {**summary["blocks"], "count": count}}) is None


def test_each_link_of_a_small_graph_is_drawn_once_and_nodes_have_names():
    ids = np.array(["a", "b", "c"], dtype=object)
    found = node_drawing(sparse.csr_array(1 - np.eye(3)), ids, np.array([0, 0, 1]))
    assert [(node["name"], node["block"]) for node in found["nodes"]] == [("a", 0), ("b", 0), ("c", 1)]
    at = [[node["x"], node["y"]] for node in found["nodes"]]
    assert found["links"] == [(at[0], at[1]), (at[0], at[2]), (at[1], at[2])]
    assert all(30 <= place <= 530 for node in at for place in node)
