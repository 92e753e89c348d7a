import pytest
import yaml

from source_plugins import install_source
from tf_frame.cli.main import main
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError

PLUGINS = """
import dataclasses
from tf_frame import option
from tf_frame.testing.toy import ToyModel


class Preset(ToyModel):
    @dataclasses.dataclass(frozen=True)
    class Params:
        name: str = option("small", "the network")
        weight_decay: float = option(0.0, "L2 penalty")

    run_defaults = {"max_steps": 77, "optimizer": "adam", "optimizer.beta1": 0.8}
    presets = {
        "quick": {
            "max_steps": 5,
            "model": {"name": "tiny", "weight_decay": 0.25},
            "optimizer": {"name": "rmsprop", "epsilon": 0.5},
            "schedule": "poly",
            "input": {"num_examples": 16},
            "transforms": ["clip_by_norm:10"],
            "hooks": [{"name": "heartbeat", "every_secs": 3}],
        },
        "other": {},
        "published": {"input": {"name": "streets", "num_examples": 24, "depth_of_water": 3}},
        "wrong": {"max_step": 5},
    }

    @classmethod
    def input_defaults(cls, params):
        return {"num_examples": 8 * len(params.name), "depth_of_water": 3}
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    install_source(monkeypatch, tmp_path, "preset-test", PLUGINS, models="Preset")


def make_setup(*argv):
    argv = ["--plugin", "preset", "--input", "toy", *argv]
    return parse_command_line(argv).setup()


def test_a_preset_is_stronger_than_the_models_defaults():
    setup = make_setup("--preset", "quick")
    assert setup.config.max_steps == 5
    assert (setup.model.params.name, setup.model.params.weight_decay) == ("tiny", 0.25)
    assert (setup.optimizer.name, setup.optimizer.params.epsilon) == ("rmsprop", 0.5)
    assert (setup.schedule.name, setup.input.params.num_examples) == ("poly", 16)
    assert [(part.name, part.params.norm) for part in setup.transforms] == [("clip_by_norm", 10)]
    assert [(part.name, part.params.every_secs) for part in setup.hooks] == [("heartbeat", 3)]


def test_words_and_files_are_stronger_than_a_preset(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({"plugin": "preset", "max_steps": 9, "transforms": []}))
    argv = ["--optimizer", "momentum", "--model.name", "huge"]
    setup = make_setup("--preset", "quick", "--config", str(file), *argv)
    assert (setup.config.max_steps, setup.transforms) == (9, [])
    assert (setup.optimizer.name, setup.model.params.name) == ("momentum", "huge")


def test_another_input_than_that_of_the_preset_takes_the_options_that_it_has(tmp_path):
    setup = make_setup("--preset", "published")
    assert (setup.input.name, setup.input.params.num_examples) == ("toy", 24)
    file = tmp_path / "own.yaml"
    # Options in a file are those of its own input.
    file.write_text("input: {name: streets, num_examples: 32}")
    assert make_setup("--config", str(file)).input.params.num_examples == 40


def test_without_a_preset_the_models_defaults_hold():
    setup = make_setup()
    assert (setup.config.max_steps, setup.optimizer.params.beta1, setup.hooks) == (77, 0.8, [])


def test_what_a_preset_came_to_is_in_the_configuration():
    settings = make_setup("--preset", "quick").settings()
    assert settings.optimizer == "rmsprop"
    assert (settings.values["model.name"], settings.values["max_steps"]) == ("tiny", 5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("quik", "--preset quik: the model preset has no such preset; did you mean quick.*it has"),
        ("xyz", "has no such preset; it has: other, published, quick, wrong"),
        (
            "wrong",
            "the preset wrong of the model preset: unknown option max_step; did you mean max_st",
        ),
    ],
)
def test_wrong_presets_are_told(name, message):
    with pytest.raises(ConfigError, match=message):
        make_setup("--preset", name)


def test_help_shows_the_preset_as_the_defaults(capsys):
    argv = ["run", "--plugin", "preset", "--input", "toy", "--preset", "quick", "--help"]
    assert main(argv) == 0
    assert "train up to this global step (1 or more) [5]" in capsys.readouterr().out


def test_plugins_show_names_the_presets(capsys):
    assert main(["plugins", "show", "preset"]) == 0
    shown = capsys.readouterr().out
    assert any(line.split()[:1] == ["presets"] and "quick" in line for line in shown.splitlines())


def test_a_model_wishes_for_options_of_its_input():
    setup = make_setup("--model.name", "huge")
    assert (
        setup.input.params.num_examples == 32
    )  # and the option that toy does not have is left out
    assert make_setup("--input.num_examples", "7").input.params.num_examples == 7
