"""Further defaults of a model by the value of its option `name`."""

import pytest
import yaml

from source_plugins import install_source
from tf_frame.cli.main import main
from tf_frame.command_line.parsing import parse_command_line

PLUGINS = """
import dataclasses
from tf_frame import option
from tf_frame.testing.toy import ToyInput, ToyModel


class Variable(ToyModel):
    @dataclasses.dataclass(frozen=True)
    class Params:
        name: str = option("small", "the network", choices=("small", "large"))
        width: int = option(3, "width")

    run_defaults = {"max_steps": 77, "optimizer": "adam", "optimizer.beta1": 0.8}
    variants = {
        "large": {
            "max_steps": 5,
            "model": {"width": 9},
            "input": {"name": "other"},
            "optimizer.beta1": 0.7,
            "transforms": ["clip_by_norm:10"],
        }
    }
    presets = {"big": {"model": {"name": "large"}, "max_steps": 6}}


class Other(ToyInput):
    pass
"""
LARGE = (5, 9, "other", 0.7, 1)


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    classes = {"models": "Variable", "inputs": "Other"}
    install_source(monkeypatch, tmp_path, "variant-test", PLUGINS, **classes)


def chosen(*argv):
    setup = parse_command_line(argv or ["--plugin", "variable"]).setup()
    steps, width, beta1 = (
        setup.config.max_steps,
        setup.model.params.width,
        setup.optimizer.params.beta1,
    )
    return steps, width, setup.input.name, beta1, len(setup.transforms)


def test_the_default_name_has_no_further_defaults():
    assert chosen() == (77, 3, "toy", 0.8, 0)


@pytest.mark.parametrize(
    "words", [["--model.name", "large"], ["--model.name=large"], ["--set", "model.name=large"]]
)
def test_the_name_on_the_command_line_decides(words):
    assert chosen("--plugin", "variable", *words) == LARGE


def test_a_files_name_decides_unless_the_command_line_has_another(tmp_path):
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({"plugin": "variable", "model": {"name": "large"}}))
    assert chosen("--config", str(file)) == LARGE
    assert chosen("--config", str(file), "--model.name", "small") == (77, 3, "toy", 0.8, 0)


def test_a_preset_wins_over_the_defaults_of_its_name():
    assert chosen("--plugin", "variable", "--preset", "big") == (6, *LARGE[1:])


def test_options_win_over_the_defaults_of_the_name():
    words = ["--model.name", "large", "--input", "toy", "--max_steps", "4", "--model.width", "1"]
    assert chosen("--plugin", "variable", *words) == (4, 1, "toy", 0.7, 1)


def test_a_name_that_does_not_exist_is_told(capsys):
    assert main(["run", "--plugin", "variable", "--model.name", "huge", "--print_config"]) == 2
    assert "small, large" in capsys.readouterr().err.replace(" or ", ", ")
