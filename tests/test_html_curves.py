"""Curves of HTML pages: their data and colours."""

import json
import re

import pytest

from tf_frame.html_curves import color, curves, curves_script


def read_data(figure):
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', figure, re.DOTALL)
    return json.loads(text)


def test_lines_have_the_colours_of_all_labels_and_then_dashes():
    order = [f"r{number}" for number in range(12)]
    lines = read_data(curves("loss", {label: [(1, 2.0)] for label in order[1:]}, order))
    assert [line["color"] for line in lines] == [*(f"c{n}" for n in range(1, 9)), "c0", "c1", "c2"]
    assert [line["dash"] for line in lines] == ["none"] * 8 + ["6 3"] * 3
    assert color(10) == "c1"


def test_no_text_ends_the_element_of_the_data():
    label = "</script><script>alert(1)</script>&lt;"
    figure = curves('"><b>', {label: [(1, 2.0)]}, [label])
    assert figure.count("<script") == 1 and "<b>" not in figure
    assert read_data(figure)[0]["label"] == label


def test_a_value_that_json_does_not_have_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        curves("loss", {"a": [(1, float("nan"))]}, ["a"])


def test_the_script_sets_texts_only():
    script = curves_script()
    assert script.count("<script>") == 1 and "innerHTML" not in script
    assert "https://" not in script.replace("http://www.w3.org/2000/svg", "")
