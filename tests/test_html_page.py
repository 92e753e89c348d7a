"""The frame of HTML pages."""

from tf_frame.html_page import render_page


def test_texts_are_escaped_and_the_body_stays():
    page = render_page(
        title="<b>\x00\ud800", subtitle="a & b", body="<p>$x</p>", style="p { color: red; }"
    )
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
    assert "<title>&lt;b&gt;??</title>" in page
    assert '<p class="soft">a &amp; b</p>\n<p>$x</p>' in page
    assert page.index("p { color: red; }") < page.index("</style>")
    page.encode()
