"""`tf_frame.side_files`: damaged files beside checkpoints end no run."""

import dataclasses
import functools

import pytest

from tf_frame.errors import DataError
from tf_frame.side_files import (
    as_object,
    from_json,
    read_or_set_aside,
    read_side_file,
    write_json,
)


@dataclasses.dataclass
class Facts:
    name: str
    step: int | None
    secs: float = 1.0
    good: bool = True


def read_facts(path):
    return read_side_file(str(path), functools.partial(from_json, Facts))


def test_numbers_that_json_lacks_are_null(tmp_path):
    path = str(tmp_path / "facts.json")
    write_json(path, {"a": float("nan"), "b": [float("inf"), 1.5, (2, {"c": -float("inf")})]})
    assert read_side_file(path, as_object) == {"a": None, "b": [None, 1.5, [2, {"c": None}]]}


def test_a_file_is_parsed_and_no_file_is_none(tmp_path):
    path = tmp_path / "facts.json"
    assert read_facts(path) is None
    path.write_text('{"name": "a", "step": null, "secs": 2, "good": false}')
    assert read_facts(path) == Facts("a", None, 2, False)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty"),
        ("{", "is damaged: line 1, column 2"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 50_000, "nested too deeply"),
        ("1" * 5000, "thousands of digits"),
        ("[]", "[] is no object"),
        ("null", "None is no object"),
        ("{}", "it lacks name, step"),
        ('{"name": "a", "step": 1, "more": 2}', "'more' is unknown"),
        ('{"name": 1, "step": 1}', "name is 1"),
        ('{"name": "a", "step": true}', "step is True"),
        ('{"name": "a", "step": 1.5}', "step is 1.5"),
        ('{"name": "a", "step": 1' + "0" * 30 + "}", "step is 1000000"),
        ('{"name": "a", "step": 1, "secs": NaN}', "secs is nan"),
        ('{"name": "a", "step": 1, "secs": 1e999}', "secs is inf"),
        ('{"name": "a", "step": 1, "secs": "' + "x" * 9000 + '"}', "secs is 'xxx"),
        ("\x00\x00", "is a zero"),
    ],
)
def test_damage_is_named_in_one_short_line(tmp_path, content, reason):
    path = tmp_path / "facts.json"
    path.write_text(content)
    with pytest.raises(DataError) as error:
        read_facts(path)
    message = str(error.value)
    assert reason in message and message.startswith(str(path))
    assert len(message) < len(str(path)) + 200 and "\n" not in message


@pytest.mark.parametrize(
    "error", [OverflowError("far"), RecursionError(), KeyError("a"), IndexError()]
)
def test_any_error_of_the_form_is_damage(tmp_path, error):
    def parse(content):
        raise error

    path = tmp_path / "a.json"
    path.write_text("1")
    with pytest.raises(DataError, match=r"a\.json is damaged: \S"):
        read_side_file(str(path), parse)


def test_a_damaged_file_is_kept_aside_and_reported(tmp_path):
    path, said = tmp_path / "a.json", []
    path.write_text("{half")
    assert read_or_set_aside(str(path), as_object, report=said.append) is None
    assert not path.exists() and (tmp_path / "a.json.damaged").read_text() == "{half"
    assert said[0].endswith(
        "it is kept as " + str(path) + ".damaged, and the run goes on without it"
    )
    assert read_or_set_aside(str(path), as_object, report=said.append) is None
    assert len(said) == 1


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    path = tmp_path / "a.json"
    path.mkdir()
    with pytest.raises(DataError, match="Is a directory"):
        read_side_file(str(path), as_object)


def test_a_file_that_is_far_too_large_is_not_read(tmp_path):
    path = tmp_path / "facts.json"
    with path.open("w") as file:
        file.truncate(2**40)  # Which takes no room.
    with pytest.raises(DataError, match="is damaged: it has more than 64 MiB"):
        read_facts(path)
