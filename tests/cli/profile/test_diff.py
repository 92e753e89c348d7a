"""`tf-frame profile diff`: its words, exit codes and output, on recorded steps of its own."""

import json
import os
import re
import subprocess
import sys

import pytest

from tf_frame.cli.profile.diff import main
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.step_profile import SUFFIX, Node, Op, Span, Step, StepProfile, to_bytes

MS = 10**6


def recorded(step_ms, number=10, examples=8):
    """Steps of one operation that takes all but 1 ms, with a little noise."""
    steps, begin = [], 0
    for i in range(number):
        end = begin + int(step_ms * MS) + i * MS // 100
        session = Span("session", "", begin, end)
        op = Op(0, 0, begin + MS, end)
        steps.append(Step(i + 1, begin, end, [session], [op], []))
        begin = end
    nodes = [Node("clone_0/conv_1/Relu", "_FusedConv2D")]
    return StepProfile(
        "worker_0", "machine", 2, ["/device:CPU:0"], nodes, steps, examples_per_step=examples
    )


@pytest.fixture
def model_dir(tmp_path):
    """Makes the folder of a run with one profile."""

    def make(name, step_ms, *, run="2026_01_31_12_00_00_step_100", **more):
        folder = tmp_path / name / "plugins" / "profile" / run
        folder.mkdir(parents=True)
        (folder / f"machine_worker_0{SUFFIX}").write_bytes(to_bytes(recorded(step_ms, **more)))
        return str(tmp_path / name)

    return make


def test_the_text_says_what_became_slower(model_dir, capsys):
    assert main([model_dir("a", 20), model_dir("b", 30)]) == 0
    out = capsys.readouterr().out
    assert "/a/plugins/profile/2026_01_31_12_00_00_step_100  10 steps" in out
    assert "20.0 ms -> 30.0 ms  (+10.0 ms, +49.9 %): slower" in out
    assert "+10.0 ms  +52.5 %  19.0 ms  29.0 ms  conv_1/Relu" in out


def test_json_has_all_entries(model_dir, capsys):
    assert main([model_dir("a", 20), model_dir("b", 10), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["version"] == 1 and found["step"]["significant"]
    assert found["step"]["percent"] == pytest.approx(-50, abs=0.2)
    assert found["operations"][0]["difference_ms"] == pytest.approx(-10)


@pytest.mark.parametrize(
    ("after_ms", "limit", "code"),
    [(23, "10%", 1), (23, "10", 1), (21, "10%", 0), (10, "0%", 0), (20.0, "0%", 0)],
)
def test_fail_over_is_the_exit_code(model_dir, capsys, after_ms, limit, code):
    assert main([model_dir("a", 20), model_dir("b", after_ms), f"--fail_over={limit}"]) == code
    assert ("slower; allowed: 10 %" in capsys.readouterr().err) == bool(code)


def test_with_other_examples_per_step_the_time_of_an_example_counts(model_dir, capsys):
    runs = [model_dir("a", 20), model_dir("b", 30, examples=16), model_dir("c", 15, examples=4)]
    assert main([*runs[:2], "--fail_over=0%"]) == 0
    whole = r"example  2\.5\d ms -> 1\.88 ms  \(-0\.6\d ms, -2\d\.\d %\): faster"
    assert re.search(whole, capsys.readouterr().out)
    assert main([runs[0], runs[2], "--fail_over=40%"]) == 1
    assert re.search(r"the time of an example became 50\.\d % slower", capsys.readouterr().err)


def test_the_exit_code_is_right_if_nobody_reads_the_output(model_dir):
    words = ["profile", "diff", model_dir("a", 20), model_dir("b", 30), "--fail_over=10%"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "tf_frame", *words]
    with os.fdopen(write_end) as output:
        finished = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, timeout=60)
    assert finished.returncode == 1 and b"became 49.9 % slower" in finished.stderr


def test_run_names_the_profile_of_each(model_dir, capsys):
    folder = model_dir("a", 20, run="2026_01_31_step_5")
    model_dir("a", 40, run="2026_02_01_step_9")
    assert main([folder, folder, "--run", "2026_01_31_step_5,2026_02_01_step_9"]) == 0
    assert "20.0 ms -> 40.0 ms" in capsys.readouterr().out
    assert main([folder, folder, "--run", "2026_01_31_step_5"]) == 0
    assert "20.0 ms -> 20.0 ms" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="takes one name, or two"):
        main([folder, folder, "--run", "a,b,c"])


def test_a_run_folder_may_be_given(model_dir, capsys, monkeypatch):
    folder = model_dir("a", 20, run="2026_01_31_step_5")
    model_dir("a", 40, run="2026_02_01_step_9")
    runs = f"{folder}/plugins/profile"
    assert main([f"{runs}/2026_01_31_step_5/", f"{runs}/2026_02_01_step_9"]) == 0
    assert "20.0 ms -> 40.0 ms" in capsys.readouterr().out
    monkeypatch.chdir(folder)
    assert main(["plugins/profile/2026_01_31_step_5", folder]) == 0
    assert "20.0 ms -> 40.0 ms" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("A", "takes two folders; given"),
        ("A A --fail 10%", "unknown option --fail"),
        ("A A/none", "there is no such folder"),
        ("A .", "no recorded steps"),
        ("A A --fail_over ten", "--fail_over ten: it takes a percentage"),
        ("A A --fail_over=-5%", "--fail_over -5%: it takes a percentage"),
        ("A A --fail_over nan", "--fail_over nan: it takes a percentage"),
        ("A A --fail_over inf", "--fail_over inf: it takes a percentage"),
        ("FEW FEWER --fail_over 10%", "3 and 2 steps are too few"),
    ],
)
def test_wrong_words_are_refused(model_dir, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    folders = {"FEWER": model_dir("fewer", 30, number=2), "FEW": model_dir("few", 20, number=3)}
    for name, folder in {**folders, "A": model_dir("a", 20)}.items():
        words = re.sub(rf"\b{name}\b", folder, words)
    with pytest.raises((ConfigError, DataError), match=re.escape(message)):
        main(words.split())
