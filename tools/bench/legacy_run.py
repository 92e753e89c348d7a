"""Cost of a training step through `tf-frame legacy run`, over that of direct imports.

    python tools/bench/legacy_run.py [--steps 3000] [--repeats 5]

The same small model trains by an Estimator, by slim.learning.train and in a loop of `Session.run`,
once with `tf.estimator`, `tf.contrib.slim` ... through the command, once with imports of
`tf_frame_legacy`. The two take turns in processes of their own; the first steps do not count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

_OLD = """
import tensorflow as tf
estimator, slim = tf.estimator, tf.contrib.slim
"""
_NEW = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from tf_frame_legacy import estimator, slim
"""
_PROGRAM = """
import json, sys, time
STEPS, FOLDER = int(sys.argv[1]), sys.argv[2]

class Clock(tf.train.SessionRunHook):
    def __init__(self):
        self.ends = []
    def after_run(self, context, values):
        self.ends.append(time.perf_counter())

def model(x):
    w = tf.get_variable("w", [8, 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    step = tf.train.get_or_create_global_step()
    return loss, tf.train.GradientDescentOptimizer(0.01).minimize(loss, step)

def model_fn(features, mode):
    loss, train_op = model(features)
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

def input_fn():
    return tf.data.Dataset.from_tensors(tf.ones([4, 8])).repeat()

def secs_of_estimator():
    clock = Clock()
    estimator.Estimator(model_fn, FOLDER + "/estimator").train(input_fn, [clock], steps=STEPS)
    return clock.ends

def secs_of_slim():
    ends = []
    def step(session, train_op, global_step, words):
        values = slim.learning.train_step(session, train_op, global_step, words)
        ends.append(time.perf_counter())
        return values
    with tf.Graph().as_default():
        loss, train_op = model(tf.ones([4, 8]))
        with tf.control_dependencies([train_op]):
            train_tensor = tf.identity(loss)
        slim.learning.train(
            train_tensor, FOLDER + "/slim", train_step_fn=step, number_of_steps=STEPS,
            log_every_n_steps=10**9)
    return ends

def secs_of_session():
    ends = []
    with tf.Graph().as_default(), tf.Session() as session:
        loss, train_op = model(tf.ones([4, 8]))
        session.run(tf.global_variables_initializer())
        for _ in range(STEPS):
            session.run([train_op, loss])
            ends.append(time.perf_counter())
    return ends

results = {}
for function in (secs_of_estimator, secs_of_slim, secs_of_session):
    ends = function()[100:]
    results[function.__name__[8:]] = (ends[-1] - ends[0]) / (len(ends) - 1)
print(json.dumps(results))
"""


def measure(words: list[str], steps: int) -> dict[str, float]:
    """Returns loop -> seconds a step, of one process."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run(
            [sys.executable, *words, str(steps), folder],
            capture_output=True,
            text=True,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"},
            check=True,
        )
    secs: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return secs


def main() -> None:
    """Prints the median of the ratios for each loop, with their range."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old.py"), Path(folder, "new.py")
        old.write_text(_OLD + _PROGRAM)
        new.write_text(_NEW + _PROGRAM)
        for _ in range(options.repeats):
            direct = measure([str(new)], options.steps)
            through = measure(["-m", "tf_frame_legacy", str(old)], options.steps)
            for loop, secs in direct.items():
                ratios.setdefault(loop, []).append(through[loop] / secs)
            print({loop: f"{secs * 1e6:.0f} us" for loop, secs in direct.items()}, flush=True)
    for loop, values in ratios.items():
        print(
            f"{loop:<10} through the command: {statistics.median(values):.2f} x "
            f"({min(values):.2f} to {max(values):.2f})"
        )


if __name__ == "__main__":
    main()
