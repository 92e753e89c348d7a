"""The page and the text of a comparison."""

import html.parser
import json
import math

import pytest

from made_up_runs import alive
from tf_frame.picture_sheet import encode_png
from tf_frame.runs.comparison.compared_run import read_runs
from tf_frame.runs.comparison.comparison import compare_runs
from tf_frame.runs.comparison.page import comparison_page
from tf_frame.runs.comparison.text import format_runs

HOSTILE = "</script><img src=x onerror=alert(1)>"


class Elements(html.parser.HTMLParser):
    """Collects elements with attributes, and the text of the JSON scripts."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.data, self._in_json = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._in_json = tag == "script" and dict(attrs).get("type") == "application/json"

    def handle_endtag(self, tag):
        self._in_json = False

    def handle_data(self, data):
        if self._in_json:
            self.data.append(json.loads(data))

    def count(self, tag):
        return sum(name == tag for name, _ in self.elements)


@pytest.fixture
def comparison(make_run, tmp_path):
    """Two runs, one with a hostile option value, each with a picture."""
    np = pytest.importorskip("numpy")
    folders = []
    for number, value in enumerate(["plain", HOSTILE]):
        folder = make_run(
            f"run<{number}>",
            config=f"plugin: deeplab\nnote: {json.dumps(value)}\n",
            evaluations=[(10, 0.5, 0.5 + number / 10), (20, 0.4, 0.6 + number / 10)],
            result={"steps_per_sec": 1.0},
        )
        (tmp_path / f"run<{number}>" / "eval").mkdir()
        picture = encode_png(np.zeros((4, 4, 3), np.uint8))
        (tmp_path / f"run<{number}>" / "eval" / "confusion.png").write_bytes(picture)
        folders.append(folder)
    return compare_runs(read_runs(folders, alive), metric="mean_iou")


def test_the_page_has_all_parts_and_escapes_all_texts(comparison):
    page = comparison_page(comparison)
    elements = Elements(page)
    assert elements.count("img") == 2  # The pictures, and nothing of the hostile value.
    assert all("onerror" not in attributes for _, attributes in elements.elements)
    pictures = [attributes["src"] for tag, attributes in elements.elements if tag == "img"]
    assert all(source.startswith("data:image/png;base64,iVBOR") for source in pictures)
    # No file of another place.
    assert not any("href" in attributes for _, attributes in elements.elements)
    (title,) = [line for line in page.splitlines() if line.startswith("<h1>")]
    assert title == "<h1>2 runs by mean_iou</h1>"
    assert "Options that differ" in page and "&lt;/script&gt;&lt;img" in page


def test_the_curves_have_the_values_and_a_colour_for_each_run(comparison):
    elements = Elements(comparison_page(comparison))
    first, loss = elements.data
    assert [(line["label"], line["points"], line["color"]) for line in first] == [
        ("A", [[10, 0.5], [20, 0.6]], "c0"),
        ("B", [[10, 0.6], [20, 0.7]], "c1"),
    ]
    assert loss[0]["points"] == [[10, 0.5], [20, 0.4]]


def test_a_picture_that_is_too_large_is_left_out_and_named(comparison, tmp_path, monkeypatch):
    monkeypatch.setattr("tf_frame.runs.comparison.page._LARGEST_PICTURE", 10)
    page = comparison_page(comparison)
    assert Elements(page).count("img") == 0


def test_many_points_are_thinned(make_run):
    folders = [
        make_run(
            f"r{n}",
            evaluations=[(20, 0.1, 0.9)],
            train=[(step, float(step)) for step in range(1, 2501)],
        )
        for n in range(2)
    ]
    page = comparison_page(compare_runs(read_runs(folders, alive)))
    (curve,) = Elements(page).data
    points = curve[0]["points"]
    assert len(points) == 834 and points[0] == [3, 2.0] and points[-1][0] == 2500


def test_the_text_has_the_tables_the_curves_and_the_verdict(comparison, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = format_runs(comparison)
    for heading in ("options that differ", "metrics at step 20", "mean_iou by step", "speed"):
        assert f"\n{heading}\n" in text
    assert "mean_iou, 0.5000 to 0.7000, steps 10 to 20\n  A  ▁▅  0.6000\n  B  ▅█  0.7000" in text
    assert "More seeds of each setting tell more" in " ".join(text.split())
    assert "best mean_iou" in text


def test_values_that_are_not_finite_are_drawn_by_neither(make_run):
    folders = [
        make_run(
            f"r{n}",
            config=f"random_seed: {n}\n",
            evaluations=[(10, 0.1, 0.5), (20, 0.1, values)],
            train=[(10, 0.5), (20, math.inf)],
        )
        for n, values in ((1, math.nan), (2, 0.7))
    ]
    compared = compare_runs(read_runs(folders, alive), metric="mean_iou")
    assert "training loss, 0.5000 to 0.5000" in format_runs(compared)
    lines = Elements(comparison_page(compared)).data[0]
    assert [line["points"] for line in lines] == [[[10, 0.5]], [[10, 0.5], [20, 0.7]]]
