"""Frame of an HTML page: one file without scripts, which needs no network; light and dark.

    render_page(title="Profile first", subtitle="10 steps", body=sections)

`html_page.html` is the template, with the style sheet of all pages.
"""

from __future__ import annotations

import html
import re
import string
from importlib import resources

# Control characters, halves of surrogate pairs, and two more values that HTML does not allow.
_REFUSED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def render_page(*, title: str, subtitle: str, body: str, style: str = "") -> str:
    """Returns the text of a page.

    Args:
      title, subtitle: plain texts.
      body: HTML, in which texts of others are escaped.
      style: further rules of the style sheet.
    """
    template = resources.files("tf_frame").joinpath("html_page.html").read_text(encoding="utf-8")
    page = string.Template(template).substitute(
        title=html.escape(title), subtitle=html.escape(subtitle), body=body, style=style
    )
    return _REFUSED.sub("?", page)
