"""Configurations of quality: what the paper's holds, and what is refused."""

from __future__ import annotations

from importlib import resources

import pytest

from benchmarks.quality.quality_config import read_quality_config, with_variants
from benchmarks.quality.variants import DEFAULT, KNOWN_BLOCKS, VARIANTS, Variant, selector_of
from blockselect.registry import SELECTORS

QUICK = (resources.files("benchmarks.quality") / "configs" / "quick.toml").read_text(encoding="utf-8")


def test_paper_is_the_protocol_of_the_reproduction_with_every_rival():
    config = read_quality_config("paper")
    assert set(config.protocol.datasets) == {"cora", "citeseer", "blogcatalog"}
    assert config.protocol.tops == (16, 64, 128, 200, 600)
    assert (config.protocol.kmeans_runs, config.protocol.kmeans_init) == (20, 10)
    assert config.candidate_seeds == (0, 1, 2)
    assert set(config.methods) == set(SELECTORS) - {"block-model"}
    assert config.variants == tuple(VARIANTS)
    assert {"assortative", "disassortative", "core-periphery", "sparse"} <= set(config.regimes)
    assert config.planted_seeds >= 20


def test_quick_needs_nothing_but_the_network_in_the_package():
    assert read_quality_config("quick").protocol.networks == ("cora",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('base = "quick"', "", "expected a table with a base"),
        ("kmeans_runs = 2", "kmeans_runs = 0", "kmeans_runs is 0; expected a whole number, at least 1"),
        ("kmeans_runs = 2", "kmeans = 2", r"unknown settings \['kmeans'\]"),
        ('"variance"', '"varience"', "no method is called 'varience'.*Did you mean variance"),
        ('"variance"', '"block-model"', "'block-model' is the method to evaluate; choose other methods"),
        ('"blocks not refined"', '"refine"', "no variant is called 'refine'.*choose one of: default"),
        ('"disassortative"', '"dissortative"', "no regime is called 'dissortative'"),
        ("n_blocks = 3", "n_blocks = 1", "n_blocks is 1; expected a whole number, at least 2"),
        ("planted_seeds = 3", "planted_seeds = 1", "planted_seeds is 1; expected a whole number, at least 2"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(tmp_path, old, new, message):
    assert old in QUICK
    path = tmp_path / "own.toml"
    path.write_text(QUICK.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_quality_config(str(path))


def test_rows_of_other_variants_rivals_and_seeds_may_share_a_folder(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(QUICK.replace('"variance", ', "").replace("[0, 1]", "[0, 1, 2]"), encoding="utf-8")
    assert read_quality_config(str(path)).marks == read_quality_config("quick").marks
    path.write_text(QUICK.replace("kmeans_runs = 2", "kmeans_runs = 3"), encoding="utf-8")
    assert read_quality_config(str(path)).marks != read_quality_config("quick").marks


def test_the_default_stays_among_fewer_variants():
    assert with_variants(read_quality_config("paper"), ["blocks not refined"]).variants == (
        DEFAULT,
        "blocks not refined",
    )
    assert with_variants(read_quality_config("paper"), []).variants == (DEFAULT,)


def test_a_variant_may_ask_for_the_known_number_of_blocks():
    selector = selector_of(Variant({"n_blocks": KNOWN_BLOCKS}).text, 5, n_blocks=3, seed=1)
    assert (selector.n_blocks, selector.n_features_to_select, selector.random_state) == (3, 5, 1)
    assert selector_of(Variant({"n_blocks": 6}).text, 5, n_blocks=3, seed=1).n_blocks == 6


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_has_arguments_of_the_selector(name):
    selector_of(VARIANTS[name].text, 5, n_blocks=3, seed=0)._validate_params()
