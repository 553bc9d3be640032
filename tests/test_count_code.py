"""scripts/count_code.py counts code, and nothing else."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

SCRIPT = Path(__file__).parents[1] / "scripts" / "count_code.py"
TEXT = '''"""A docstring
of two lines."""

# a comment
def function():
    """Another docstring."""
    text = """a string
    of two lines"""
    return text  # with a comment
'''


def test_docstrings_comments_and_blank_lines_do_not_count(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "a.py").write_text(TEXT)
    (tmp_path / "b.py").write_text("x = 1\n")
    assert run_path(str(SCRIPT))["count"](tmp_path) == {"top level": (1, 1), "package": (1, 4)}
