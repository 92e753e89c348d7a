"""Workers and a parameter server as real processes on loopback."""

import json
import subprocess
import sys

import pytest

import forked

pytestmark = pytest.mark.process


def worker(target, task, model_dir, environment, *more):
    words = [
        *("run", "--plugin", "toy", "--model_dir", str(model_dir), "--max_steps", "200"),
        *("--master", target, "--task", str(task), "--worker_replicas", "2"),
        *("--num_ps_tasks", "1", "--learning_rate", "0.01"),
        *more,
    ]
    return forked.Popen(
        [sys.executable, "-m", "tf_frame", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


SYNCHRONOUS = ("--sync_replicas", "--moving_average_decay", "0.5")


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "more", [pytest.param((), id="asynchronous"), pytest.param(SYNCHRONOUS, id="synchronous")]
)
def test_two_workers_train_together_over_a_parameter_server(
    cluster, tmp_path, toy_environment, more
):
    workers = [worker(cluster[task], task, tmp_path, toy_environment, *more) for task in (0, 1)]
    outputs = [process.communicate(timeout=200)[0] for process in workers]
    assert [process.returncode for process in workers] == [0, 0], "\n".join(outputs)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["global_step"] >= 200
    assert result["metrics"]["mean_absolute_error"] < 0.5


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_worker_that_comes_when_the_others_are_done_ends_well(cluster, tmp_path, toy_environment):
    output = ""
    for task, folder in enumerate(("first", "second")):  # The late one sees no checkpoint.
        process = worker(cluster[task], task, tmp_path / folder, toy_environment)
        output = process.communicate(timeout=200)[0]
        assert process.returncode == 0, output
    assert "the other workers have reached step 200: nothing to train" in output
