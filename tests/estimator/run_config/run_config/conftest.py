import json

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.estimator.run_config.run_config import default_session_config

CLUSTER = {"chief": ["c:1"], "ps": ["p0:1", "p1:1"], "worker": ["w0:1", "w1:1"]}
DEFAULTS = {
    "model_dir": None,
    "tf_random_seed": 1,
    "save_summary_steps": 100,
    "save_checkpoints_steps": None,
    "save_checkpoints_secs": 600,
    "session_config": default_session_config(),
    "keep_checkpoint_max": 5,
    "keep_checkpoint_every_n_hours": 10000,
    "log_step_count_steps": 100,
    "train_distribute": None,
    "device_fn": None,
    "protocol": None,
    "eval_distribute": None,
    "experimental_max_worker_delay_secs": None,
    "session_creation_timeout_secs": 7200,
    "checkpoint_save_graph_def": True,
}


def on_cpu(op):
    return "/cpu:0"


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)


@pytest.fixture
def in_cluster(monkeypatch):
    """Makes this process a task of a cluster, or of none."""

    def become(task_type=None, index=0, cluster=CLUSTER, **more):
        task = {"cluster": cluster, "task": {"type": task_type, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps({**(task if task_type else {}), **more}))

    return become


@pytest.fixture
def logged(monkeypatch):
    """Messages in TensorFlow's log, `(level, text)` each."""
    lines = []
    for level in ("info", "warning"):
        monkeypatch.setattr(
            tf.logging, level, lambda text, *args, at=level: lines.append((at, text % args))
        )
    return lines


GIVEN = {
    "model_dir": "/tmp/model",
    "tf_random_seed": 7,
    "save_summary_steps": 2,
    "save_checkpoints_steps": 3,
    "save_checkpoints_secs": None,
    "session_config": tf.ConfigProto(allow_soft_placement=False),
    "keep_checkpoint_max": 4,
    "keep_checkpoint_every_n_hours": 1.5,
    "log_step_count_steps": 6,
    "train_distribute": None,
    "device_fn": on_cpu,
    "protocol": "grpc+verbs",
    "eval_distribute": None,
    "experimental_distribute": None,
    "experimental_max_worker_delay_secs": 8,
    "session_creation_timeout_secs": 9,
    "checkpoint_save_graph_def": False,
}
