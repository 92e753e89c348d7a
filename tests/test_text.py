import pytest

from tf_frame.text import (
    brief,
    figure,
    listed,
    printable,
    readable_count,
    short,
    short_word,
    spreadsheet_cell,
    with_article,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5000"),
        (0.0, "0.0000"),
        (1e-4, "0.0001"),
        (9.9e-5, "9.900e-05"),
        (-3.14159e-7, "-3.142e-07"),
        (1234.5, "1234.5000"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
    ],
)
def test_a_figure_is_never_shown_as_zero_unless_it_is(value, text):
    assert figure(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0 k"),
        (300_100_000, "300.1 M"),
        (999_960_000, "1.0 G"),
        (7.5e15, "7500.0 T"),
    ],
)
def test_a_count_has_the_unit_that_leaves_at_least_one(count, text):
    assert readable_count(count) == text


def test_an_article_goes_by_the_first_letter():
    assert [with_article(word) for word in ("input", "hook")] == ["an input", "a hook"]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+1 (x)", "'+1 (x)"),
        ("-dash.png", "'-dash.png"),
        (" =1", "' =1"),
        ("\uff1d1", "'\uff1d1"),
        ("'=1", "''=1"),
        ("\t=1", "\\u0009=1"),
        ("\r=1\n", "\\u000d=1\\u000a"),
        ("\x1b[31m", "\\u001b[31m"),
    ],
)
def test_a_cell_is_never_a_formula_nor_steers_a_terminal(value, cell):
    assert spreadsheet_cell(value) == cell


@pytest.mark.parametrize(
    "value", ["-5", "+.5e-3", "-1.", "a=b", "it's", "1-2", "caf\u00e9", "", -5, 0.5, None, "a\\b"]
)
def test_numbers_and_other_texts_stay_in_a_cell(value):
    assert spreadsheet_cell(value) == value


def test_control_characters_are_escaped():
    text = "a\x1b]0;x\x07\x85\u2028\u202egpj.\udcff\n"
    assert printable(text) == r"a\u001b]0;x\u0007\u0085\u2028\u202egpj.\udcff\u000a"
    assert printable("a\n\tb\x7f", keep="\n\t") == "a\n\tb\\u007f"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\nb", r"'a\nb'"),
        ({"b": [1, 2.5], "a": None}, "{'a': None, 'b': [1, 2.5]}"),
        ("a  b", "'a  b'"),
        ("x" * 70, f"'{'x' * 70}'"),
        ("x" * 10**6 + "end", "'" + "x" * 56 + "..." + "x" * 16 + "end'"),
        (
            [10**9] * 10**5,
            "[1000000000, 1000000000, 1000000000, 1000000000, 10000000...00, 1000000000, ...]",
        ),
    ],
)
def test_a_value_is_brief(value, text):
    assert brief(value) == text


def test_a_whole_number_that_python_cannot_write_is_described():
    assert brief({"a": [-(10**5000)]}) == "{'a': [a whole number of 16610 bits]}"
    assert brief(10**5000) == "a whole number of 16610 bits"


def test_a_text_is_short_and_printable():
    assert short("runs/a b\t\x1b[31m") == r"runs/a b\u0009\u001b[31m"
    assert short("/a" + "b" * 9000 + "/c.yaml") == "/a" + "b" * 100 + "..." + "b" * 28 + "/c.yaml"
    assert len(short("\0" * 9000)) == 140 and len(short_word("\0" * 9000)) == 80


def test_names_are_listed_up_to_a_length():
    assert listed([]) == "none" and listed((), none="no name") == "no name"
    assert listed(["a", 1]) == "a, 1"
    assert listed(f"name_{n}" for n in range(1000)).endswith("name_14, name_15 and 984 more")
    assert listed(["x" * 5000, "y"]) == f"{short_word('x' * 5000)}, y"
