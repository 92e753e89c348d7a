import pytest
import yaml

from tf_frame import yaml_text
from tf_frame.yaml_text import Bounded, YamlError, parse_yaml

# Nine lines that stand for a billion texts.
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


class Loader(Bounded, yaml.SafeLoader):
    """Reads as `yaml.safe_load`."""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, "it has too many values, by aliases of lists or mappings in line 5"),
        ("a: &a {b: *a}", "too many values, by aliases of lists or mappings in line 1"),
        ("[" * 100_000, "it is nested too deeply in line 1"),
        ("\n".join(" " * n + "a:" for n in range(60)), "it is nested too deeply in line"),
        ("9" * 5000, "it has a number of thousands of digits in line 1"),
        ("a:\n- 0x" + "f" * 5000, "it has a number of thousands of digits in line 2"),
        ("1:" * 3000 + "1", "it has a number of thousands of digits in line 1"),
        ("2026-02-31", "a value of it: day is out of range"),
        ("a: b: c", "mapping values are not allowed here in line 1"),
        ("a: \x00", "unacceptable character"),
        ("a: *b", "found undefined alias 'b' in line 1"),
    ],
)
def test_what_is_no_yaml_or_beyond_the_bounds_is_one_line(text, message):
    with pytest.raises(YamlError, match=message) as error:
        parse_yaml(text, Loader)
    assert "\n" not in str(error.value) and len(str(error.value)) < 200


def test_a_long_list_is_refused_before_its_end_is_parsed(monkeypatch):
    monkeypatch.setattr(yaml_text, "_MOST_NODES", 100)
    with pytest.raises(YamlError, match="it has more than 100 values in line 1"):
        parse_yaml("[" + "x," * 200 + "}", Loader)
    assert len(parse_yaml("[" + "x," * 99 + "]", Loader)) == 99


def test_some_aliases_and_some_levels_are_read():
    assert parse_yaml("a: &a [5]\nb: *a\nc: {d: [[e]]}", Loader) == {
        "a": [5],
        "b": [5],
        "c": {"d": [["e"]]},
    }
    deep = parse_yaml("[" * 40 + "]" * 40, Loader)
    for _ in range(39):
        (deep,) = deep
    assert deep == []
