"""`--environment`: the process starts again with variables, once."""

import os
import subprocess
import sys

import pytest
import yaml

import forked
from tf_frame.command_line.environment import start_again_with
from tf_frame.errors import ConfigError


@pytest.fixture
def started(monkeypatch):
    """Takes the place of a new start; returns the starts, each with its words and variables."""
    monkeypatch.delenv("TF_FRAME_ENVIRONMENT", raising=False)
    starts = []
    monkeypatch.setattr(os, "execve", lambda path, words, env: starts.append((words, env)))
    return starts


def test_it_starts_the_same_command_with_the_variables(started, capsys):
    words = ["run", "--plugin", "toy"]
    start_again_with(["A=1", "B=x=y", "A=2"], module="tf_frame", words=words)
    ((program, environment),) = started
    assert program == [sys.executable, "-m", "tf_frame", *words]
    assert (environment["A"], environment["B"]) == ("2", "x=y")
    assert environment["PATH"] == os.environ["PATH"]
    assert capsys.readouterr().err == ("tf-frame: starting again with A B, as --environment says\n")


def test_it_starts_again_once_only_whatever_the_process_changes(started, monkeypatch):
    start_again_with(["A=1"], module="tf_frame", words=[])
    monkeypatch.setattr(os, "environ", {**started[0][1], "A": "9"})
    start_again_with(["A=1"], module="tf_frame", words=[])
    assert len(started) == 1


def test_without_the_option_nothing_happens(started, monkeypatch):
    monkeypatch.setenv("TF_FRAME_ENVIRONMENT", "A=1")  # Of a process that started this one.
    start_again_with([], module="tf_frame", words=[])
    assert not started


def test_a_library_that_is_not_there_is_an_error(started):
    with pytest.raises(ConfigError, match=r"LD_PRELOAD=/no/lib.so: there is no such file"):
        start_again_with(["LD_PRELOAD=/no/lib.so"], module="tf_frame", words=[])
    assert not started


@pytest.mark.process
def test_a_run_has_the_variables_and_records_them(toy_environment, tmp_path):
    words = ["run", "--plugin", "toy", "--environment", "A_B=x y", "--print_config"]
    finished = forked.run(
        [sys.executable, "-m", "tf_frame", *words],
        env=toy_environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == "tf-frame: starting again with A_B, as --environment says\n"
    assert yaml.safe_load(finished.stdout)["environment"] == ["A_B=x y"]
