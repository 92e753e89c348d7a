"""GPUs and cores of each task."""

import os

import pytest

from tf_frame.errors import ConfigError
from tf_frame.launch.commands import cores, gpu_variables, task_commands
from tf_frame.launch.job import Job, Task

CHIEF, WORKER, PS, EVALUATOR = Task("chief"), Task("worker"), Task("ps"), Task("evaluator")


@pytest.mark.parametrize(
    ("task", "number", "visible", "expected"),
    [
        (CHIEF, None, None, None),
        (EVALUATOR, None, None, None),
        (PS, None, None, "-1"),
        (CHIEF, 2, None, "0,1"),
        (WORKER, 2, None, "2,3"),
        (EVALUATOR, 2, None, "-1"),
        (WORKER, 0, None, "-1"),
        (WORKER, 1, "4,GPU-b", "GPU-b"),
    ],
)
def test_gpus(task, number, visible, expected):
    seen = {} if expected is None else {"CUDA_VISIBLE_DEVICES": expected}
    assert gpu_variables(task, number, visible) == seen


@pytest.mark.parametrize("visible", ["", "-1", "0"])
def test_too_few_gpus(visible):
    with pytest.raises(ConfigError, match="--gpus_per_worker 1: worker number 2"):
        gpu_variables(WORKER, 1, visible)


def test_cores_go_round(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {2, 3, 5}, raising=False)
    assert [cores(number, 2) for number in range(3)] == [[2, 3], [2, 5], [3, 5]]
    assert cores(1, 9) == [2, 3, 5]
    assert cores(1, None) == []


def test_a_command(tmp_path, monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "of another job")
    job = Job(words=["run", "--plugin", "toy"], model_dir=str(tmp_path))
    (command,) = task_commands(job, [20000], program=["program"])
    assert command.words == ["program", "run", "--plugin", "toy"]
    assert "127.0.0.1:20000" in command.environment["TF_CONFIG"]
    assert '"type": "chief"' in command.environment["TF_CONFIG"]
    assert command.environment["PYTHONUNBUFFERED"] == "1"
    assert command.log == str(tmp_path / "logs/chief-0.log")
