import pathlib

import pytest

from tf_frame.config import values


@pytest.mark.parametrize(
    ("raw", "type_", "value"),
    [
        ("true", bool, True),
        ("Yes", bool, True),
        ("1", bool, True),
        (True, bool, True),
        ("off", bool, False),
        ("F", bool, False),
        (False, bool, False),
        ("-3", int, -3),
        (7, int, 7),
        (7.0, int, 7),
        ("1e-4", float, 1e-4),
        (2, float, 2.0),
        ("abc", str, "abc"),
        (5, str, "5"),
        ("", str, ""),
        (None, int | None, None),
        ("None", int | None, None),
        ("null", float | None, None),
        ("4", int | None, 4),
        (None, tuple[int, ...] | None, None),
        ("1,2", tuple[int, ...] | None, (1, 2)),
        ("1, 2 ,3", tuple[int, ...], (1, 2, 3)),
        ([1, 2], tuple[float, ...], (1.0, 2.0)),
        ((), tuple[int, ...], ()),
        ("  ", tuple[str, ...], ()),
        (5, tuple[int, ...], (5,)),
        ("a", tuple[str, ...], ("a",)),
        ("true,false", tuple[bool, ...], (True, False)),
        (str(2**63 - 1), int, 2**63 - 1),
        (str(-(2**63)), int, -(2**63)),
    ],
)
def test_a_value_is_parsed_to_its_type(raw, type_, value):
    parsed = values.parse(raw, type_)
    assert (parsed, type(parsed)) == (value, type(value))
    if isinstance(value, tuple):
        assert [type(item) for item in parsed] == [type(item) for item in value]


@pytest.mark.parametrize(
    ("raw", "type_", "message"),
    [
        ("maybe", bool, "'maybe' is not true or false"),
        (1, bool, "1 is not true or false"),
        ("", bool, "'' is not true or false"),
        (None, bool, "None is not true or false"),
        ("1.5", int, "'1.5' is not a whole number"),
        (1.5, int, "1.5 is not a whole number"),
        (True, int, "True is not a whole number"),
        ("", int, "'' is not a whole number"),
        (None, int, "None is not a whole number"),
        ([1], int, r"\[1\] is not a whole number"),
        (float("inf"), int, "inf is not a whole number"),
        ("fast", float, "'fast' is not a number"),
        (False, float, "False is not a number"),
        (None, float, "None is not a number"),
        ({}, float, "{} is not a number"),
        ("nan", float, "'nan' is not a finite number"),
        ("-inf", float, "'-inf' is not a finite number"),
        (10**400, float, "0 is too large a number"),
        (None, str, "None is not a text"),
        (["a"], str, r"\['a'\] is not a text"),
        ({"a": 1}, str, r"{'a': 1} is not a text"),
        ("x", int | None, "'x' is not a whole number"),
        ("1,,2", tuple[int, ...], "'' is not a whole number"),
        ("1,x", tuple[int, ...], "'x' is not a whole number"),
        (None, tuple[int, ...], "None is not a whole number"),
        ({"a": 1}, tuple[str, ...], "{'a': 1} is not a text"),
        *(
            (number, int, r"is beyond 64 bits; allowed: -9223372036854775808 to 9\d+")
            for number in (2**63, str(2**63), -(2**63) - 1, 1e300)
        ),
    ],
)
def test_a_wrong_value_says_what_is_wrong(raw, type_, message):
    with pytest.raises(ValueError, match=f"{message}$"):
        values.parse(raw, type_)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, bool),
        (False, bool),
        (None, int | None),
        (12, int),
        (0.25, float),
        (1e-8, float),
        (0.1234567891, float),
        (10.0, float),
        ("text", str),
        ((6, 12, 18), tuple[int, ...]),
        ((), tuple[str, ...]),
    ],
)
def test_text_of_a_value_parses_to_the_value(value, type_):
    assert values.parse(values.to_text(value), type_) == value


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (bool, "bool"),
        (int, "int"),
        (str, "text"),
        (float | None, "float"),
        (tuple[int, ...], "int,..."),
        (tuple[str, ...] | None, "text,..."),
    ],
)
def test_types_have_names_for_the_help(type_, text):
    assert values.type_text(type_) == text


def test_the_nearest_word_if_one_is_similar():
    assert values.nearest("max_step", ["max_steps", "max_to_keep"]) == "max_steps"
    assert values.nearest("qqqq", ["max_steps", "max_to_keep"]) is None


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (list[int], r"list\[int\]"),
        (dict, "dict"),
        (pathlib.Path, "Path"),
        (tuple, "tuple"),
        (tuple[int, int], r"tuple\[int, int\]"),
        (tuple[tuple[int, ...], ...], r"tuple\[tuple"),
        (int | str, r"int \| str"),
        (list[int] | None, r"list\[int\] \| None"),
    ],
)
def test_a_type_without_options_is_named_with_the_types_there_are(type_, name):
    expected = f"^there are no options of type {name}.*; there are bool, int, float, str, T"
    with pytest.raises(ValueError, match=expected):
        values.parse("1", type_)


def test_a_zero_character_is_refused_for_no_path_can_have_it():
    with pytest.raises(ValueError, match=r"'a\\x00b' has a zero character"):
        values.parse("a\0b", str)
    with pytest.raises(ValueError, match="has a zero character"):
        values.parse(["a", "b\0"], tuple[str, ...])
