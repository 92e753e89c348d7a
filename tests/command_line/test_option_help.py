"""`tf-frame run --help` and `--help_all`, in this process."""

import re

import pytest

from tf_frame.cli import run
from tf_frame.command_line.option_help import group_text, run_options_text
from tf_frame.config.flags import parse_flags
from tf_frame.config.option import Option
from tf_frame.config.option_groups import EVERYDAY
from tf_frame.config.run_options import GROUPS, run_options
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError
from tf_frame.testing.distributions import write_toy_distribution

NAMES = [option.name for option in run_options()]


def listed(text):
    return re.findall(r"^  --(?:\[no\])?(\S+)", text, re.MULTILINE)


@pytest.fixture
def help_text(tmp_path, monkeypatch, capsys):
    write_toy_distribution(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def help_text(*argv):
        assert run.main(argv) == 0
        return capsys.readouterr().out

    return help_text


def test_everyday_options_are_few():
    assert 15 <= len(EVERYDAY) <= 20
    assert set(EVERYDAY) < set(NAMES)
    assert len(set(EVERYDAY)) == len(EVERYDAY)


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_shows_the_everyday_options_and_how_to_see_all(help_text, flag):
    text = help_text(flag)
    assert [name for name in listed(text) if name in NAMES] == list(EVERYDAY)
    assert f"tf-frame run --help_all shows all {len(NAMES)}" in text
    assert "--plugin TEXT" in text


def test_help_all_shows_every_option_once_under_the_heading_of_its_group(help_text):
    text = help_text("--help_all")
    assert [name for name in listed(text) if name in NAMES] == NAMES
    assert [text.count(f"\n{group.__doc__.rstrip('.')}:\n") for group in GROUPS] == [1] * 11
    assert "--plugin TEXT" in text


@pytest.mark.parametrize("flag", ["--help", "--help_all"])
def test_options_of_plugins_are_shown_in_both_with_the_defaults_of_the_model(help_text, flag):
    text = help_text("--plugin", "toy", flag, "--optimizer", "adam")
    assert "Options of model toy:" in text and "Options of optimizer adam:" in text
    assert {"input.num_examples", "optimizer.beta1"} < set(listed(text))


def test_help_shows_the_everyday_options_of_a_plugin(help_text):
    few, everything = (help_text("--plugin", "deeplab", flag) for flag in ("--help", "--help_all"))
    assert "Options of model deeplab; --help_all shows all 39:\n  --model.backbone TEXT\n" in few
    assert "model.low_level_channels" not in few and "model.low_level_channels" in everything


def test_a_misspelled_option_is_answered_with_the_nearest_of_all(help_text):
    with pytest.raises(ConfigError, match=r"did you mean --trace_memory\?"):
        run.main(["--plugin", "toy", "--trace_memry"])
    with pytest.raises(ConfigError, match=r"did you mean --num_clones\?"):
        parse_flags(["--num_clones_"], run_options())
    assert [nearest(f"{name}_", NAMES) for name in NAMES] == NAMES


def test_an_option_has_its_values_its_bounds_and_its_default():
    options = [
        Option("stride", int, 16, "input over output", choices=(8, 16)),
        Option("rates", tuple[int, ...], (6, 12), "atrous rates", min=1, max=36),
        Option("fast", bool, False, "be quick"),
        Option("name", str, "", "a name"),
        Option("rule", tuple[str, ...], (), "A=B", verbatim=True),
    ]
    assert group_text("Title", options, {"name": "other"}) == (
        "Title:\n"
        "  --stride 8|16\n      input over output [16]\n"
        "  --rates INT,...\n      atrous rates (1 to 36) [6,12]\n"
        "  --[no]fast\n      be quick [false]\n"
        "  --name TEXT\n      a name [other]\n"
        "  --rule TEXT\n      A=B [empty]"
    )


def test_defaults_of_a_model_replace_those_of_the_options():
    for everything in (False, True):
        text = run_options_text({"max_steps": 77}, everything=everything)
        assert "train up to this global step (1 or more) [77]" in text
