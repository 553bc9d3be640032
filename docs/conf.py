"""Sphinx configuration. `make docs` builds the site offline; every warning is an error."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import blockselect

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "blockselect"
author = "The blockselect developers"
project_copyright = author
version = release = blockselect.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_index",  # this and the following are our own, in extensions/
    "api_members",
    "example_links",
]
exclude_patterns = ["_build", "api/templates", "extensions"]
templates_path = ["api/templates"]
nitpicky = False
show_warning_types = True

# Markdown pages. Headings get the same anchors as on GitHub, so that links work on disk and on the site.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# API: one page per public name.
autosummary_generate = True
autodoc_typehints = "none"  # numpydoc shows the types from the docstrings
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # the class template lists them
numpydoc_show_inherited_class_members = False
numpydoc_xref_param_type = False
default_role = "code"

# Examples run while the site is built. An example that raises an error stops the build.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$" if find_spec("scanpy") else r"/(?!single_cell)\w+\.py$",
    "within_subsection_order": "gallery_order.place",
    "doc_module": ("blockselect",),
    "reference_url": {"blockselect": None},
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "blockselect"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
html_sidebars = {"index": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
