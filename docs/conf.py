"""Settings of Sphinx for the site: `tox -e docs`.

Before pages are read, `tools/site` writes the reference from the code, and copies the READMEs of
the plugins, into folders of docs/ that are not in the repository.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools" / "site"))

import api  # noqa: E402 (both are tools of this repository)
import figures  # noqa: E402
import site_pages  # noqa: E402

project = "tf-frame"
author = copyright = "the tf-frame developers"
release = site_pages.version(ROOT)
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
root_doc = "index"
exclude_patterns = ["_build", "_static"]
suppress_warnings = ["myst.header"]  # Some pages begin with tables of other depth.
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4
highlight_language = "none"  # Of blocks without a language, which are output.
smartquotes = False  # `--option` in a text stays two hyphens.
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = True
html_theme = "furo"
html_title = f"tf-frame {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
copybutton_exclude = ".linenos, .gp, .go"


def setup(app):
    """Writes the generated pages, and turns links of the repository into those of the site."""
    app.add_object_type("old-name", "old-name", objname="old name")
    site_pages.write(ROOT, pathlib.Path(app.srcdir))
    app.connect("source-read", site_pages.rewrite_links)
    app.connect("source-read", figures.add_facts)
    app.connect("autodoc-process-docstring", api.process_docstring, priority=400)
    app.connect("build-finished", site_pages.write_texts)
    app.connect("build-finished", site_pages.name_unsearched_pages)
