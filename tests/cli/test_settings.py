"""Options become settings of the selector; its complaints name options."""

from __future__ import annotations

import pytest
import typer

from blockselect import BlockModelSelector
from blockselect.blockmodels.candidates import FAMILIES
from blockselect.cli.failure import Failure
from blockselect.cli.main import app
from blockselect.cli.settings import (
    LEAST_RESAMPLES,
    PARAMETER_OF,
    Binarize,
    BlockFamily,
    EvidenceKind,
    FloatType,
    GradientKind,
    ProfileTarget,
    in_terms_of_options,
    parse_binarize,
    parse_blocks,
    parse_guidance,
    parse_sparsity,
    parse_top,
    selector_settings,
)


def options_of_select():
    return {option.name: option for option in typer.main.get_command(app).commands["select"].params}


@pytest.mark.parametrize(("text", "value"), [("64", 64), ("1", 1), ("0.25", 0.25), ("1e-1", 0.1), ("auto", "auto")])
def test_top_is_a_count_a_share_or_auto(text, value):
    assert parse_top(text) == value
    assert type(parse_top(text)) is type(value)


@pytest.mark.parametrize(("text", "value"), [("auto", "auto"), ("1", 1), ("12", 12)])
def test_blocks_are_a_count_or_auto(text, value):
    assert parse_blocks(text) == value


@pytest.mark.parametrize(("choice", "value"), [("auto", "auto"), ("yes", True), ("no", False)])
def test_binarize_is_yes_no_or_auto(choice, value):
    assert parse_binarize(Binarize(choice)) is value or parse_binarize(Binarize(choice)) == value == "auto"


@pytest.mark.parametrize(
    ("text", "value"), [("consensus", "consensus"), ("lowest_error", "lowest_error"), ("0", 0), ("7", 7)]
)
def test_guidance_is_a_rule_or_a_place(text, value):
    assert parse_guidance(text) == value


@pytest.mark.parametrize(("text", "value"), [("auto", "auto"), ("paper", "paper"), ("0", 0.0), ("2.5", 2.5)])
def test_sparsity_is_a_weight_or_a_rule(text, value):
    assert parse_sparsity(text) == value


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_top, "1.0"),
        (parse_guidance, "1.0"),
        (parse_sparsity, "nan"),
        (parse_top, ""),
        (parse_blocks, "0"),
        (parse_blocks, "2.5"),
    ],
)
def test_anything_else_is_refused(parse, text):
    with pytest.raises(Failure, match="expected"):
        parse(text)


def test_options_not_given_leave_the_preset_alone():
    preset = {"tol": 0.0, "gradient": "paper"}
    assert selector_settings({"tol": None, "gradient": GradientKind.exact}, preset) == {
        "tol": 0.0,
        "gradient": "exact",
    }


def test_every_option_is_a_parameter_of_the_selector_and_shows_its_default():
    defaults = BlockModelSelector().get_params()
    shown = options_of_select()
    for option, parameter in PARAMETER_OF.items():
        assert parameter in defaults
        if option not in ("top", "seed"):  # half of the features; fixed, so that runs can be repeated
            default = defaults[parameter]
            if isinstance(default, bool):  # a switch: --joint or --no-joint
                default = option if default else f"no-{option}"
            assert shown[option].show_default == str(default)


def test_choices_are_those_the_selector_knows():
    constraints = BlockModelSelector._parameter_constraints
    assert set(BlockFamily) == set(FAMILIES)
    assert set(GradientKind) == constraints["gradient"][0].options
    assert set(EvidenceKind) == constraints["evidence"][0].options
    assert set(ProfileTarget) == constraints["profile_target"][0].options
    assert constraints["n_resamples"][1].left == LEAST_RESAMPLES
    assert set(FloatType) == constraints["dtype"][0].options


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("n_features_to_select is 9 but", "--top is 9 but"),
        ("The 'profile_ratio' parameter of BlockModelSelector must be", "--profile-ratio must be"),
        (
            "device is 'cuda' but torch sees no CUDA device",
            "--device is 'cuda' but torch sees no CUDA device",
        ),
        ("no CUDA device; use device='cpu', or", "no CUDA device; use --device cpu, or"),
        ('n_features_to_select="auto" needs blocks', "--top auto needs blocks"),
        ("at false_discovery_rate=0.1, so none", "at --fdr 0.1, so none"),
        ("features holds NaN", "features holds NaN"),
    ],
)
def test_complaints_of_the_selector_name_the_option(said, shown):
    assert in_terms_of_options(said) == shown
