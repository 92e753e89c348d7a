"""Commands that take a folder and read its configuration."""

import pytest
import yaml

from tf_frame.command_line.folder_setup import setup_from_folder
from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError

OWN = [
    Option("output", str, None, "where to"),
    Option("input", tuple[str, ...], (), "files", verbatim=True),
]


@pytest.fixture
def folder(tmp_path):
    content = {
        "plugin": "deeplab",
        "max_steps": 7,
        "input": "nuclei",
        "model": {"output_stride": 8},
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(content))
    return str(tmp_path)


def test_the_job_is_that_of_the_folder(folder):
    setup, own_values = setup_from_folder("predict", [folder], OWN)
    assert (setup.model.name, setup.input.name, setup.config.max_steps) == ("deeplab", "nuclei", 7)
    assert setup.model.params.output_stride == 8
    assert setup.model_dir == folder
    assert own_values == {"output": None, "input": ()}


def test_options_of_the_command_hide_those_of_a_run_and_the_rest_wins_over_the_file(folder):
    argv = [folder, "--input", "a.png", "--max_steps", "9", "--input=b.png", "--output", "out"]
    setup, own_values = setup_from_folder("predict", argv, OWN)
    assert own_values == {"output": "out", "input": ("a.png", "b.png")}
    assert (setup.input.name, setup.config.max_steps) == ("nuclei", 9)


def test_folders_of_runs_with_near_names_are_named(tmp_path):
    for name in ("first", "second", "firs"):
        (tmp_path / name).mkdir()
    for name in ("first", "second"):
        (tmp_path / name / "config.yaml").write_text("plugin: toy")
    for name in ("frist", "firs"):
        with pytest.raises(ConfigError, match=f"did you mean {tmp_path}/first\\?$"):
            setup_from_folder("predict", [str(tmp_path / name)], OWN)


def test_a_configuration_without_a_model_is_refused_by_name(tmp_path):
    (tmp_path / "config.yaml").write_text("")
    with pytest.raises(ConfigError, match=r"config.yaml names no model to go by; .*'plugin: NAME'"):
        setup_from_folder("predict", [str(tmp_path)], OWN)


def test_split_flags_keeps_the_order_of_what_it_does_not_know():
    flags, other_words = split_flags(["--a", "1", "--output", "out", "--b=2", "--noc"], OWN)
    assert flags == {"output": "out"}
    assert other_words == ["--a", "1", "--b=2", "--noc"]


def test_a_plugin_that_is_named_again_leaves_the_configuration_in_force(folder):
    setup, _ = setup_from_folder("evaluate", [folder, "--plugin", "deeplab"], OWN)
    assert (setup.config.max_steps, setup.model.params.output_stride) == (7, 8)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "say which folder first: tf-frame predict MODEL_DIR"),
        ("--output x", "say which folder first"),
        ("/nowhere/at/all", "/nowhere/at/all: there is no such folder"),
        ("EMPTY", "has no config.yaml, which tf-frame run writes"),
        ("FOLDER --model_dir elsewhere", "named first; leave --model_dir out"),
        ("FOLDER --max_step 9", "unknown option --max_step; did you mean --max_steps"),
        ("FOLDER --outpt x", "unknown option --outpt; did you mean --output"),
        ("FOLDER --mode train", "--mode is for tf-frame run; this is tf-frame predict"),
        ("FOLDER --dry_run", "--dry_run is for tf-frame run; this is tf-frame predict"),
        ("FOLDER --print_config", "--print_config is for tf-frame run; this is tf-frame predict"),
    ],
)
def test_wrong_words_are_refused(folder, tmp_path, words, message):
    (tmp_path / "empty").mkdir()
    words = words.replace("FOLDER", folder).replace("EMPTY", f"{tmp_path}/empty")
    with pytest.raises(ConfigError, match=message):
        setup_from_folder("predict", words.split(), OWN)
