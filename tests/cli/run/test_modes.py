"""`tf-frame run --mode`."""

import json
import sys

import pytest

import forked
from tf_frame.cli.run import run_as_command
from tf_frame.errors import ConfigError

COMMANDS = ("evaluate", "predict", "export")


@pytest.mark.parametrize("mode", COMMANDS)
def test_a_mode_hands_over_to_its_command(mode, monkeypatch):
    module = __import__(f"tf_frame.cli.{mode}", fromlist=["main"])
    called = []
    monkeypatch.setattr(module, "main", lambda argv: called.append(argv) or 7)
    argv = ["--max_steps", "3", "--mode", mode, "--model_dir", "runs/first", "--output=x"]
    assert run_as_command(argv) == 7
    assert called == [["runs/first", "--max_steps", "3", "--output=x"]]


@pytest.mark.parametrize("mode", COMMANDS)
def test_a_mode_without_a_folder_is_refused(mode):
    with pytest.raises(ConfigError, match=f"--mode {mode} needs --model_dir"):
        run_as_command(["--mode", mode])


@pytest.mark.parametrize("argv", [[], ["--mode", "train"], ["--mode=train_and_evaluate"]])
def test_modes_that_train_are_those_of_run(argv):
    assert run_as_command(argv) is None


@pytest.mark.process
@pytest.mark.timeout(200)
def test_train_and_evaluate_evaluates_every_checkpoint(tmp_path, toy_environment):
    argv = ["--plugin", "toy", "--mode", "train_and_evaluate", "--max_steps", "6"]
    argv += ["--save_checkpoint_steps", "2", "--model_dir", str(tmp_path)]
    argv += ["--eval_every_n_steps", "4"]
    process = forked.run(
        [sys.executable, "-m", "tf_frame", "run", *argv],
        env=toy_environment,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert process.returncode == 0, process.stderr
    lines = [line for line in process.stdout.splitlines() if line.startswith("evaluation at step")]
    assert [line.split()[3] for line in lines] == ["2", "4", "6"]
    assert json.loads((tmp_path / "result.json").read_text())["global_step"] == 6
