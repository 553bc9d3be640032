"""Everything the README shows is run: Python blocks as doctests, commands for real."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from scripts.draw_readme import PICTURE, draw, fit_to_debian

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


def shell_lines() -> list[str]:
    blocks = re.findall(r"```bash\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]


def lines_of(program: str) -> list[str]:
    return [line for line in shell_lines() if shlex.split(line)[0] == program]


def test_the_readme_shows_only_commands_that_are_tested_here():
    assert {shlex.split(line)[0] for line in shell_lines()} == {"make", "blockselect"}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("target", "slow"), [("demo", ["pip install", "blockselect select"]), ("test", ["pip install", "pytest"])]
)
def test_make_announces_each_slow_step(target, slow, tmp_path):
    ask = ["make", "--dry-run", target, f"VENV={tmp_path / 'new'}"]
    steps = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for step in slow:
        at = next(at for at, line in enumerate(steps) if step in line)
        assert steps[at].startswith("printf ") or steps[at - 1].startswith("echo "), step


@pytest.mark.parametrize("line", lines_of("blockselect"))
def test_a_command_of_the_readme_runs(line, tmp_path):
    arguments = [sys.executable, "-m", "blockselect.cli.main", *shlex.split(line, comments=True)[1:]]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert any(tmp_path.rglob("*.csv"))


@pytest.mark.parametrize("line", lines_of("make"))
def test_a_make_target_of_the_readme_is_there_and_does_what_it_says(line):
    target = shlex.split(line, comments=True)[1]
    plan = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"demo": "blockselect select", "test": "pytest"}[target] in plan


def test_nothing_in_the_readme_is_left_to_fill_in():
    assert "@@" not in README.read_text(encoding="utf-8")


def test_files_and_pictures_that_the_readme_points_to_are_there():
    targets = re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8"))
    local = [target for target in targets if not target.startswith("https://")]
    assert local
    for target in local:
        assert (ROOT / target).exists(), target


def test_the_picture_shows_what_the_code_finds_today():
    """The texts are those of a new picture; places may differ by a little, because machines round differently."""
    stale = f"{PICTURE.name} is stale; run: python scripts/draw_readme.py"
    selector = fit_to_debian()[1]
    (stored_texts, stored_places), (texts, places) = map(parts_of, (PICTURE.read_text("utf-8"), draw(selector)))
    assert stored_texts == texts, stale
    assert stored_places == pytest.approx(places, abs=3), stale
    assert set(selector.blocks_["name"]) <= {text for _, text in texts}


def test_no_names_of_the_picture_overlap():
    texts = ElementTree.parse(PICTURE).findall("{http://www.w3.org/2000/svg}text")
    boxes = [(float(one.get("x")), float(one.get("y")), 8 * len(one.text)) for one in texts[1:]]  # without the title
    assert len(boxes) > 30
    for place, (x, y, width) in enumerate(boxes):
        for other_x, other_y, other_width in boxes[:place]:
            assert abs(y - other_y) >= 13 or abs(x - other_x) >= (width + other_width) / 2


def parts_of(svg: str) -> tuple[list[tuple[str, str | None]], list[float]]:
    """The elements of a picture with their texts, and all numbers of their attributes."""
    elements = list(ElementTree.fromstring(svg).iter())
    values = [value for one in elements for value in one.attrib.values()]
    return [(one.tag, one.text) for one in elements], [
        float(value) for value in values if re.fullmatch(r"-?[\d.]+", value)
    ]
