"""Geometry of the pictures."""

import xml.etree.ElementTree as ET

import pytest

from tf_frame.profiling.report.html_charts import Mark, Part, area, bar, columns, stacked_bar


def shapes(picture, tag="rect"):
    return list(ET.fromstring(picture).iter(tag))


def test_bars_have_shares_and_labels():
    parts = [Part("input", 30, "30 ms", "c1"), Part("other", 1, "1 ms", "c0")]
    picture = stacked_bar("step", parts)
    assert [rect.get("width") for rect in shapes(picture)] == ["96.77%", "3.23%"]
    assert [text.text for text in shapes(picture, "text")] == ["97 %"]
    assert shapes(picture)[1].find("title").text == "other: 1 ms"
    assert shapes(bar(0, 0, "c0", title="x"))[0].get("width") == "0%"
    columns("t", [], [], ends=("", ""))
    area("t", [], 0, ends=("", ""), mark=Mark(0, ""))
    stacked_bar("t", [Part("nothing", 0, "0 ms", "c0")])


@pytest.mark.parametrize(("value", "width"), [(5, "50%"), (0, "0%"), (20, "100%"), (-1, "0%")])
def test_a_bar_stays_within_its_place(value, width):
    assert shapes(bar(value, 10, "c0", title="x"))[0].get("width") == width


def test_areas_and_columns_have_heights_marks_and_labels():
    picture = columns("t", [1, 4, 0], list("abc"), ends=("0", "9"), highlighted=[1])
    rects = shapes(picture)
    assert [float(rect.get("height")) for rect in rects] == [30, 120, 0]
    assert {float(rect.get("y")) + float(rect.get("height")) for rect in rects} == {144}
    assert [rect.get("class") for rect in rects] == ["c0", "warn", "c0"]
    assert [text.text for text in shapes(picture, "text")] == ["0", "9"]
    picture = columns("t", [2, 4], ["a", "b"], ends=("", ""), mark=Mark(3, "median"))
    line = shapes(picture, "line")[0]
    assert (line.get("y1"), line.get("y2")) == ("54", "54")
    assert "┄ median" in [text.text for text in shapes(picture, "text")]
    labels = shapes(columns("t", [1, 4], ["a", "b"], ends=("", ""), labels=["1", "4"]), "text")[:2]
    assert [(label.text, label.get("x")) for label in labels] == [("1", "25%"), ("4", "75%")]
    assert [float(label.get("y")) for label in labels] == [110, 20]
    picture = area("t", [0, 2], 4, ends=("a", "b"), mark=Mark(1, "mean"))
    (path,) = shapes(picture, "path")
    assert path.get("d") == "M0,100 L0,100 L500,100 L500,50 L1000,50 L1000,100 Z"
