import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.config.yaml_file import (
    Named,
    Settings,
    parse_assignments,
    read_settings,
    to_yaml,
)
from tf_frame.errors import ConfigError


@pytest.fixture
def read_config(tmp_path):
    """Reads settings from a file with the given text."""

    def read_config(text):
        path = tmp_path / "config.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_settings(str(path))

    return read_config


def test_a_file_of_a_megabyte_or_without_an_end_is_refused(read_config):
    with pytest.raises(ConfigError, match=r"has more than 1,048,576 bytes: no configuration"):
        read_config("a: 1 #" + "x" * 2**20)
    with pytest.raises(ConfigError, match=r"--config /dev/zero has more than 1,048,576 bytes"):
        read_settings("/dev/zero")


def test_sections_become_dotted_names(read_config):
    settings = read_config(
        "plugin: deeplab\n"
        "max_steps: 500\n"
        "model: {output_stride: 8}\n"
        "input: {name: nuclei, crop_size: 129}\n"
        "transforms:\n"
        "- {name: clip, norm: 1.5}\n"
        "- freeze:a.*\n"
        "- clip\n"
        "optimizer: {name: adam, beta1: 0.8}\n"
        "versions: {tf-frame: 0.1.0}\n"
    )
    values = {
        "max_steps": 500,
        "model.output_stride": 8,
        "input.crop_size": 129,
        "optimizer.beta1": 0.8,
    }
    assert settings == Settings(
        plugin="deeplab",
        input="nuclei",
        optimizer="adam",
        transforms=(Named("clip", {"norm": 1.5}), Named("freeze:a.*"), Named("clip")),
        values=values,
        versions={"tf-frame": "0.1.0"},
    )


@COUNTS
def test_settings_are_read_as_they_were_written(read_config, count):
    def check(values, hook):
        settings = Settings(
            plugin="deeplab",
            input="nuclei",
            optimizer="adam",
            schedule="cosine",
            transforms=(),
            hooks=(Named("csv", {"path": hook}),),
            values={f"{part}.x": value for part, value in values.items()},
        )
        assert read_config(to_yaml(settings, "a header")) == settings

    numbers = strategies.one_of(
        strategies.integers(), strategies.floats(allow_nan=False), strategies.booleans()
    )
    value = strategies.one_of(
        TEXTS, numbers, strategies.none(), strategies.lists(TEXTS, max_size=3)
    )
    parts = strategies.sampled_from(["model", "input", "optimizer", "schedule"])
    check_many(check, count, values=strategies.dictionaries(parts, value), hook=TEXTS)


@pytest.mark.parametrize("part", ["input", "optimizer", "schedule"])
def test_a_part_may_be_just_a_name(read_config, part):
    assert read_config(f"{part}: nuclei\n") == Settings(**{part: "nuclei"})


def test_an_empty_list_is_not_none_and_an_empty_file_is_valid(
    read_config,
):
    assert read_config("transforms: []\n").transforms == ()
    assert read_config("max_steps: 1\n").transforms is None
    for text in ("", "# only a comment\n", "---\n"):
        assert read_config(text) == Settings()


def test_what_is_written_is_read_back(read_config):
    values = {
        "model_dir": "runs/a: b",
        "max_steps": 5,
        "learning_rate": 1e-8,
        "save_checkpoint_secs": None,
        "evaluate": False,
        "master": "",
        "model.rates": [6, 12],
        "model.name": "none",
        "input.folder": "yes",
        "optimizer.beta1": 0.5,
        "schedule.power": 2.0,
    }
    versions = {"tf-frame": "0.1.0", "tf-frame-toy": "1.0"}
    transforms = (Named("clip", {"norm": 0.1}), Named("other:clip", {"norm": 2.0}), Named("clip"))
    hooks = (Named("heartbeat", {"every_secs": 5.0}), Named("pkg:timer"))
    lock = {"tf-frame": {"plugins": ["optimizer adam"]}, "toys": {"sha256": "e" * 64}}
    settings = Settings("toy", "data", "adam", "poly", transforms, hooks, values, versions, lock)
    assert read_config(to_yaml(settings, "how to use it")) == settings


def test_tuples_are_written_as_lists(read_config):
    text = to_yaml(Settings("toy", values={"model.rates": (6, 12)}), "header")
    assert read_config(text).values == {"model.rates": [6, 12]}


def test_the_header_is_a_comment():
    assert to_yaml(Settings("toy", "data"), "made by x").startswith("# made by x\nplugin: toy\n")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    path = str(tmp_path / "no.yaml")
    with pytest.raises(ConfigError, match=rf"^--config {path}: No such file or directory$"):
        read_settings(path)
    with pytest.raises(ConfigError, match=r"Is a directory$"):
        read_settings(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 5\nmodel: {depth: 1\nplugin: toy\n", " is not YAML: .* in line 3"),
        (b"plugin: \xff\xfe\n", " is not YAML"),
        (
            "optimizer: {name: adam, beta1: 0.8}\noptimizer.beta1: 0.9\n",
            ": optimizer.beta1 is given twice, also in the section",
        ),
        ("- a\n- b\n", r": expected 'name: value' lines, found \['a', 'b'\]$"),
        ("just words\n", ": expected 'name: value' lines, found 'just words'$"),
        ("model: deep\n", ": 'model' takes 'name: value' lines, found 'deep'$"),
        ("model: [1]\n", r": 'model' takes 'name: value' lines, found \[1\]$"),
        ("input: 3\n", ": 'input' takes 'name: value' lines, found 3$"),
        ("transforms: clip\n", ": 'transforms' takes a list, found 'clip'$"),
        ("transforms: {name: clip}\n", ": 'transforms' takes a list, found {'name': 'clip'}$"),
        ("transforms: [{norm: 1}]\n", ": a transform without a name: {'norm': 1}$"),
        ("transforms: [3]\n", ": a transform without a name: 3$"),
        ("transforms: [~]\n", ": a transform without a name: None$"),
        ("transforms: [[clip]]\n", r": a transform without a name: \['clip'\]$"),
        ("plugin: [toy]\n", r": 'plugin' takes a name, found \['toy'\]$"),
        ("input: {name: 3}\n", ": 'input' takes a name, found 3$"),
        ("optimizer: {name: 3}\n", ": 'optimizer' takes a name, found 3$"),
        ("schedule: [3]\n", r": 'schedule' takes 'name: value' lines, found \[3\]$"),
        ("transforms: [{name: 3}]\n", ": 'transforms' takes a name, found 3$"),
        ("a: 1\nplugin: a\na: 2\n", ", line 3: a is given twice, first in line 1"),
        ("model: {a: 1, a: 2}\n", ", line 1: a is given twice, first in line 1; leave one"),
        ("model:\n  a: 1\nmodel:\n  b: 2\n", ", line 3: model is given twice, first in line 1"),
        ("hooks:\n- name: a\n  b: 1\n  b: 1\n", ", line 4: b is given twice, first in line 3"),
        ("max_steps: 010\n", ", line 1: YAML takes 010 for 8; write 10 or 8, or quote a text"),
        ("a: 1\nb: [1, -010]\n", ", line 2: YAML takes -010 for -8; write -10 or -8, or quote"),
        ("every_secs: 1:30\n", ", line 1: YAML takes 1:30 for 90; write 90, or quote a text"),
    ],
)
def test_text_that_is_not_yaml_of_another_form_or_ambiguous_is_refused(read_config, text, message):
    with pytest.raises(ConfigError, match=f"config.yaml{message}"):
        read_config(text)


def test_numbers_that_mean_what_they_look_like_and_quoted_text_are_taken(read_config):
    text = "a: 0\nb: 10\nc: 1_000\nd: 0.5\ne: '010'\nf: 2026-01-31\ng: 0x10\nh: localhost:2222\n"
    values = read_config(text).values
    assert {k: v for k, v in values.items() if k != "f"} == {
        **{"a": 0, "b": 10, "c": 1000, "d": 0.5},
        **{"e": "010", "g": 16, "h": "localhost:2222"},
    }


def test_merged_keys_may_be_replaced_and_versions_are_text(read_config):
    text = "a: &a {x: 1, y: 2}\nmodel:\n  <<: *a\n  x: 3\n"
    assert read_config(text).values["model.x"] == 3
    versions = read_config("versions: {my-line: 1.0, other:}\n").versions
    assert versions == {"my-line": "1.0", "other": ""}


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.getcwd []", "!!python/name:os.system"])
def test_yaml_makes_no_python_objects(read_config, tag):
    with pytest.raises(ConfigError, match="is not YAML: could not determine a constructor"):
        read_config(f"plugin: {tag}")
    with pytest.raises(ConfigError, match="the list is not YAML: could not determine"):
        parse_assignments([f"hooks=[{tag.split(' ')[0]} x]"])
