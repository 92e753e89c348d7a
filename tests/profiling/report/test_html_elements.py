"""Elements of the page."""

from tf_frame.profiling.report.html_elements import Markup, element, join, table


def test_texts_and_attributes_are_escaped_and_markup_is_not():
    inner = element("b", "a < b")
    made = element("td", inner, " & c", class_="n", title='say "x"', x=None)
    assert made == '<td class="n" title="say &quot;x&quot;"><b>a &lt; b</b> &amp; c</td>'


def test_names_of_attributes_have_dashes():
    assert element("text", text_anchor="end", viewBox="0 0 1 1") == (
        '<text text-anchor="end" viewBox="0 0 1 1"></text>'
    )


def test_only_void_elements_close_themselves():
    assert element("meta", charset="utf-8") == '<meta charset="utf-8"/>'
    assert element("svg") == "<svg></svg>"


def test_characters_that_html_refuses_are_replaced():
    assert join(["a\x00\x1b\ud800\ufffeb\tc\n", Markup("<wbr/>")]) == "a????b\tc\n<wbr/>"


def test_figures_of_a_table_are_aligned_to_the_right():
    made = table(("name", "ms"), [("a", "1")], right=[1])
    assert '<th>name</th><th class="n">ms</th>' in made
    assert '<td>a</td><td class="n">1</td>' in made
