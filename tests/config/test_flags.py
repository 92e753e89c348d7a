import re
from pathlib import Path

import pytest

from tf_frame.command_line.selection import MODEL_DIR
from tf_frame.config import values
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.config.run_options import RunOptions, run_options
from tf_frame.config.values import to_text
from tf_frame.errors import ConfigError

OPTIONS = [
    Option("steps", int, 10, "steps", min=1),
    Option("evaluate", bool, True, "evaluate"),
    Option("secs", int | None, 600, "seconds"),
    Option("sizes", tuple[int, ...], (), "sizes"),
    Option("transform", tuple[str, ...], None, "transforms"),
    Option("model.depth", int, 1, "depth"),
    Option("plugin", str, None, "plugin"),
]
ABC = {"transform": ("a", "b", "c")}


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("lr", "learning_rate"),
        ("batch_size", "train_batch_size"),
        ("checkpoint_every_n_steps", "save_checkpoint_steps"),
        ("max_step", "max_steps"),
    ],
)
def test_a_name_of_another_trainer_is_answered_with_the_option(word, name):
    with pytest.raises(ConfigError, match=f"unknown option --{word}; did you mean --{name}[?]"):
        parse_flags([f"--{word}", "2"], run_options())


def test_each_name_of_another_trainer_is_one_of_an_option():
    names = {option.name for option in (*run_options(), MODEL_DIR)}
    assert names >= set(values._OF_OTHER_TRAINERS.values())
    assert not names & set(values._OF_OTHER_TRAINERS)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ([], {}),
        (["--steps", "3"], {"steps": 3}),
        (["--steps=3", "--plugin", "toy"], {"steps": 3, "plugin": "toy"}),
        (["--steps", "3", "--steps", "4"], {"steps": 4}),
        (["-steps", "3"], {"steps": 3}),
        (["--model.depth=2"], {"model.depth": 2}),
        (["--secs", "none"], {"secs": None}),
        (["--secs", "-5"], {"secs": -5}),
        (["--plugin="], {"plugin": ""}),
        (["--evaluate"], {"evaluate": True}),
        (["--noevaluate"], {"evaluate": False}),
        (["--evaluate=no"], {"evaluate": False}),
        (["--sizes", "1,2"], {"sizes": (1, 2)}),
        (["--sizes", "1,2", "--sizes", "3"], {"sizes": (3,)}),
        (["--transform="], {"transform": ()}),
        (["--transform", "a", "--transform", "b", "--transform=c"], ABC),
        (["--transform", "a,b,c"], ABC),
        (["--transform=a,b", "--transform", "c"], ABC),
        (["--transform", "a", "--steps", "3", "--transform", "b,c"], {**ABC, "steps": 3}),
    ],
)
def test_only_the_flags_given_are_returned_and_a_tuple_of_text_adds_up(words, values):
    assert parse_flags(words, OPTIONS) == values
    assert split_flags(words, OPTIONS) == (values, [])


def test_a_value_may_be_given_twice_in_separate_parses():
    words = ["--transform", "a"]
    assert [parse_flags(words, OPTIONS) for _ in range(2)] == [{"transform": ("a",)}] * 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--step", "3"], "unknown option --step; did you mean --steps?"),
        (["--model.dept", "3"], "unknown option --model.dept; did you mean --model.depth?"),
        (["--zzzz"], "unknown option --zzzz; --help lists the options"),
        (["--nosteps"], "unknown option --nosteps; did you mean --steps?"),
        (["--no-evaluate"], "unknown option --no-evaluate; did you mean --noevaluate?"),
        (["--steps"], "Missing value for flag --steps"),
        (["--steps", "many"], "--steps: 'many' is not a whole number"),
        (["--steps", "0"], "--steps: 0 is out of range; allowed: 1 or more"),
        (["--evaluate=perhaps"], "--evaluate: 'perhaps' is not true or false"),
        (["stray"], "unexpected word 'stray'; options start with --"),
        (["--steps", "3", "stray"], "unexpected word 'stray'; options start with --"),
        (["--", "stray"], "unexpected word 'stray'; options start with --"),
        (
            ["--evaluate", "False"],
            "unexpected word 'False'; a switch takes no second word: --name, --noname or "
            "--name=false",
        ),
    ],
)
def test_a_wrong_word_is_explained(words, message):
    with pytest.raises(ConfigError) as error:
        parse_flags(words, OPTIONS)
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["x" * 3000, "deep" + "x" * 3000, "a." + "b" * 3000])
def test_an_unknown_name_of_any_length_is_refused_in_a_short_line(name):
    with pytest.raises(ConfigError, match="unknown option --") as error:
        parse_flags([f"--{name}"], OPTIONS)
    assert len(str(error.value)) < 300


def test_no_document_gives_a_switch_a_second_word():
    root = Path(__file__).parents[2]
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("plugins/*/*.md")]
    wrong = re.compile(r"--[\w.]+ (?:true|false)\b")
    mistakes = {path: wrong.findall(path.read_text(encoding="utf-8")) for path in documents}
    assert len(mistakes) > 10 and not any(mistakes.values())


def test_known_flags_are_found_among_unknown_ones_and_checked():
    words = ["--model.width", "4", "--plugin", "toy", "stray", "--deep", "--steps=3"]
    assert split_flags(words, OPTIONS)[0] == {"plugin": "toy", "steps": 3}
    with pytest.raises(ConfigError, match="'many' is not a whole number"):
        split_flags(["--other", "1", "--steps", "many"], OPTIONS)


def another_value(option):
    """A value that the option allows and that is not its default."""
    if option.type is bool:
        return not option.default
    if option.choices:
        return next(choice for choice in option.choices if choice != option.default)
    if option.type in (str, str | None):
        return "grpc://localhost:2222"
    if option.type == tuple[str, ...]:
        return ("a",)
    if option.type == tuple[int, ...]:
        return (20, 200)
    if option.max is not None:
        value = ((option.default or 0) + option.max) / 2
        return (int(value) if option.type is int else value) or option.min
    return (option.default or 0) * 2 if (option.default or 0) > 0 else 1


@pytest.mark.parametrize("option", run_options(), ids=lambda option: option.name)
def test_a_run_option_can_be_set_by_its_flag_and_has_a_help_of_one_line(option):
    value = another_value(option)
    assert value != option.default
    values = parse_flags([f"--{option.name}={to_text(value)}"], run_options())
    assert values == {option.name: value}
    assert option.help.strip()
    assert "\n" not in option.help


def test_the_run_options_are_all_there_are():
    names = [option.name for option in run_options()]
    assert len(names) == len(set(names))
    assert set(names) == set(RunOptions.__dataclass_fields__)
