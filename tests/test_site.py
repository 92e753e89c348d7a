"""The tool that writes the site's reference: links, options, old names, figures."""

import datetime
import inspect
import json
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

from source_tree import ROOT, documents

sys.path.insert(0, str(ROOT / "tools" / "site"))

import api
import figures
import old_names
import reference
import site_pages


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("runs", "[a](hooks.md#x)", "[a](hooks.md#x)"),
        ("runs", "[a](../plugins/deeplab/README.md#y)", "[a](plugins/deeplab.md#y)"),
        ("tutorials/own", "[a](../../README.md#try-it)", "[a](../index.md)"),
        ("tutorials/own", "[a](../runs.md)", "[a](../runs.md)"),
        ("plugins/deeplab", "[a](../../docs/data.md#z)", "[a](../data.md#z)"),
        ("plugins/deeplab", "[a](../vision/README.md)", "[a](../plugins/vision.md)"),
        ("plugins/weights", "[table](src/tf_frame_weights/table.py)", "table"),
        ("changelog", "[a](docs/runs.md)", "---\nnosearch: true\n---\n[a](runs.md)"),
        ("reference/old_names/tf.x", "x", "---\nnosearch: true\norphan: true\n---\nx"),
        ("runs", '```python\na["b"](c)\n```\n[a](#b)', '```python\na["b"](c)\n```\n[a](#b)'),
        ("contributing", "[a](CHANGELOG.md)", "[a](changelog.md)"),
        ("runs", "[a](#below) ![p](_static/x.jpg)", "[a](#below) ![p](_static/x.jpg)"),
        ("runs", "[a](https://keras.io/x.html)", "[a](https://keras.io/x.html)"),
    ],
)
def test_links_of_the_repository_become_those_of_the_site(page, text, expected):
    source = [text]
    site_pages.rewrite_links(None, page, source)
    assert source == [expected]


def test_the_reference_has_each_command_option_and_plugin():
    pages = reference.pages()
    assert "```{option} --learning_rate FLOAT" in pages["run_options"]
    assert "```{option} --evaluate, --noevaluate" in pages["run_options"]
    assert "## tf-frame compare" in pages["commands"] and "--html" in pages["commands"]
    assert "## `deeplab`" in pages["models"]
    assert "```{option} --model.decoder_channels" in pages["models"]
    assert "| `loss_is_a_finite_scalar` |" in pages["checks"]
    assert "| 143 | SIGTERM" in pages["exit_codes"]
    assert "| `ConfigError` | 2 |" in pages["exit_codes"]


def test_results_of_the_search_name_pages_whose_text_is_not_searched(tmp_path):
    (tmp_path / "searchindex.js").write_text(
        'Search.setIndex({"docnames":["a","b"],"titles":["","B"]})'
    )
    titles = {"a": SimpleNamespace(astext=lambda: "tf.contrib")}
    app = SimpleNamespace(
        outdir=tmp_path, builder=SimpleNamespace(format="html"), env=SimpleNamespace(titles=titles)
    )
    site_pages.name_unsearched_pages(app, None)
    text = (tmp_path / "searchindex.js").read_text()
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    assert index == {"docnames": ["a", "b"], "titles": ["tf.contrib", "B"]}


def test_each_old_name_has_an_entry():
    pages = old_names.pages()
    entries = "\n".join(pages.values())
    assert "```{old-name} tf.contrib.layers.conv2d\nIs `tf_frame_legacy" in entries
    assert entries.count("```{old-name} ") > 4788
    assert "old_names/tf.contrib.layers" in pages["old_names"]


def test_every_public_name_is_described():
    members = [
        (f"{name}.{member}", value)
        for name in api.public_modules()
        for member, value in api.public_members(__import__(name, fromlist=["x"]))
    ]
    assert len(members) > 200
    assert not [name for name, value in members if not (inspect.getdoc(value) or "").strip()]


def test_examples_in_docstrings_become_blocks_and_names_code():
    lines = ["Does it.", "", "    call(x)", "", "Takes `x`s."]
    api.process_docstring(None, "", "", None, None, lines)
    assert lines == ["Does it.", "", "::", "", "    call(x)", "", r"Takes ``x``\ s."]


@pytest.fixture
def repository(tmp_path):
    """A repository with a file that was committed today."""
    (tmp_path / "code.py").write_text("x = 1\n")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for words in (["init", "-q"], ["add", "code.py"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    return tmp_path


def write_tables(root, today):
    """Writes a file of two tables, the second of which is older than its code."""
    names = {"new": today, "old": today - datetime.timedelta(days=9)}
    facts = {"machine": "m", "command": "c", "code": ["code.py"]}
    cells = {"head": ["", "ms"], "rows": [["a", "1.0"], ["b", ""]]}
    tables = {name: {"date": day.isoformat(), **facts, **cells} for name, day in names.items()}
    folder = root / "docs" / "figures"
    folder.mkdir(parents=True)
    (folder / "x.json").write_text(json.dumps({"tables": tables}))


TABLE = "| | ms |\n|---|---|\n| a | 1.0 |\n| b | |"


def test_a_table_that_is_older_than_its_code_is_marked(repository):
    today = datetime.date.today()
    write_tables(repository, today)
    new, old = figures.pages(repository)["figures"].split("\n## ")[1:]
    assert new == f"x#new\n\n{TABLE}\n\n*Measured on {today}, m: `c`*\n"
    assert old.startswith(f"x#old\n\n{TABLE}\n\n*Measured on")
    assert old.endswith("m: `c`*. **Older than its code**\n")


def test_a_document_has_the_tables_of_the_files_and_the_site_their_dates(repository):
    today = datetime.date.today()
    write_tables(repository, today)
    places = "a\n\n<!-- figures: x#new -->\n| typed |\n<!-- end -->\n\nb\n"
    text = figures.filled(places, repository)
    assert text == f"a\n\n<!-- figures: x#new -->\n\n{TABLE}\n\n<!-- end -->\n\nb\n"
    noted = []
    env = SimpleNamespace(note_reread=lambda: noted.append(True))
    app, source = SimpleNamespace(srcdir=repository / "docs", env=env), [text]
    figures.add_facts(app, "page", source)
    assert source == [f"a\n\n{TABLE}\n\n*Measured on {today}, m: `c`*\n\nb\n"]
    figures.add_facts(app, "page", ["no table"])
    assert noted == [True]


def test_a_benchmark_writes_tables_and_keeps_the_others_of_its_file(repository, monkeypatch):
    write_tables(repository, datetime.date.today())
    written = runpy.run_path(str(ROOT / "tools" / "bench" / "figure_file.py"))["write_table"]
    monkeypatch.setitem(written.__globals__, "_FOLDER", repository / "docs" / "figures")
    monkeypatch.setattr(sys, "argv", ["tools/bench/x.py", "--write", "--turns", "3"])
    written(["", "s"], [("µ", "2.0")], code=["code.py"], table="other")
    tables = figures.tables(repository)
    assert list(tables) == ["x#new", "x#old", "x#other"]
    assert tables["x#other"]["command"] == "python tools/bench/x.py --turns 3"
    assert tables["x#other"]["rows"] == [["µ", "2.0"]]
    assert "| µ | 2.0 |" in figures.pages(repository)["figures"]


def test_a_computed_table_has_no_machine_and_the_command_may_have_other_words(
    repository, monkeypatch
):
    write_tables(repository, datetime.date.today())
    written = runpy.run_path(str(ROOT / "tools" / "bench" / "figure_file.py"))["write_table"]
    monkeypatch.setitem(written.__globals__, "_FOLDER", repository / "docs" / "figures")
    monkeypatch.setattr(sys, "argv", ["tools/bench/x.py", "/old/program", "--write"])
    written(["s"], [["1"]], code=["code.py"], words=["BEFORE", "--write"], computed=True)
    page = figures.pages(repository)["figures"]
    today = datetime.date.today()
    assert f"*Computed on {today}: `python tools/bench/x.py BEFORE`*" in page


@pytest.mark.parametrize("document", documents())
def test_the_tables_of_a_document_are_those_of_the_files(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    assert figures.filled(text, ROOT) == text, "python tools/site/figures.py writes the tables"


def test_the_texts_for_assistants_have_all_pages_in_order(tmp_path):
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir(), out.mkdir()
    for name in ("index", "a", "b"):
        (source / f"{name}.md").write_text(f"# {name}\n")
    env = SimpleNamespace(
        titles={n: SimpleNamespace(astext=n.upper) for n in ("index", "a", "b")},
        toctree_includes={"index": ["b", "a"]},
    )
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html"),
        outdir=out,
        srcdir=source,
        env=env,
        config=SimpleNamespace(root_doc="index"),
    )
    site_pages.write_texts(app, None)
    assert (
        (out / "llms.txt")
        .read_text()
        .endswith("- [INDEX](index.html)\n- [B](b.html)\n- [A](a.html)\n")
    )
    assert (out / "llms-full.txt").read_text() == "# index\n\n\n---\n\n# b\n\n\n---\n\n# a\n"
