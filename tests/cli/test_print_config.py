"""`--print_config`: every option with its source, as a file that gives the same run."""

import pytest
import yaml
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from source_plugins import install_source
from tf_frame.cli.run import main
from tf_frame.command_line.parsing import parse_command_line

PLUGINS = """
from tf_frame.testing.toy import ToyModel


class Tuned(ToyModel):
    run_defaults = {"max_steps": 77, "optimizer": "adam", "optimizer.beta1": 0.8}
    presets = {"long": {"max_steps": 9000}}
    default_transforms = ("clip_by_norm:10",)

    @classmethod
    def input_defaults(cls, params):
        return {"num_examples": 48}
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    install_source(monkeypatch, tmp_path, "print-config", PLUGINS, models="Tuned")


@pytest.fixture
def printed(capsys):
    """Prints the configuration of a command line; returns its text."""

    def printed(*words):
        assert main([*words, "--print_config"]) == 0
        return capsys.readouterr().out

    return printed


def test_every_value_has_its_source(printed, tmp_path):
    (tmp_path / "base.yaml").write_text("learning_rate: 0.5\nhooks: [{name: heartbeat}]\n")
    lines = printed(
        *("--plugin", "tuned", "--preset", "long", "--config", "base.yaml"),
        *("--train_batch_size", "8", "--set", "model.l2=0.25", "--hook", "heartbeat:60"),
    ).splitlines()
    for expected in (
        "plugin: tuned  # the command line",
        "# model_dir: a new folder in ./runs  # default",
        "max_steps: 9000  # the preset long of the model tuned",
        "learning_rate: 0.5  # base.yaml",
        "train_batch_size: 8  # the command line",
        "num_clones: 1  # default",
        "  l2: 0.25  # the command line",
        "  nan_at_step: null  # default of the model tuned",
        "  name: toy  # run_defaults of the model tuned",
        "  num_examples: 48  # input_defaults of the model tuned",
        "  name: adam  # run_defaults of the model tuned",
        "  beta1: 0.8  # run_defaults of the model tuned",
        "  beta2: 0.999  # default of the optimizer adam",
        "- name: clip_by_norm  # run_defaults of the model tuned",
        "  norm: 10.0  # run_defaults of the model tuned",
        "- name: heartbeat  # the command line",
        "  every_secs: 60.0  # the command line",
    ):
        assert expected in lines, expected


def test_it_reads_its_own_text_again(printed, tmp_path):
    words = ["--plugin", "tuned", "--save_checkpoint_steps", "7", "--warm_start_map", "a#=b: c\nd"]
    words += ["--model_dir", "runs/a: b", "--transform", "", "--schedule", "multi_steps"]
    words += ["--schedule.boundaries", "3,5", "--schedule.learning_rates", "0.1,0.2"]
    (tmp_path / "printed.yaml").write_text(printed(*words))
    again = parse_command_line(["--config", "printed.yaml"]).setup()
    first = parse_command_line(words).setup()
    assert again == first
    assert yaml.safe_load((tmp_path / "printed.yaml").read_text())["model_dir"] == "runs/a: b"


def test_nothing_is_written_and_no_data_is_read(printed, tmp_path):
    before = sorted(tmp_path.iterdir())
    printed("--plugin", "deeplab", "--input.data_dir", "/no/such", "--model_dir", "new")
    assert sorted(tmp_path.iterdir()) == before


@COUNTS
def test_texts_are_read_again_as_they_were(printed, tmp_path, count):
    def check(folder, rules):
        words = ["--plugin", "tuned", f"--model_dir={folder}"]
        words += [word for rule in rules for word in ("--warm_start_map", rule)]
        (tmp_path / "printed.yaml").write_text(printed(*words), encoding="utf-8", newline="")
        again = yaml.safe_load((tmp_path / "printed.yaml").read_bytes())
        assert again["model_dir"] == folder and again["warm_start_map"] == rules

    texts = TEXTS.filter(lambda text: text and "\0" not in text)
    rules = strategies.lists(texts.map(lambda text: f"a={text}"), max_size=2)
    folders = texts.filter(lambda text: not text.startswith("~"))
    check_many(check, count, folder=folders, rules=rules)


@pytest.mark.parametrize(
    "name", ["\xa0a\u2003", "a\u202eb", "a\x1bb", "a\rb", "a\u2028b", "- a: #b", "a\nb"]
)
def test_an_unusual_character_is_neither_lost_nor_printed(printed, tmp_path, name):
    (tmp_path / f"{name}.yaml").write_text("learning_rate: 0.5\n")
    text = printed("--plugin", "tuned", "--model_dir", name, "--config", f"{name}.yaml")
    assert yaml.safe_load(text)["model_dir"] == name
    assert yaml.safe_load(text)["learning_rate"] == 0.5
    assert not set("\u202e\x1b\r\u2028") & set(text)
