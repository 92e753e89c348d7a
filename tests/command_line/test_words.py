import pytest

from tf_frame.command_line.words import split_words
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError

OWN = [Option("input", tuple[str, ...], (), "files"), Option("steps", int, 7, "steps")]


def test_options_of_plugins_stay_text_by_the_first_part_of_their_name():
    words = ["--model.depth", "-5", "--max_steps=9", "--nomodel.frozen", "--transform.scale.f=2"]
    line = split_words([*words, "--plugin", "toy", "--hook.a.b", "c", "--input.x", ".5"])
    assert line.values == {"plugin": "toy", "max_steps": 9}
    assert line.plugin_words == {
        "model": ["--model.depth", "-5", "--nomodel.frozen"],
        "transform": ["--transform.scale.f=2"],
        "hook": ["--hook.a.b", "c"],
        "input": ["--input.x", ".5"],
    }
    assert not line.unknown


@pytest.mark.parametrize(
    "words",
    [["--max_step", "3"], ["stray"], ["--mdel.depth", "3"], ["--", "--model.depth", "3"]],
)
def test_all_else_is_unknown_until_the_plugins_are_loaded(words):
    line = split_words(["--max_steps", "9", *words])
    assert (line.values, line.unknown, line.plugin_words) == ({"max_steps": 9}, words, {})


def test_options_of_the_command_hide_those_of_a_run_and_have_defaults():
    line = split_words(["--input", "a", "--input=b", "--random_seed", "4"], OWN)
    assert line.own_values == {"input": ("a", "b"), "steps": 7}
    assert line.values == {"random_seed": 4}
    assert split_words(["--input", "a"]).values == {"input": "a"}


def test_a_value_is_refused_before_a_plugin_is_loaded():
    with pytest.raises(ConfigError, match="'many' is not a whole number"):
        split_words(["--plugin", "none_such", "--max_steps", "many"])


def test_a_value_that_is_set_by_a_command_is_as_good_as_typed():
    line = split_words(["--max_steps", "9", "--random_seed", "4"]).with_values(max_steps=3)
    assert line.values == {"max_steps": 3, "random_seed": 4}
