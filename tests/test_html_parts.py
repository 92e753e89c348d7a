"""Tables and sections of HTML pages."""

from tf_frame import html_parts
from tf_frame.html_parts import folded, table

COLUMNS = {"name": lambda row: row[0], "kind": lambda row: "k", "value": lambda row: str(row[1])}


def test_texts_are_escaped_and_figures_are_aligned():
    text = table([("<b>", 1)], COLUMNS, text_columns=("kind",))
    assert '<td>&lt;b&gt;</td><td>k</td><td class="n">1</td>' in text
    assert '<th>name</th><th>kind</th><th class="n">value</th>' in text


def test_further_rows_are_folded_and_the_smallest_ones_left_out(monkeypatch):
    monkeypatch.setattr(html_parts, "SHOWN", 2)
    monkeypatch.setattr(html_parts, "_MOST", 5)
    text = folded("Rows <1>", [(str(n), n) for n in range(8)], COLUMNS)
    assert text.startswith("<section><h2>Rows &lt;1&gt;</h2>")
    shown, _, more = text.partition("<details>")
    assert (shown.count("<td>k</td>") + shown.count('<td class="n">k</td>'), "3 more" in more) == (
        *(2, True),
    )
    assert "3 smaller ones are left out." in more


def test_a_summary_stands_for_the_rows_before_a_click():
    text = folded("Rows", [("a", 1), ("b", 2)], COLUMNS, summary=[("all", 3)])
    shown, _, more = text.partition("<details>")
    assert ">all<" in shown and ">a<" not in shown
    assert "2 one by one" in more and ">a<" in more


def test_without_rows_there_is_no_section():
    assert not folded("Rows", [], COLUMNS)
