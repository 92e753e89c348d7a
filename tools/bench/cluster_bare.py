"""A task of bare distributed TensorFlow: what `cluster.py` compares tf-frame with.

    python tools/bench/cluster_bare.py '{"job": "worker", "index": 0, "cluster": {...}, ...}'

`tf.train.Server`, `replica_device_setter`, `MonitoredTrainingSession` with no hook but that of
`SyncReplicasOptimizer`; its steps are prepared calls (`make_callable`), the least that TensorFlow
offers. A task never ends: TensorFlow's ps and its synchronous workers would not either.
`cluster.py` kills it.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf
from cluster_dense import Marks, build_loss, dataset

LEARNING_RATE = 0.01


def build(task: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Builds the graph of a worker; returns what a step fetches, and the hooks."""
    workers = len(task["cluster"].get("worker", [""]))
    setter = None
    if "ps" in task["cluster"]:
        setter = tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{task['index']}", cluster=task["cluster"]
        )
    with tf.device(setter):
        step = tf.train.get_or_create_global_step()
        features, labels = tf.data.make_one_shot_iterator(dataset(task["width"])).get_next()
        loss = build_loss(features, labels)
        optimizer: Any = tf.train.GradientDescentOptimizer(LEARNING_RATE)
        hooks = []
        if task["sync"]:
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, workers, workers)
            # Without spare tokens; with them gradients of old values are sent, and dropped.
            hooks = [optimizer.make_session_run_hook(task["index"] == 0, num_tokens=0)]
        train_op = optimizer.minimize(loss, global_step=step)
        with tf.control_dependencies([train_op]):
            after = tf.identity(step.read_value())
    return [loss, after], hooks


def work(task: dict[str, Any], target: str) -> None:
    """Trains until the last step, and waits to be killed."""
    tf.disable_eager_execution()
    fetches, hooks = build(task)
    ready, is_chief = pathlib.Path(task["folder"], "ready"), task["index"] == 0
    while not (is_chief or ready.exists()):  # It would look for the chief every 30 s only.
        time.sleep(0.05)
    filters = ["/job:ps", f"/job:worker/task:{task['index']}"]
    with tf.train.MonitoredTrainingSession(
        target,
        is_chief=is_chief,
        hooks=hooks,
        save_checkpoint_secs=None,
        save_summaries_steps=None,
        log_step_count_steps=None,
        config=tf.ConfigProto(device_filters=filters if target else []),
    ) as session:
        ready.touch()
        raw = session.run_step_fn(lambda step_context: step_context.session)
        run_steps(raw.make_callable(fetches), task)
        time.sleep(3600)


def run_steps(call: Any, task: dict[str, Any]) -> None:
    """Runs steps, and marks as the hook of tf-frame's run does."""
    marks = Marks(task["folder"], task["index"], len(task["cluster"].get("worker", [""])))
    every, step, due = task["every"], 0, 0
    while step < task["steps"]:
        _, step = call()
        if step >= min(due, task["steps"]):
            marks.write(int(step))
            due = (step // every + 1) * every


def main() -> None:
    """Serves or works."""
    task = json.loads(sys.argv[1])
    target = ""
    if task["cluster"]:
        server = tf.train.Server(task["cluster"], task["job"], task["index"])
        target = server.target
        if task["job"] == "ps":
            server.join()
    work(task, target)


if __name__ == "__main__":
    main()
