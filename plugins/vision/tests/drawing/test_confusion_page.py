"""The list of confusions, and the page with a large matrix."""

from html.parser import HTMLParser

import numpy as np
import pytest

from tf_frame_vision.drawing import confusion_page as module
from tf_frame_vision.drawing.confusion_page import (
    confusion_page,
    confusions_text,
    top_confusions,
)

MATRIX = np.diag(np.full(30, 9.0))
MATRIX[2, 5], MATRIX[4, 1], MATRIX[4, 2] = 1, 27, 4
NAMES = ["a", "b", "<script>c", "d", "\x1be & f"]
VOID = ("meta", "input", "rect")


class Page(HTMLParser):
    """Tags of a page in their order, texts, and the elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_most_frequent_confusions_are_listed_first():
    names = [str(number) for number in range(30)]
    assert [tuple(one) for one in top_confusions(MATRIX, names, 2)] == [
        ("4", "1", 27, 40),
        ("4", "2", 4, 40),
    ]
    assert confusions_text(MATRIX, NAMES).splitlines() == [
        "most frequent confusions: label -> prediction",
        "  \\u001be & f -> b          27  of 40  67.5%",
        "  \\u001be & f -> <script>c   4  of 40  10.0%",
        "  <script>c -> 5             1  of 10  10.0%",
    ]
    assert confusions_text(np.eye(3), NAMES) == "no class was taken for another one\n"


def test_the_page_has_every_cell_and_no_script_or_address():
    text = confusion_page(MATRIX, NAMES)
    page = Page(text)
    assert page.open == []
    assert not {"script", "link", "img"} & {tag for tag, _ in page.tags} and "http" not in text
    assert "color-scheme: light dark" in text
    cells = {
        (int(one["y"]), int(one["x"])): float(one["fill-opacity"])
        for tag, one in page.tags
        if tag == "rect"
    }
    assert set(cells) == set(zip(*map(np.ndarray.tolist, np.nonzero(MATRIX)), strict=True))
    assert cells[4, 1] == pytest.approx((27 / 40) ** 0.5, abs=0.01)
    assert "\\u001be & f \u2192 b: 27 of 40 (67.5%)" in page.texts
    checked = [one["id"] for tag, one in page.tags if tag == "input" and "checked" in one]
    assert checked == ["size24"]


def test_a_large_matrix_is_bounded_and_says_so(monkeypatch):
    monkeypatch.setattr(module, "_MOST_CELLS", 31)
    page = Page(confusion_page(MATRIX, []))
    assert sum(tag == "rect" for tag, _ in page.tags) == 31
    assert any("2 cells of the smallest shares are left out." in text for text in page.texts)
