import pytest

from tf_frame.text import columns
from tf_frame.text_width import cell_width, cut_to_width, fit_page, terminal_width, wrapped

ROWS = [
    ("NAME", "STATE", "WHAT"),
    ("a_name", "ready", "a network for photographs of a thousand kinds of things, small"),
]


@pytest.fixture(autouse=True)
def width(monkeypatch):
    def width(count):
        monkeypatch.setenv("COLUMNS", str(count))

    width(40)
    return width


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("漢字", 4),
        ("e\u0301", 1),
        ("\033[1mab\033[0m", 2),
        ("\uff21\u200b", 2),
    ],
)
def test_the_width_is_counted_in_cells(text, cells):
    assert cell_width(text) == cells


def test_a_text_is_cut_before_the_cell_that_does_not_fit():
    assert cut_to_width("a漢字", 4) == "a漢"
    assert cut_to_width("abc", 9) == "abc"


def test_the_terminal_has_80_columns_where_nobody_says(monkeypatch, width):
    width(120)
    assert terminal_width() == 120
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError))
    assert terminal_width() == 80


def test_words_are_wrapped_and_long_ones_stay_whole():
    assert wrapped("one two three", 10, first="1. ", rest="   ") == ["1. one two", "   three"]
    assert wrapped("a/very/long/path b", 5) == ["a/very/long/path", "b"]
    assert wrapped("--mode train|evaluate|predict", 16) == ["--mode train|", "evaluate|predict"]
    assert wrapped("1,000,000 and one,two", 9) == ["1,000,000", "and one,", "two"]
    assert wrapped("漢字 漢字", 6) == ["漢字", "漢字"]
    assert wrapped("", 5) == [""]


def test_columns_that_fit_are_as_wide_as_their_cells():
    assert columns([("a", "1"), ("漢字", "22")], indent=0, right=(1,)) == "a      1\n漢字  22"


def test_a_wide_column_is_wrapped_between_words():
    assert columns(ROWS, indent=0) == (
        "NAME    STATE  WHAT\n"
        "a_name  ready  a network for photographs\n"
        "               of a thousand kinds of\n"
        "               things, small"
    )


def test_a_first_cell_that_leaves_no_room_has_its_own_line(width):
    rows = [("VARIABLE", "SHAPE"), (f"{'scope/' * 6}w", "[3, 3]"), ("b", "[1]")]
    assert columns(rows, indent=0) == (
        "VARIABLE                          SHAPE\n"
        f"{'scope/' * 6}w\n"
        "                                  [3, 3]\n"
        "b                                 [1]"
    )
    width(60)
    assert max(map(len, columns(rows).split("\n"))) < 60


def test_a_row_that_lacks_a_cell_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        columns([("a", "b", "c"), ("a", "b")])


def test_an_address_at_the_end_leaves_the_other_lines_short():
    rows = [("about", "a sentence that is too long for a line"), ("from", f"https://{'x' * 60}")]
    assert columns(rows, indent=0) == (
        f"about  a sentence that is too long for a\n       line\nfrom   https://{'x' * 60}"
    )


def test_a_tree_keeps_its_indents():
    lines = columns([("    a long label that is wrapped", "1" * 16)], indent=0).split("\n")
    assert [line[:10] for line in lines] == ["    a long", "    is wra"]


def test_a_row_of_one_cell_takes_whole_lines():
    rows = [("NAME", "STATE"), ("a heading that is longer than all the columns",), ("a", "ok")]
    assert columns(rows, indent=0) == (
        "NAME  STATE\na heading that is longer than all the\ncolumns\na     ok"
    )


PAGE = """usage: tf-frame thing A
       tf-frame thing B

The text goes over
two lines.

list     shows all things, with the state
         of each
rename   short

  an indented line that is too long for this terminal
last"""


def test_a_page_is_wrapped_anew(width):
    assert fit_page(PAGE) == (
        "usage: tf-frame thing A\n"
        "       tf-frame thing B\n"
        "\n"
        "The text goes over two lines.\n"
        "\n"
        "list     shows all things, with the\n"
        "         state of each\n"
        "rename   short\n"
        "\n"
        "  an indented line that is too long for\n"
        "    this terminal\n"
        "last"
    )
    width(50)
    assert "list     shows all things, with the state of each\n" in fit_page(PAGE)


def test_an_explanation_without_room_stands_below_its_word():
    row = f"  {'w' * 20}  and this is what it means"
    assert fit_page(row) == f"  {'w' * 20}\n      and this is what it means"
