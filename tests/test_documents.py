"""Paths and names of Python in the documents exist; paragraphs and how-tos are short."""

import ast
import functools
import importlib
import re
import textwrap
from itertools import chain

import pytest

from source_tree import FRAMEWORK, ROOT, documents
from tf_frame.plugin.kinds import KINDS

# The table of names is written by a tool, and the tests of the tool import every target.
DOCUMENTS = [path for path in documents() if path != "docs/legacy/names.md"]
PACKAGES = [path.name for path in FRAMEWORK.iterdir() if (path / "__init__.py").exists()]
# From the root of the repository; and of modules, from the folder of the framework.
_PATH = re.compile(r"(?<![\w./$-])(?:framework|tests|tools|docs|plugins)/[\w./*-]+")
_MODULE = re.compile(rf"(?<![\w./$-])(?:{'|'.join(PACKAGES)})/(?:[\w./-]+\.py\b|(?:\w+/)*(?!\w))")
_LINK = re.compile(r"\]\(([\w./-]+)(?:#[\w-]+)?\)")
_NAME = re.compile(r"(?<![\w./-])tf_frame(?:_\w+)?(?:\.\w+)+(?![\w/]|\.\w)")
# In CONTRIBUTING.md names may begin below `tf_frame`.
_SHORT_NAME = re.compile(rf"`((?:{'|'.join(PACKAGES)})\.(?!yaml)\w[\w.]*)`")
# Words in capitals stand for any name.
_PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]+\b")
_GROUPS = {kind.group for kind in KINDS}
# Files of TensorBoard, files that a reader of a walk writes, and a name with a mistake to explain.
_OTHERS = {
    *("plugins/profile", "tests/test_line.py", "tests/test_model.py", "tf_frame.model"),
    *("docs/_build", "tests/test_digits.py"),
    *(
        "framework/tf_frame/hooks/weights_log.py",
        "tests/hooks/test_weights_log.py",
        "docs/_build",
        "tests/test_digits.py",
    ),
}


@functools.cache
def exists(name):
    """Returns whether a dotted name is a module, or an attribute of a module or class."""
    module, _, attribute = name.partition(".")
    thing = importlib.import_module(module)
    while attribute:
        first, _, attribute = attribute.partition(".")
        module = f"{module}.{first}"
        try:
            thing = getattr(thing, first)
        except AttributeError:
            try:
                thing = importlib.import_module(module)
            except ModuleNotFoundError:
                return first in getattr(thing, "__annotations__", ())
    return True


def missing_in(document):
    path = ROOT / document
    text = path.read_text()
    # The paths in the README of a plugin begin at the root or at the folder of the plugin.
    for word in _PATH.findall(text):
        of_others = _PLACEHOLDER.search(word) or word.rstrip("./*") in _OTHERS
        if not of_others and not any(
            any(folder.glob(word.rstrip("./"))) for folder in (ROOT, path.parent)
        ):
            yield word
    for word in _MODULE.findall(text):
        if not (FRAMEWORK / word).exists():
            yield word
    for word in _LINK.findall(text):
        if not (path.parent / word).exists():
            yield word
    for word in _SHORT_NAME.findall(text) if document == "CONTRIBUTING.md" else ():
        if not exists(f"tf_frame.{word}"):
            yield word
    for word in _NAME.findall(text):
        if word not in _GROUPS | _OTHERS and not exists(word):
            yield word


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_and_names_in_a_document_exist(document):
    assert not list(missing_in(document))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_python_of_a_document_can_be_read_and_its_imports_work(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for lines in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        for node in ast.walk(ast.parse(textwrap.dedent(lines))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tf_frame"):
                module = importlib.import_module(node.module)
                for name in node.names:
                    assert hasattr(module, name.name) or exists(f"{node.module}.{name.name}")


def test_a_wrong_path_or_name_is_noticed(monkeypatch, tmp_path):
    words = {
        "framework/tf_frame/no.py": "framework/tf_frame/no.py",
        "`runs/no_such.py`": "runs/no_such.py",
        "`runs/no_such/`": "runs/no_such/",
        "[text](no.md#part)": "no.md",
        "`tf_frame.plugin.NoSuch`": "tf_frame.plugin.NoSuch",
        "`tf_frame.Model.no_such`.": "tf_frame.Model.no_such",
        "`hooks.base.NoHook`": "hooks.base.NoHook",
    }
    fine = "docs/NAME.md `runs/training/` a/runs/no.py `tf_frame.Model.build` `hooks.base.Hook`"
    (tmp_path / "CONTRIBUTING.md").write_text("\n".join([*words, fine, *_GROUPS, *_OTHERS]))
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert sorted(missing_in("CONTRIBUTING.md")) == sorted(words.values())


_MOST_WORDS = 90
_CODE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_BETWEEN = re.compile(r"\n\s*\n|\n(?=\s*[*-] |\s*\d+\. )")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paragraphs_are_short(document):
    text = _CODE.sub("", (ROOT / document).read_text(encoding="utf-8"))
    paragraphs = (part for part in _BETWEEN.split(text) if not part.lstrip().startswith(("|", "#")))
    assert not [part[:60] for part in paragraphs if len(part.split()) > _MOST_WORDS]


_MOST_WORDS_OF_HOW_TO = 350
_HOW_TOS = re.compile(
    r"^(?:## How.to|\| how to )(.*?)(?=^## |^\| reference|^```|\Z)", re.DOTALL | re.MULTILINE
)


def how_tos():
    """Returns the how-tos that the entry page of a topic lists."""
    folder = ROOT / "docs"
    lists = (_HOW_TOS.findall(path.read_text(encoding="utf-8")) for path in folder.glob("*.md"))
    links = re.findall(r"\]\((\w+/\w+\.md)\)", "".join(chain.from_iterable(lists)))
    return sorted({folder / link for link in links})


def test_a_how_to_fits_on_a_screen():
    words = {path: len(_prose(path.read_text(encoding="utf-8")).split()) for path in how_tos()}
    assert len(words) > 80
    assert not {path.name: n for path, n in words.items() if n > _MOST_WORDS_OF_HOW_TO}


def _prose(text):
    """Returns a page without code and tables."""
    lines = _CODE.sub("", text).splitlines()
    return "\n".join(line for line in lines if not line.startswith("|"))
