"""Sphinx: `python -m sphinx -b html docs docs/_build/html`. Needs no network, and neither do the pages."""

import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from members import methods_of, properties_of
from page_foot import built_with
from sphinx_gallery.sorting import FunctionSortKey

from pyearthdof import __version__

# Figures must not depend on the number of cores of the machine that builds the pages.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

project = "pyearthdof"
author = "the pyearthdof authors"
copyright = "the pyearthdof authors, GPL-3.0-or-later"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "mathml",
    "members",
]
exclude_patterns = ["_build", "examples/*.md", "examples/*.rst"]
templates_path = ["_templates"]
default_role = "literal"  # `name` in a doc string is code
highlight_language = "none"
suppress_warnings = ["config.cache"]  # functions in the configuration cannot be kept

myst_enable_extensions = ["colon_fence", "dollarmath", "amsmath", "deflist", "attrs_block"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_context = {"methods_of": methods_of, "properties_of": properties_of}
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

GALLERY = [
    f"plot_{name}.py"
    for name in (
        "effects", "what_is_mars", "nominal_actual", "overview", "linear_smoothers", "splines", "best_subset",
        "lasso", "tree", "forest_boosting", "mars_search", "correct_penalty", "let_df_choose", "ozone",
        "own_procedure",
    )
]  # fmt: skip
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": FunctionSortKey(GALLERY.index),
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "abort_on_example_error": False,
    "only_warn_on_example_error": True,
    "plot_gallery": "True",
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "image_srcset": ["2x"],
}

# The copy button copies code without prompts and is not shown on output.
copybutton_selector = ", ".join(
    f"div.highlight-{language}:not(.sphx-glr-script-out) pre"
    for language in ("python", "Python", "default", "r", "sh", "none")
)
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "pyearthdof"
html_static_path = ["_static"]
html_css_files = ["pyearthdof.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = True  # source of the page; the API links to the source of classes
html_copy_source = True
html_context = {"built_with": built_with()}
html_math_renderer = "mathml"
html_sidebars = {"index": [], "install": []}  # other pages list the pages of their section
html_theme_options = {
    "logo": {"text": "pyearthdof"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc", "sourcelink"],
    "footer_start": ["copyright"],
    "footer_end": ["built-with"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
