"""Jobs of the plugin `counted` as real processes, and comparisons of their checkpoints."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

import forked
from counted_toy import write_counted_distribution
from tf_frame.testing.local_job import LocalJob, checkpoint_values

# Linear regression by gradient descent, without summaries and logs that cost time.
WORDS = ("run", "--plugin", "counted", "--optimizer", "sgd", "--learning_rate", "0.05")
# Momentum, so that the slots count as well, and shuffled data; slow enough to be disturbed.
LAST_STEP = 60
JOINT_WORDS = (
    *WORDS[:3],
    *("--optimizer", "momentum", "--learning_rate", "0.01", "--noevaluate"),
    *("--max_steps", str(LAST_STEP), "--train_batch_size", "4", "--input.shuffle"),
    *("--save_checkpoint_steps", "10", "--save_checkpoint_secs", "none"),
    *("--input.sleep_ms", "40"),
)
# The batch is divided in shards, so that the number of workers may change.
SHARDED_WORDS = (
    *JOINT_WORDS,
    *("--train_batch_size", "8", "--batch_shards", "4"),
    *("--model.dropout", "0.3", "--model.l2", "0.1"),
)
# Jobs that make every step together: number of parameter servers, and options.
JOINT_JOBS = {"sync": (1, ("--sync_replicas",)), "all-reduce": (0, ())}


def job_environment(folder: Path) -> dict[str, str]:
    """Returns environment variables for a process with the plugin `counted`."""
    site = folder / "site"
    if not site.exists():
        write_counted_distribution(site)
    # With the folders of the present process, so that both use the same tf-frame.
    path = [str(site), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


class RunningJob(LocalJob):
    """A job of the plugin `counted`, in processes that have TensorFlow imported."""

    def __init__(
        self,
        folder: Path,
        words: Iterable[str] = WORDS,
        *,
        environment: dict[str, str] | None = None,
        **job: Any,
    ) -> None:
        variables = job_environment(folder) | (environment or {})
        super().__init__(folder, words, environment=variables, popen=forked.Popen, **job)


def joint_job(folder: Path, kind: str, *, num_workers: int = 2) -> RunningJob:
    """Returns a job of `JOINT_JOBS`; its result depends only on the number of workers."""
    num_ps, more = JOINT_JOBS[kind]
    return RunningJob(folder, (*JOINT_WORDS, *more), num_ps=num_ps, num_workers=num_workers)


def run_alone(folder: Path, words: Iterable[str]) -> dict[str, Any]:
    """Trains in a single process; returns the values of the last checkpoint."""
    model_dir = folder / "alone"
    command = [*forked.TF_FRAME, *words, "--model_dir", str(model_dir)]
    forked.succeed(command, env=job_environment(folder), cwd=folder)
    return checkpoint_values(Path(tf.train.latest_checkpoint(str(model_dir))))


def without_counts(values: dict[str, Any]) -> dict[str, Any]:
    """Leaves out the count of examples, which each worker has of its own."""
    return {name: value for name, value in values.items() if name != "seen"}


def assert_same(values: dict[str, Any], expected: dict[str, Any], *, atol: float = 0.0) -> None:
    """Checks that checkpoints hold the same values, to the last bit unless `atol` is given.

    A position in the input may hold more or fewer elements that were read ahead; and a worker may
    have counted the batch of the next step, as another one saved.
    """
    assert values.keys() == expected.keys()
    for name, value in values.items():
        if name == "seen" or re.fullmatch(r"input_position/(worker_\d+/)?\d+", name):
            continue
        if atol and np.issubdtype(np.asarray(value).dtype, np.floating):
            np.testing.assert_allclose(value, expected[name], rtol=0, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(value, expected[name], err_msg=name)
