"""Names of blocks are those of their strongest markers, unique, short, and stable under small changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blockselect import BlockModelSelector, load_debian
from blockselect.blockmodels.markers import block_markers
from blockselect.blockmodels.names import name_blocks

LABELS = np.repeat(np.arange(4), 25)


def name(features, chosen, names, nodes=(None,) * 4, weights=None, labels=LABELS):
    markers = block_markers(np.asarray(features, dtype=float), labels)
    return name_blocks(markers, np.array(chosen, dtype=int), names, nodes, np.eye(4) if weights is None else weights)


def words(*blocks, share=1.0):
    """One column per entry: which blocks have the word, in this share of their nodes."""
    position = np.arange(len(LABELS)) % 25 / 25
    return np.column_stack([np.isin(LABELS, block) & (position < share) for block in blocks]).astype(float)


def test_the_strongest_selected_marker_comes_before_others():
    features = np.column_stack([words([0], [1], [2]), words([0], share=0.6), words([3])])
    found = name(features, [3, 1], ["a", "b", "c", "weaker a", "d"])
    assert [(one.text, one.origin) for one in found] == [
        ("weaker a", "selected"),
        ("b", "selected"),
        ("c", "other"),
        ("d", "other"),
    ]


def test_a_word_of_two_blocks_names_the_one_where_it_is_much_stronger():
    features = np.column_stack([np.maximum(words([0]), words([1], share=0.5)), words([1], share=0.3)])
    found = name(features, [0], ["perl", "web"], nodes=["a", "b", "c", None])
    assert [one.text for one in found] == ["perl", "web", "near c", "block 3"]


def test_blocks_without_a_marker_are_named_after_a_node_or_the_blocks_they_link_to():
    weights = np.zeros((4, 4))
    weights[2, 0] = weights[0, 2] = 5
    weights[2, 1] = weights[1, 2] = 2
    found = name(words([0], [1]), [0, 1], ["perl", "ruby"], weights=weights)
    assert [(one.text, one.origin) for one in found[2:]] == [("linked to perl", "links"), ("block 3", "number")]
    found = name(words([0], [1]), [0, 1], ["perl", "ruby"], nodes=["x", "y", "gnome-shell", "z"], weights=weights)
    assert [one.text for one in found[2:]] == ["near gnome-shell", "near z"]


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (["subsystem=Glycolysis", "subsystem=Folate", "subsystem=tRNA", "subsystem=Lipid"],
         ["Glycolysis", "Folate", "tRNA", "Lipid"]),
        (["subsystem=Folate", "initial=E", "subsystem=tRNA", "initial=F"],
         ["subsystem=Folate", "initial=E", "subsystem=tRNA", "initial=F"]),
        (["tag:use::gameplaying", "tag:devel::lang:perl", "tex", "GO:0006412"],
         ["gameplaying", "perl", "tex", "GO:0006412"]),
        (["tag:devel::lang:perl", "perl", "tag:a::", "tag:b::tex"], ["tag:devel::lang:perl", "perl", "tag:a::", "tex"]),
    ],
)  # fmt: skip
def test_prefixes_that_say_nothing_are_left_out(features, expected):
    assert [one.text for one in name(words([0], [1], [2], [3]), [0, 1, 2, 3], features)] == expected


def test_names_of_features_that_are_blank_or_alike_do_not_make_equal_names():
    found = name(words([0], [1], [2], [3]), [0, 1, 2, 3], ["same", "same", " ", "same (2)"])
    texts = [one.text for one in found]
    assert len(set(texts)) == 4
    assert "" not in texts


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_names_follow_the_blocks_whatever_the_order_of_features_and_blocks(seed):
    rng = np.random.default_rng(seed)
    features = rng.gamma(2.0, 0.2 + (LABELS[:, None] == np.arange(12) % 4))  # no two are equally strong markers
    names = [f"word {j}" for j in range(12)]
    before = name(features, range(6), names)
    columns, blocks = rng.permutation(12), rng.permutation(4)
    chosen = np.flatnonzero(columns < 6)
    after = name(features[:, columns], chosen, [names[j] for j in columns], labels=blocks[LABELS])
    assert [after[blocks[b]].text for b in range(4)] == [one.text for one in before]


def test_debian_blocks_have_the_names_that_people_give_them():
    debian = load_debian()
    fits = [BlockModelSelector(60, random_state=seed).fit(debian.frame, adjacency=debian.adjacency) for seed in (0, 1)]
    names = [set(selector.blocks_["name"]) for selector in fits]
    for found, selector in zip(names, fits, strict=True):
        assert len(found) == selector.block_model_.n_blocks
        assert {"perl", "python", "php", "ruby", "emacs", "tex", "openstack"} <= found
        python = selector.describe_block("python").markers
        assert python["feature"][0] == "python"
    assert len(names[0] & names[1]) > 0.6 * max(map(len, names))
