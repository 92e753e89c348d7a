"""Pages of the site that no person writes, and links that fit the site.

Sphinx reads docs/. The READMEs of the plugins become docs/plugins/, the reference becomes
docs/reference/; both folders are not in the repository.
"""

from __future__ import annotations

import json
import pathlib
import re
import shutil
from collections.abc import Iterator
from typing import Any

import api
import figures
import old_names
import reference

_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
# With a group, so that `split` keeps the code, as every second part.
_CODE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_PICTURES = (".png", ".jpg", ".svg")
# Pages of the repository's root -> those of the site.
_ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
_COPIED = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
_OLD_NAMES = "reference/old_names/"
# The search finds old names as entries; the texts of these pages would hide others.
_UNSEARCHED = ("changelog", "legacy/names", _OLD_NAMES)
_ASSISTANTS = """# tf-frame

> tf-frame trains TensorFlow models that arrive as pip packages, in graph mode of today:
> loop, hooks, checkpoints, evaluation, export, profiles. It runs programs for TensorFlow 1, too.

The whole documentation in one file: llms-full.txt

## Pages

"""


def version(root: pathlib.Path) -> str:
    """Returns the version of tf-frame."""
    text = (root / "framework" / "tf_frame" / "__init__.py").read_text(encoding="utf-8")
    match = _VERSION.search(text)
    assert match, "tf_frame/__init__.py holds no __version__"
    return match[1]


def write(root: pathlib.Path, source: pathlib.Path) -> None:
    """Writes the generated pages below the folder that Sphinx reads."""
    for name in ("reference", "plugins"):
        shutil.rmtree(source / name, ignore_errors=True)
        (source / name).mkdir()
    for path in sorted(root.glob("plugins/*/README.md")):
        text = path.read_text(encoding="utf-8")
        (source / "plugins" / f"{path.parent.name}.md").write_text(text, encoding="utf-8")
    for name, page in _COPIED.items():
        shutil.copyfile(root / name, source / page)
    pages = {**reference.pages(), **old_names.pages(), **api.pages(), **figures.pages(root)}
    for name, text in pages.items():
        path = source / "reference" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def rewrite_links(app: Any, page: str, source: list[str]) -> None:
    """Turns links of the repository into those of the site; called by Sphinx for each page."""
    folder = pathlib.PurePosixPath(page).parent
    if page.startswith("plugins/"):  # Its links begin in the folder of the plugin.
        folder = pathlib.PurePosixPath("..") / page
    elif page in ("changelog", "contributing"):
        folder = pathlib.PurePosixPath("..")
    depth = page.count("/")

    def rewrite(match: re.Match[str]) -> str:
        text, target = match.groups()
        path = target.partition("#")[0]
        if "://" in target or path.endswith(_PICTURES):
            return match[0]
        if path and not path.endswith(".md"):
            return text  # A file of the repository, which the site has not.
        return f"[{text}]({_target(target, folder, depth)})"

    parts = _CODE.split(source[0])
    parts[::2] = [_LINK.sub(rewrite, text) for text in parts[::2]]
    source[0] = "".join(parts)
    fields = ["nosearch: true"] if page.startswith(_UNSEARCHED) else []
    if page.startswith(_OLD_NAMES):  # Nearly 200 pages, which the sidebar of each page would list.
        fields.append("orphan: true")
    if fields:
        source[0] = "\n".join(["---", *fields, "---", source[0]])


def _target(target: str, folder: pathlib.PurePosixPath, depth: int) -> str:
    """Returns the target of a link on a page of the site, relative to the page.

    Args:
      target: the link as it is written.
      folder: folder that it begins in, relative to docs/; `..` is the root of the repository.
      depth: folders of the page below docs/.
    """
    path, mark, anchor = target.partition("#")
    if not path:
        return target
    parts: list[str] = []
    for part in (folder / path).parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    if parts[0] == "..":
        parts = _of_repository(parts[1:])
    if parts == ["index.md"]:  # The first page has other headings than README.md.
        mark = anchor = ""
    return "../" * depth + "/".join(parts) + mark + anchor


def _of_repository(parts: list[str]) -> list[str]:
    """Returns the page of the site for a file of the repository."""
    if parts[0] == "docs":
        return parts[1:]
    if parts[0] == "plugins":
        return ["plugins", f"{parts[1]}.md"]
    return [_ROOT_PAGES.get(parts[0], parts[0].lower())]


def write_texts(app: Any, failure: Exception | None) -> None:
    """Writes llms.txt and llms-full.txt, the documentation for assistants."""
    if failure or app.builder.format != "html":
        return
    out, source = pathlib.Path(app.outdir), pathlib.Path(app.srcdir)
    names = list(_pages_in_order(app.env, app.config.root_doc))
    lines = [
        f"- [{app.env.titles[name].astext()}]({name}.html)"
        for name in names
        if name in app.env.titles
    ]
    (out / "llms.txt").write_text(_ASSISTANTS + "\n".join(lines) + "\n", encoding="utf-8")
    texts = [(source / f"{name}.md").read_text(encoding="utf-8") for name in names]
    (out / "llms-full.txt").write_text("\n\n---\n\n".join(texts), encoding="utf-8")


def name_unsearched_pages(app: Any, failure: Exception | None) -> None:
    """Adds the titles that the search index lacks: of the pages without a searched text."""
    if failure or app.builder.format != "html":
        return
    path = pathlib.Path(app.outdir, "searchindex.js")
    before, mark, text = path.read_text(encoding="utf-8").partition("(")
    index = json.loads(text.rstrip().removesuffix(")"))
    index["titles"] = [
        title or app.env.titles[page].astext()
        for page, title in zip(index["docnames"], index["titles"], strict=True)
    ]
    path.write_text(f"{before}{mark}{json.dumps(index)})", encoding="utf-8")


def _pages_in_order(env: Any, name: str) -> Iterator[str]:
    yield name
    for child in env.toctree_includes.get(name, ()):
        yield from _pages_in_order(env, child)
