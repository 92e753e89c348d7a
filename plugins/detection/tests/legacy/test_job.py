"""The API's trainer as a job on this machine: a parameter server and two synchronous workers."""

import json
import re
import time

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import forked
import old_script
from tf_frame.testing.ports import free_ports

from .conftest import SCRIPTS

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(280)]

# The workers first: they end by themselves, and the parameter server after them.
TASKS = ("master", "worker", "ps")
NUM_STEPS = 60
END_SECS = 240.0


@pytest.fixture
def start(tmp_path):
    """Starts the three tasks with flags; kills what is left at the end."""
    processes = []

    def start(**flags):
        hosts = [f"127.0.0.1:{port}" for port in free_ports(len(TASKS))]
        cluster = {task: [host] for task, host in zip(TASKS, hosts, strict=True)}
        words, environment = old_script.command(SCRIPTS / "train_api.py", "reference", **flags)
        for task in TASKS:
            config = {"cluster": cluster, "task": {"type": task, "index": 0}}
            env = {**environment, "TF_CONFIG": json.dumps(config)}
            processes.append(forked.start_logged(words, tmp_path / f"{task}.log", env=env))
        return processes

    yield start
    forked.kill_all(processes)


def test_synchronous_workers_train_together_and_every_process_ends(start, tmp_path):
    folder, deadline = tmp_path / "run", time.monotonic() + END_SECS
    processes = start(train_dir=folder, num_steps=NUM_STEPS, replicas=2)
    logs = {}
    for task, process in zip(TASKS, processes, strict=True):
        code = process.wait(timeout=max(1.0, deadline - time.monotonic()))
        logs[task] = (tmp_path / f"{task}.log").read_text()
        assert code == 0, logs[task][-6000:]
    steps = {task: len(re.findall(r"global step \d+: loss = ", logs[task])) for task in TASKS[:2]}
    # Both take part, and an update needs two gradients; the last ones may not be logged.
    assert min(steps.values()) > 0 and sum(steps.values()) >= 2 * NUM_STEPS - 4, steps
    reader = tf.train.load_checkpoint(str(folder))
    assert reader.get_tensor("global_step") >= NUM_STEPS
    assert np.abs(reader.get_tensor("BoxPredictor/ClassPredictor/biases")).max() > 0
