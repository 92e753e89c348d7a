"""A script like the Inception trainer's, with servers of its own, in three processes that end."""

import os
import re
import sys
import time
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.testing.ports import free_ports

pytestmark = [pytest.mark.process, pytest.mark.timeout(150)]

SCRIPT = Path(__file__).parent / "inception_scripts/distributed_train.py"
IMAGES = (
    Path(__file__).parents[4]
    / "plugins/classification/src/tf_frame_classification/data/fashion_mnist"
)
TASKS = [("ps", 0), ("worker", 0), ("worker", 1)]


@pytest.fixture
def start(tmp_path):
    """Starts a parameter server and two workers with flags; kills what is left at the end."""
    processes = []

    def start(**flags):
        ps, *workers = [f"127.0.0.1:{port}" for port in free_ports(3)]
        flags |= {"ps_hosts": ps, "worker_hosts": ",".join(workers), "data_dir": IMAGES}
        flags |= {"train_dir": tmp_path / "train"}
        for job, task in TASKS:
            words = [f"--{name}={value}" for name, value in flags.items()]
            command = [sys.executable, str(SCRIPT), f"--job_name={job}", f"--task_id={task}"]
            env = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
            log = tmp_path / f"{job}-{task}.log"
            processes.append(forked.start_logged([*command, *words], log, env=env))
        return processes

    yield start
    forked.kill_all(processes)


@pytest.mark.slow
def test_it_learns_and_every_process_ends(start, tmp_path):
    processes = start(max_steps=150)
    ended_at = []
    for process in [processes[1], processes[2], processes[0]]:
        assert process.wait(timeout=120) == 0, read_log(tmp_path, processes.index(process))
        ended_at.append(time.monotonic())
    # Not TensorFlow's two minutes of grace, nor the time that parameter servers wait for a worker.
    assert ended_at[-1] - ended_at[0] < 10
    losses = [find_losses(read_log(tmp_path, worker)) for worker in (1, 2)]
    # The first loss is about ln 11 = 2.4; one worker begins before the other.
    assert max(worker_losses[0] for worker_losses in losses) > 1.8
    assert all(sum(worker_losses[-3:]) / 3 < 1.0 for worker_losses in losses)
    reader = tf.train.load_checkpoint(str(tmp_path / "train"))
    # A step after the last one, as in that trainer.
    assert reader.get_tensor("global_step") in (151, 152)
    assert reader.has_tensor("conv1/weights/ExponentialMovingAverage")
    assert reader.has_tensor("conv1/weights/RMSProp_1")


@pytest.mark.slow
def test_a_model_that_diverges_ends_every_process(start, tmp_path):
    processes = start(max_steps=150, diverge_at_step=30)
    # The worker, which may be the first to see it, fails as well or runs out of tokens.
    assert [process.wait(timeout=100) for process in processes] == [0, 1, 1]
    log = read_log(tmp_path, 1)
    assert "Model diverged with loss = NaN" in log and "About to execute sync_clean_up_op!" in log


def read_log(folder, number):
    job, task = TASKS[number]
    return (folder / f"{job}-{task}.log").read_text()


def find_losses(log):
    return [float(x) for x in re.findall(r"^INFO.*Worker \d: .* loss = ([\d.]+)\(", log, re.M)]
