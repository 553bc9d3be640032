"""Configurations of the package, and the checks of a user's file."""

from __future__ import annotations

from importlib import resources

import pytest

from blockselect.bmgufs.estimator import BMGUFS, SPARSITY_GRID
from blockselect.reproduction.config import read_config

QUICK = (resources.files("blockselect.reproduction") / "configs" / "quick.toml").read_text(encoding="utf-8")


def with_setting(tmp_path, name, value):
    lines = [line for line in QUICK.splitlines() if not line.startswith(f"{name} ")]
    path = tmp_path / "own.toml"
    path.write_text("\n".join([*lines, f"{name} = {value}"]), encoding="utf-8")
    return str(path)


def test_paper_has_the_settings_of_the_paper():
    config = read_config("paper")
    assert config.datasets == ("blogcatalog", "citeseer", "cora")
    assert config.tops == (16, 64, 128, 200, 600)
    assert config.sparsities == SPARSITY_GRID
    assert len(config.surface_ratios) == 11
    assert (config.kmeans_runs, config.kmeans_init, config.n_candidates) == (20, 10, 10)
    paper = BMGUFS()
    assert (config.profile_ratio, config.n_candidates) == (paper.profile_ratio, paper.n_candidates)
    solver = paper._solver()
    assert (config.gradient, config.max_iter, solver.tol) == (solver.gradient, solver.max_iter, 0)
    assert config.perturbation_repeats >= 20


def test_quick_needs_nothing_but_the_network_in_the_package():
    assert read_config("quick").networks == ("cora",)


def test_a_file_of_ones_own_is_read_and_put_in_order(tmp_path):
    config = read_config(with_setting(tmp_path, "sparsities", "[2, 0, 2]"))
    assert config.sparsities == (0.0, 2.0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("seed", "-1", "seed is -1; expected a whole number, from 0"),
        ("seed", "true", "expected a whole number"),
        ("seed", "4294967296", "expected a whole number, from 0 to 4294967295"),
        ("tops", "[2000, 3000]", "tops is 2000 but cora has 1433 features; choose a smaller number"),
        ("surface_top", "1434", "surface_top is 1434 but cora has 1433 features"),
        ("convergence_sparsity", "inf", "expected a finite number"),
        ("convergence_sparsity", "nan", "expected a finite number at least 0"),
        ("tops", "[]", "expected a list of at least 1 value"),
        ("tops", "[16, 0.5]", "expected a whole number, at least 1"),
        ("profile_ratio", "1.5", "expected a finite number from 0 to 1"),
        ("gradient", '"wrong"', "expected 'paper' or 'exact'"),
        ("datasets", '["corra"]', "no data set is called 'corra'.*Did you mean cora"),
        ("datasets", "[]", "expected a list of at least 1 value"),
        ("methods", '["varience"]', "no method is called 'varience'.*Did you mean variance"),
        ("colour", '"blue"', r"missing settings \[\], unknown settings \['colour'\]"),
    ],
)
def test_what_cannot_be_is_refused_with_the_setting_and_the_remedy(tmp_path, name, value, message):
    with pytest.raises(ValueError, match=message) as error:
        read_config(with_setting(tmp_path, name, value))
    assert "own.toml" in str(error.value)


def test_a_missing_setting_is_named(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(QUICK.replace("seed = 0\n", ""), encoding="utf-8")
    with pytest.raises(ValueError, match=r"missing settings \['seed'\]"):
        read_config(str(path))


@pytest.mark.parametrize("content", [b"seed = '\xff'", b"seed = " + b"[" * 10**5, b"seed = " + b"9" * 5000])
def test_what_no_parser_reads_is_refused_by_its_name(tmp_path, content):
    (tmp_path / "own.toml").write_bytes(content)
    with pytest.raises(ValueError, match=r"own\.toml is not valid TOML"):
        read_config(str(tmp_path / "own.toml"))


def test_what_is_no_toml_and_no_known_name_is_refused(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text("seed: 0", encoding="utf-8")
    with pytest.raises(ValueError, match="is not valid TOML"):
        read_config(str(path))
    with pytest.raises(ValueError, match=r"no configuration 'papers'; expected 'paper', 'quick' or a \.toml file"):
        read_config("papers")
