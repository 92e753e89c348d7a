"""The page: well-formed, complete, self-contained, and safe against any name."""

import dataclasses
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import strategies

from example_report import example_report
from properties import COUNTS, TEXTS, check_many
from tf_frame.profiling.report.contents import Hint, Proof
from tf_frame.profiling.report.formats import COSTS, LAYERS
from tf_frame.profiling.report.html import html_page

NASTY = "<script>alert('x')</script>&\"\x00\x1b\ud800"


def parsed(report, **changes):
    """The page as a tree; fails if it is not well-formed."""
    return ET.fromstring(html_page(dataclasses.replace(report, **changes)))


def texts(tree):
    return "".join(tree.find("body").itertext())


def headings(tree):
    return [each.text for each in tree.iter("h2")]


@pytest.fixture(scope="module")
def tree():
    return parsed(example_report())


def test_the_page_has_all_sections_hints_first(tree):
    assert headings(tree) == [
        "What makes the step slow",
        f"Where the step goes (mean step: {example_report().step.mean_ms:.1f} ms)",
        "Step times",
        "Step times in order",
        "Time by kind of operation",
        LAYERS,
        "Top operations by their own time",
        "CPU:0 through a step",
        "Clones",
        "Tasks",
        "Hooks",
        "Memory of CPU:0 besides variables: 74.9 MiB at the peak, in step 104",
        COSTS,
        "Time by type of operation",
    ]


def test_the_page_has_all_figures(tree):
    text, report = texts(tree), example_report()
    names = [*report.phases, *report.hints]
    expected = [getattr(each, "label", None) or each.text for each in names]
    for rows in (report.kinds, report.types, report.operations, report.hooks):
        expected += [row.name for row in rows]
    expected += [report.run, "worker_0 on machine", "2 cores", "23,528,512", "16.1 G", "365.2"]
    expected += [owner.name for row in report.memory for owner in row.owners]
    expected += ["steps, 101 to 110", "slower than the others", "--input.threads", "3.20 ms"]
    assert [each for each in expected if each not in text] == []
    tiles = [each for each in tree.iter("div") if each.get("class") == "tiles"]
    found = {tile.find("small").text: tile.find("b").text for tile in tiles[0]}
    (median,) = [name for name in found if name.startswith("median step; p90")]
    assert found[median] == f"{report.step.median_ms:.1f} ms"
    assert found["waits for input"] == "36 %"
    assert found["parameters"] == "23.5 M"


def test_figures_of_a_table_are_aligned_to_the_right(tree):
    tables = {section.find("h2").text: section for section in tree.iter("section")}
    for title, expected in (
        ("Top operations by their own time", ["", "n", "n", "n", "n", "", ""]),
        ("Tasks", ["", "", "n", "n", "n"]),
    ):
        heading, row = (next(tables[title].iter(group))[0] for group in ("thead", "tbody"))
        assert [cell.get("class", "") for cell in heading] == expected
        assert [cell.get("class", "") for cell in row] == expected


def test_bars_are_parts_of_the_step(tree):
    whole = next(each for each in tree.iter("svg") if each.find("title").text.startswith("Where"))
    widths = [float(rect.get("width").rstrip("%")) for rect in whole.iter("rect")]
    starts = [float(rect.get("x").rstrip("%")) for rect in whole.iter("rect")]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    assert starts == pytest.approx([sum(widths[:i]) for i in range(len(widths))], abs=0.1)
    (hooks,) = [each for each in tree.iter("section") if each.find("h2").text == "Hooks"]
    widths = [float(rect.get("width").rstrip("%")) for rect in hooks.iter("rect")]
    ms = [5.5, 4.0, 1.5]  # All hooks, then each of them.
    mean = example_report().step.mean_ms
    assert widths == pytest.approx([100 * each / mean for each in ms], abs=0.01)


def test_the_title_names_model_run_and_profile(tree):
    title = "deeplab · profile 2026_01_31_12_00_00_step_100"
    assert tree.find("head/title").text == tree.find("body//h1").text == title
    page = html_page(dataclasses.replace(example_report(), model=""), "<first>")
    assert "<title>&lt;first&gt; · profile 2026" in page


def test_the_page_needs_no_network_and_follows_the_screen(tree):
    assert not {each.tag for each in tree.iter()} & {"script", "link", "img", "iframe", "object"}
    addressed = {"src", "href", "xmlns", "style"}
    assert not [each for each in tree.iter() if addressed & set(each.attrib)]
    assert "url(" not in html_page(example_report()) and "//" not in tree.find("head/style").text
    style = tree.find("head/style").text
    assert "prefers-color-scheme: dark" in style
    light, dark = (set(re.findall(r"(--\w+):", part)) for part in style.split("@media"))
    assert dark == light
    assert any(each.get("name") == "viewport" for each in tree.iter("meta"))
    pictures = [each for each in tree.iter("svg") if each.get("role")]
    assert pictures and all(each.find("title").text for each in pictures)
    used = {name for each in tree.iter() for name in (each.get("class") or "").split()}
    styled = set(re.findall(r"\.([a-z]\w*)", tree.find("head/style").text))
    assert used <= styled


def named_nastily(value):
    """The same figures, with a name in each text that breaks unescaped pages."""
    if dataclasses.is_dataclass(value):
        kept = ("kind", "device") if not hasattr(value, "layer") else ("device",)
        return dataclasses.replace(
            value,
            **{
                field.name: named_nastily(getattr(value, field.name))
                for field in dataclasses.fields(value)
                if field.name not in kept
            },
        )
    if isinstance(value, tuple):
        return tuple(map(named_nastily, value))
    return NASTY if isinstance(value, str) else value


def test_names_sizes_and_single_steps_do_not_break_the_page():
    tree = parsed(named_nastily(example_report()))
    assert "<script>alert('x')</script>&\"???" in texts(tree)
    assert not list(tree.iter("script"))
    html_page(named_nastily(example_report())).encode()
    report = example_report(steps=200)
    many = tuple(
        dataclasses.replace(report.operations[0], name=f"{'scope/' * 20}{i}") for i in range(1000)
    )
    text = html_page(dataclasses.replace(report, operations=many))
    assert len(text) < 250_000
    assert "800 smaller ones are left out" in text and "188 more" in text
    report = example_report(steps=1)
    assert "1 recorded step," in texts(parsed(report))
    step = dataclasses.replace(report.step, ms_of_steps=(0.0,), median_ms=0.0)
    parsed(report, step=step)


def test_sections_columns_and_tables_without_figures_are_left_out():
    report = example_report()
    nothing = {name: () for name, value in vars(report).items() if isinstance(value, tuple)}
    nothing |= {"examples_per_step": None, "examples_per_sec": None, "profiler_ms": 0.0}
    tree = parsed(report, **nothing)
    assert headings(tree) == ["Step times", "Step times in order"]
    assert "None of the usual causes" in texts(tree)
    alone = parsed(report, clones=report.clones[:1], tasks=report.tasks[:1])
    assert not {"Clones", "Tasks"} & set(headings(alone))
    unknown = tuple(dataclasses.replace(row, gflops_per_sec=None) for row in report.operations)
    assert "GFLOP/s" in texts(parsed(report))
    assert "GFLOP/s" not in texts(parsed(report, operations=unknown, costs=()))


def test_steps_beyond_the_median_stand_out():
    report = example_report()
    times = (*report.step.ms_of_steps[:-1], 3 * report.step.median_ms)
    step = dataclasses.replace(report.step, ms_of_steps=times)
    tree = parsed(report, step=step, first_step=50)
    marked = [each for each in tree.iter("rect") if each.get("class") == "warn"]
    expected = f"recorded step 10: {times[-1]:.0f} ms"
    assert [each.find("title").text for each in marked] == [expected]


def test_many_layers_are_added_up_to_outer_scopes_first():
    report = example_report()
    layers = tuple(
        dataclasses.replace(report.layers[0], name=f"block_{i % 3}/unit_{i}", share=0.01)
        for i in range(30)
    )
    tree = parsed(report, layers=layers)
    (section,) = [s for s in tree.iter("section") if s.find("h2").text == LAYERS]
    outer, every = list(section.iter("tbody"))
    assert sorted(row[0][0].text for row in outer) == ["block_0", "block_1", "block_2"]
    assert len(every) == 30 and section.find("details/summary").text == "30 one by one"


def test_hints_are_sentences_with_the_option_marked():
    hint = Hint("slow_hook", 0.36, "", "the hook is slow", "set --a 8, or wait", "--a")
    tree = parsed(example_report(), hints=(hint,), proofs=())
    (shown,) = [each for each in tree.iter("div") if each.get("class") == "hint"]
    assert "".join(shown.itertext()).startswith(
        "The hook is slowSet --a 8, or wait (gains up to 36 %"
    )
    assert [each.text for each in shown.iter("code")] == ["--a"]


def test_proofs_stand_with_their_hints():
    hint = Hint("slow_hook", 0.36, "", "the hook is slow", "wait", "")
    facts = {"ratio": 1.5, "low": 1.4, "high": 1.6, "losses": "losses equal"}
    proofs = tuple(
        Proof(cause, {"a": "1"}, "faster", **facts) for cause in ("slow_hook", "together")
    )
    tree = parsed(example_report(), hints=(hint,), proofs=proofs)
    alone, together = [each for each in tree.iter("div") if each.get("class") == "hint"]
    text = "proved: 1.50x (1.40 to 1.60), losses equal  [--a=1]"
    assert text in "".join(alone.itertext()) and text in "".join(together.itertext())


class Texts(HTMLParser):
    """The texts of a page, as a browser reads them."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.tags = [], set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


@COUNTS
def test_any_name_of_an_operation_is_read_as_it_was(count):
    report = example_report()
    known = Texts(html_page(report)).tags

    def check(name):
        first = dataclasses.replace(report.operations[0], name=f"op-{name}-op")
        page = Texts(html_page(dataclasses.replace(report, operations=(first,))))
        assert f"op-{printable_in_html(name)}-op" in page.texts
        assert page.tags <= known

    hostile = strategies.sampled_from(["</td>", "<script>", "&lt;", "&#0;", "${title}", "<!--"])
    check_many(check, count, name=TEXTS | hostile)


def printable_in_html(name):
    """The name with marks instead of the characters that HTML does not allow."""
    refused = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
    return refused.sub("?", name)
