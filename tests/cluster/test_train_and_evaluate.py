import json
import os
import sys
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.hooks.by_name.early_stopping import EvalMetricsReader
from tf_frame.testing.local_job import wait_for
from tf_frame.testing.one_weight import loss_after
from tf_frame.testing.ports import free_ports

PROGRAM = Path(__file__).with_name("cluster_task.py")
# Three or four processes that load TensorFlow at once, on few cores.
TASK_SECS = 150


@pytest.fixture
def start(tmp_path):
    """Starts a task; every one is ended with the test."""
    started = []

    def start(jobs, job, index=0, *, max_steps):
        task = {"cluster": jobs, "task": {"type": job, "index": index}}
        process = forked.start_logged(
            [sys.executable, str(PROGRAM), str(tmp_path / "run"), str(max_steps)],
            tmp_path / f"{job}-{index}.log",
            env={**os.environ, "TF_CONFIG": json.dumps(task)},
        )
        started.append(process)
        return process

    yield start
    forked.kill_all(started)


@pytest.fixture
def read_log(tmp_path):
    return lambda task: (tmp_path / f"{task}.log").read_text()


def hosts(*jobs):
    return {
        job: [f"127.0.0.1:{port}"] for job, port in zip(jobs, free_ports(len(jobs)), strict=True)
    }


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(200)
def test_an_evaluator_evaluates_and_exports_what_a_chief_trains(start, read_log, tmp_path):
    jobs = hosts("chief")
    evaluator = start(jobs, "evaluator", max_steps=10)
    chief = start(jobs, "chief", max_steps=10)
    assert chief.wait(TASK_SECS) == 0, read_log("chief-0")
    assert evaluator.wait(TASK_SECS) == 0, read_log("evaluator-0")
    found = EvalMetricsReader(str(tmp_path / "run/eval")).read()
    assert found[10]["loss"] == pytest.approx(loss_after(10), rel=1e-5)
    assert set(found) <= {0, 5, 10}
    assert len(list((tmp_path / "run/export/final").iterdir())) == 1
    assert len(list((tmp_path / "run/export/latest").iterdir())) == len(found)
    assert "Exiting evaluation, global_step=10 >= train max_steps=10" in read_log("evaluator-0")
    for task in ("chief-0", "evaluator-0"):
        assert "result: None" in read_log(task)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.timeout(400)
def test_chief_and_worker_train_one_model_until_the_chief_says_stop(start, read_log, tmp_path):
    jobs = hosts("chief", "worker", "ps")
    endless = 10**9
    ps, chief = (start(jobs, job, max_steps=endless) for job in ("ps", "chief"))
    first = tmp_path / "run" / "model.ckpt-0.index"
    wait_for(lambda: first.exists() or chief.poll() is not None, first, TASK_SECS)
    worker = start(jobs, "worker", max_steps=endless)
    assert chief.wait(TASK_SECS) == 0, read_log("chief-0")
    assert worker.wait(TASK_SECS) == 0, read_log("worker-0")
    assert ps.wait(TASK_SECS) == 0, read_log("ps-0")
    assert "early stopping at global step" in read_log("chief-0")
    assert "Early stopping requested, suspending run." in read_log("worker-0")
    checkpoint = tf.train.latest_checkpoint(str(tmp_path / "run"))
    names = [name for name, _ in tf.train.list_variables(checkpoint)]
    assert [n for n in names if not n.startswith("input_position/")] == ["global_step", "weight"]
    assert tf.train.load_variable(checkpoint, "weight") == pytest.approx(4.0)
