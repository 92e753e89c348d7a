"""`tf-frame plugins show MODEL --schema`: an editor accepts and refuses what a run does."""

import json
import subprocess
import sys

import jsonschema
import pytest
import yaml

from tf_frame.cli import plugins
from tf_frame.cli.run import main
from tf_frame.errors import ConfigError, TfFrameError


@pytest.fixture(scope="module")
def read_schema():
    """Returns the validator of a model's configuration files."""
    from contextlib import redirect_stdout
    from io import StringIO

    validators = {}

    def read_schema(model):
        if model not in validators:
            with redirect_stdout(StringIO()) as output:
                assert plugins.main(["show", model, "--schema"]) == 0
            schema = json.loads(output.getvalue())
            jsonschema.Draft202012Validator.check_schema(schema)
            validators[model] = jsonschema.Draft202012Validator(schema)
        return validators[model]

    return read_schema


@pytest.fixture(scope="module")
def run_config(tmp_path_factory):
    """The content of the `config.yaml` that a run wrote, with a transform and a hook."""
    from tf_frame.testing.distributions import write_toy_distribution

    site = tmp_path_factory.mktemp("site")
    write_toy_distribution(site)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        words = ("--plugin", "toy", "--max_steps", "1", "--transform", "clip_by_norm:10")
        assert main([*words, "--hook", "heartbeat:60", "--model_dir", str(site / "run")]) == 0
        yield yaml.safe_load((site / "run" / "config.yaml").read_text())


def test_the_file_of_a_run_is_accepted(run_config, read_schema):
    read_schema("toy").validate(run_config)


@pytest.mark.parametrize("model", ["classification", "deeplab", "detection", "recognition"])
def test_the_printed_configuration_of_a_model_is_accepted(model, read_schema, capsys):
    assert main(["--plugin", model, "--print_config"]) == 0
    read_schema(model).validate(yaml.safe_load(capsys.readouterr().out))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "input: toy",
        "input: {num_examples: 8}",
        "optimizer: {name: adam, beta1: 0.8}",
        "optimizer.momentum: 0.5",
        "transforms: [clip_by_norm:10, {name: clip_by_norm, norm: 3}]",
        "hooks: [{name: 'heartbeat:60'}]",
        "gpus: 0",
        "gpus: [0, 1]",
        "gpus: 0,1",
        "moving_average_decay: null",
    ],
)
def test_short_forms_are_accepted(text, run_config, read_schema):
    read_schema("toy").validate(yaml.safe_load(text) or {})


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("max_stepz: 5", "max_stepz"),
        ("max_steps: many", "many"),
        ("max_steps: -1", "-1"),
        ("plugin: deeplab", "deeplab"),
        ("model: {depth: 3}", "depth"),
        ("input: {name: toy, crop_size: 3}", "crop_size"),
        ("input: {num_examples: many}", "many"),
        ("optimizer: {name: adam, momentum: 0.9}", "momentum"),
        ("optimizer: adamm", "adamm"),
        ("transforms: [clip_by_nom]", "clip_by_nom"),
        ("transforms: clip_by_norm", "clip_by_norm"),
        ("hooks: [{name: heartbeat, every: 60}]", "every"),
        ("hooks: [{every_secs: 60}]", "every_secs"),
    ],
)
def test_what_a_run_refuses_is_refused(text, part, run_config, read_schema, tmp_path):
    with pytest.raises(jsonschema.ValidationError, match=part):
        read_schema("toy").validate(yaml.safe_load(text))
    (tmp_path / "config.yaml").write_text(text)
    words = ("--config", str(tmp_path / "config.yaml"), "--print_config")
    if not text.startswith("plugin"):
        with pytest.raises(TfFrameError):
            main(["--plugin", "toy", *words])


def test_descriptions_and_defaults_are_those_of_the_model(read_schema):
    options = read_schema("deeplab").schema["properties"]
    assert options["model"]["properties"]["output_stride"]["description"]
    # `run_defaults` of the model, which is not the default of the option.
    assert options["learning_rate"]["default"] == 0.3


def test_only_models_have_a_schema():
    with pytest.raises(ConfigError, match="--schema is for a model; 'adam' is of kind optimizer"):
        plugins.main(["show", "adam", "--schema"])


@pytest.mark.process
def test_tensorflow_is_not_imported():
    program = (
        "import sys; from tf_frame.cli.plugins import main; main(['show', 'deeplab', '--schema']); "
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
