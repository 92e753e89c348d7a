"""Jobs in a real Slurm of one node; `tox -e slurm` runs them."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

import slurm_node
from tf_frame.launch import slurm
from tf_frame.launch.job import Job

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.process,
    pytest.mark.skipif(bool(slurm_node.missing()), reason=slurm_node.missing()),
]
VALUES = {option.name: option.default for option in slurm.OPTIONS}
PS_AND_WORKERS = {"num_ps": 1, "num_workers": 2}
SHOW = """
import json, os
from tf_frame.cluster.slurm import slurm_tf_config
print(json.dumps(slurm_tf_config(os.environ, num_ps=1, evaluator=False)))
"""
# Rank 0 needs longer for saving than the others, and more than one SIGTERM would stop it at once.
SAVE = """
import os, pathlib, signal, sys, time
folder, rank, signals = pathlib.Path(sys.argv[1]), os.environ["SLURM_PROCID"], []
signal.signal(signal.SIGTERM, lambda *_: signals.append(1))
(folder / f"started-{rank}").touch()
while not signals:
    time.sleep(0.05)
deadline = time.monotonic() + (4 if rank == "0" else 0)
while time.monotonic() < deadline:
    time.sleep(0.05)
(folder / f"saved-{rank}").write_text(str(len(signals)))
sys.exit(143)
"""
FAIL = """
import os, sys, time
sys.exit(1) if os.environ["SLURM_PROCID"] == "2" else time.sleep(200)
"""


@pytest.fixture(scope="module")
def node():
    # The sockets' folder must be open to all, and the folders of pytest are not.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    folder.chmod(0o755)
    try:
        with slurm_node.SlurmNode(folder) as started:
            yield started
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def submit(node, tmp_path, monkeypatch, capsys):
    """Submits a job, by default of one ps and two workers; returns its number."""
    for name, value in node.environment.items():
        monkeypatch.setenv(name, value)

    def submitted(*command, words=("run",), tasks=PS_AND_WORKERS, **values):
        if command:
            monkeypatch.setattr(slurm, "_command", lambda _: [sys.executable, "-c", *command])
        job = Job(words=words, model_dir=str(tmp_path / "a run"), **tasks)
        assert slurm.main(job, VALUES | values) == 0
        return capsys.readouterr().out.split()[1]

    return submitted


def logs(tmp_path):
    return [path.read_text() for path in sorted((tmp_path / "a run/logs").glob("slurm-task-*"))]


def test_each_task_finds_itself_in_the_allocation(node, submit, tmp_path):
    number = submit(SHOW, slurm_options='--time 5 --comment "two words"', slurm_port=3000)
    assert node.wait_for(number, 60) == ("COMPLETED", 0)
    found = [json.loads(text) for text in logs(tmp_path)]
    assert [config["task"] for config in found] == [
        {"type": "ps", "index": 0},
        {"type": "chief", "index": 0},
        {"type": "worker", "index": 0},
    ]
    hosts = ["localhost:3000", "localhost:3001", "localhost:3002"]
    cluster = {kind: [host] for kind, host in zip(("ps", "chief", "worker"), hosts, strict=True)}
    assert [config["cluster"] for config in found] == [cluster] * 3
    assert "Comment=two words" in node.run("scontrol", "show", "job", number)
    assert "TimeLimit=00:05:00" in node.run("scontrol", "show", "job", number)


def test_of_a_range_of_workers_those_train_for_which_there_are_nodes(node, submit, tmp_path):
    tasks = {"min_workers": 1, "num_workers": 3}
    number = submit(SHOW.replace("num_ps=1", "num_ps=0"), tasks=tasks, slurm_port=3000)
    assert node.wait_for(number, 60) == ("COMPLETED", 0)
    (found,) = (json.loads(text) for text in logs(tmp_path))
    chief = {"type": "chief", "index": 0}
    assert found == {"cluster": {"chief": ["localhost:3000"]}, "task": chief}


@pytest.mark.parametrize(
    "stop, end",
    [
        (("scancel",), ("CANCELLED", 143)),
        # As Slurm does before the time limit.
        (("scancel", "--batch", "--signal=USR1"), ("FAILED", 143)),
    ],
    ids=["scancel", "time limit"],
)
def test_every_task_is_told_once_to_stop_and_has_time_to_save(node, submit, tmp_path, stop, end):
    number = submit(SAVE, str(tmp_path))
    node._wait_until(lambda: len(list(tmp_path.glob("started-*"))) == 3, "the job")
    node.run(*stop, number)
    assert node.wait_for(number, 60) == end
    node._wait_until(lambda: (tmp_path / "saved-0").exists(), "saving")
    assert [(tmp_path / f"saved-{rank}").read_text() for rank in range(3)] == ["1"] * 3


def test_a_task_that_fails_ends_the_job(node, submit):
    assert node.wait_for(submit(FAIL), 60) == ("FAILED", 1)


def test_a_parameter_server_and_two_workers_train(
    node, submit, tmp_path, toy_environment, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", toy_environment["PYTHONPATH"])
    model_dir = tmp_path / "a run"
    words = ["run", "--plugin", "toy", "--max_steps", "30", "--train_batch_size", "8"]
    number = submit(words=[*words, "--model_dir", str(model_dir)])
    state = node.wait_for(number, 200)
    assert state == ("COMPLETED", 0), "\n".join(logs(tmp_path))
    # The second worker may have made a step beside the last one.
    assert json.loads((model_dir / "result.json").read_text())["global_step"] in (30, 31, 32)
