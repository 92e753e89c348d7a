"""Whatever a user writes, and however long it is: the error has short lines, and no traceback."""

import json

import pytest

from tf_frame.cli.main import main

LONG, PATH = "x" * 3000, "/no/such/" + "/".join(["folder"] * 300)
RUN = ["run", "--plugin", "classification"]
CHIEF = {"type": "chief", "index": 0}
LAUNCH = ["launch", "--on"]


def printed_error(words, capsys):
    """The error of a command, after a check of its lines."""
    assert main(words) == 2
    text = capsys.readouterr().err
    assert text.startswith("tf-frame: ")
    assert max(map(len, text.splitlines())) <= 300
    return text


@pytest.mark.parametrize(
    "words",
    [
        [LONG],
        ["plugins", LONG],
        ["plugins", "show", LONG],
        ["plugins", "new", LONG, "--kind", "model"],
        ["plugins", "new", "a", "--kind", LONG],
        ["completion", LONG],
        ["convert", LONG, "a", "b"],
        ["convert", "image_folder", PATH, "b"],
        ["convert", "image_folder", LONG, "b"],
        ["checkpoint", LONG],
        ["status", PATH],
        ["status", LONG],
        ["evaluate", PATH],
        ["predict", LONG, "--output", "a"],
        ["export", PATH, f"--format={LONG}"],
        ["profile", f"--{LONG}"],
        ["profile", "show", PATH],
        ["run", "--plugin", LONG],
        [*RUN, LONG],
        [*RUN, f"--{LONG}"],
        [*RUN, f"--model.{LONG}=1"],
        [*RUN, f"--{LONG}.{LONG}", "1"],
        [*RUN, "--max_steps", "9" * 3000],
        [*RUN, "--learning_rate", LONG],
        [*RUN, "--gpus", "1," * 2000 + "1"],
        [*RUN, "--best_mode", LONG],
        [*RUN, "--keep_best", "1", "--best_metric", LONG],
        [*RUN, "--graph_hook", LONG],
        [*RUN, "--preset", LONG],
        [*RUN, "--input", LONG],
        [*RUN, "--input.data_dir", PATH, "--input", "image_folder"],
        [*RUN, "--transform", f"{LONG}:1"],
        [*RUN, "--transform", f"check_finite:{LONG}"],
        [*RUN, "--hook", f"feed:{LONG}"],
        [*RUN, "--warm_start_map", f"({LONG}"],
        [*RUN, "--config", PATH],
        [*RUN, "--config", LONG],
        [*RUN, "--set", LONG],
        [*RUN, "--set", f"{LONG}=1"],
        [*RUN, "--set", f"hooks=[{LONG}"],
        [*RUN, "--set", f"hooks=[[{LONG}]]"],
        [*RUN, "--master", LONG],
        [*LAUNCH, LONG, "--", *RUN],
        [*LAUNCH, "env", "--hosts", LONG, "--", *RUN],
        [*LAUNCH, "env", "--hosts", ",".join(["a:1"] * 999), "--", *RUN],
        [*LAUNCH, "env", "--", LONG],
        [*LAUNCH, "slurm", "--slurm_options", LONG, "--", *RUN],
        [*LAUNCH, "slurm", "--slurm_options", f"'{LONG}", "--", *RUN],
        [*LAUNCH, "kubernetes", "--image", "a", "--name", LONG, "--", *RUN],
        [*LAUNCH, "kubernetes", "--image", "a", "--", *RUN, "--model_dir", PATH],
    ],
    ids=lambda words: " ".join(word[:20] for word in words),
)
def test_a_long_word_is_quoted_in_short_lines(words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    printed_error(words, capsys)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG}: 1",
        f"max_steps: {LONG}",
        f"max_steps: [{LONG}]",
        f"model: [{LONG}]",
        f"model: {LONG}",
        f"plugin: [{LONG}]",
        f"hooks: {LONG}",
        f"hooks: [{{name: [{LONG}]}}]",
        f"hooks: [{{{LONG}: 1}}]",
        f"versions: [{LONG}]",
        f"lock: {{{LONG}: [{LONG}]}}",
        f"lock: {{a: {{sha256: [{LONG}]}}}}",
        f"{LONG}: 1\n{LONG}: 2",
        f"model: {{{LONG}: 1}}\nmodel.{LONG}: 1",
        f"- {LONG}",
        f"a: *{LONG}",
        f"a: !{LONG} 1",
        f"max_steps: 0{'7' * 3000}",
        f"max_steps: 0x{'f' * 5000}",
        f"0x{'f' * 5000}: 1",
        'input: {data_dir: "a\\0b", name: image_folder}',
        "\x01",
    ],
    ids=lambda text: text[:20],
)
def test_a_configuration_is_quoted_in_short_lines(text, capsys, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    printed_error([*RUN, "--config", str(path)], capsys)


@pytest.mark.parametrize(
    "variables",
    [
        {"TF_CONFIG": LONG},
        {"TF_CONFIG": json.dumps({"cluster": {LONG: ["a:1"]}, "task": {"type": LONG}})},
        {"TF_CONFIG": json.dumps({"cluster": {"chief": [LONG]}, "task": CHIEF})},
        {"TF_CONFIG": json.dumps({"cluster": {"chief": ["a:1"]}, "task": {**CHIEF, "type": LONG}})},
        {"TF_CONFIG": '{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 1e400}}'},
        {"TF_FRAME_STRICT_PLUGINS": LONG},
    ],
    ids=lambda variables: str(variables)[:60],
)
def test_a_variable_is_quoted_in_short_lines(variables, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    printed_error([*RUN, "--input.data_dir", "none"], capsys)
