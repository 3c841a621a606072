# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx builds these pages. Pages on algorithms, commands and the C API are written by ext/ first."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS / "ext"), str(DOCS.parent / "python")]

from convene import __version__  # noqa: E402

project = "Convene"
author = "The Convene authors"
copyright = "The Convene authors, BSD-3-Clause"  # noqa: A001
version = release = __version__

extensions = ["myst_parser", "generated_pages"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["ext", "requirements.txt"]
nitpicky = True
smartquotes_action = "qe"  # the two hyphens of an option stay

html_theme = "furo"
html_title = f"Convene {version}"
html_theme_options = {"source_directory": "docs/"}
html_copy_source = False
html_show_sphinx = False
