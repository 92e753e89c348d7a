"""A program that runs trainings in child processes, which kill themselves at a chosen time.

The program imports TensorFlow once and forks for each training before any session is made. Each
line of stdin is a training, as JSON; the answer is the child's status as `os.waitpid` returns it:

    {"model_dir": "...", "kind": "mlp", "options": {"max_steps": 9}, "kill": ["step", 5, 0.01]}

`kill` is null, or one of
    ["step", 5, 0.01]   so many seconds after the model begins to compute step 5
    ["save", 6, 0.0]    so many seconds after the first file of the checkpoint of step 6 appears
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from short_backbone import shorten_backbone
from tf_frame.cluster.find import find_cluster
from tf_frame.plugin import Input, InputInfo, Mode, Model, ModelOutput
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.training.run_training import run
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import installed_plugin, make_setup
from tf_frame_deeplab.model import DeepLab
from tf_frame_deeplab.nuclei import Nuclei

TIME_LIMIT_SECS = 120
KILL = None


def kill_after(secs):
    def kill():
        time.sleep(secs)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()


def with_kill(features):
    """The features, but that computing them kills the process at its step, or waits for death."""

    def begin(step):
        if KILL and KILL[0] == "step" and step + 1 == KILL[1]:
            kill_after(KILL[2])
        if KILL and step + 1 > KILL[1]:
            threading.Event().wait()  # Death is slow on a busy machine.
        return np.float32(0)

    step = tf.train.get_global_step().read_value()
    zero = tf.ensure_shape(tf.numpy_function(begin, [step], tf.float32, stateful=False), [])
    return tf.nest.map_structure(lambda tensor: tensor + zero, features)


class Shuffled(Input):
    """Forty examples, shuffled in passes of their own and moved at random."""

    @property
    def info(self):
        return InputInfo(num_examples=dict.fromkeys(Mode, 40))

    def dataset(self, mode, context):
        features = np.random.RandomState(0).randn(40, 8).astype(np.float32)
        labels = np.sin(features.sum(axis=1, keepdims=True))

        def augmented(number, example):
            noise = tf.random.stateless_normal([8], [context.seed, number])
            return example[0] + 0.1 * noise, example[1]

        examples = tf.data.Dataset.from_tensor_slices((features, labels))
        examples = examples.shuffle(17, seed=context.seed).repeat().enumerate()
        return examples.map(augmented, num_parallel_calls=2).batch(context.batch_size)


class Mlp(Model):
    """Two hidden layers with dropout."""

    def build(self, features, labels, mode):
        net = with_kill(features)
        for index in range(2):
            weights = tf.get_variable(f"weights_{index}", [net.shape[1], 16])
            biases = tf.get_variable(f"biases_{index}", [16], initializer=tf.zeros_initializer())
            net = tf.nn.dropout(tf.tanh(tf.matmul(net, weights) + biases), rate=0.3)
        net = tf.matmul(net, tf.get_variable("weights_2", [16, 1]))
        return ModelOutput(loss=tf.reduce_mean(tf.square(net - labels)))


class KilledDeepLab(DeepLab):
    """DeepLab that may be killed."""

    def build(self, features, labels, mode):
        return super().build(with_kill(features), labels, mode)


def mlp_job(model_dir, options):
    return make_setup(Mlp, Shuffled, model_dir, **options)


def accumulated_job(model_dir, options):
    part = installed_plugin(GRADIENT_TRANSFORM, "accumulate", {"t.steps": 3}, "t")
    return make_setup(Mlp, Shuffled, model_dir, optimizer="adam", transforms=[part], **options)


def deeplab_job(model_dir, options):
    shorten_backbone(pytest.MonkeyPatch())  # This process has no other use for it.
    values = {
        "input.crop_size": 33,
        "model.depth_multiplier": 0.1,
        "model.aspp_channels": 8,
        "model.decoder_channels": 8,
    }
    return make_setup(KilledDeepLab, Nuclei, model_dir, values=values, **options)


JOBS = {"mlp": mlp_job, "accumulated": accumulated_job, "deeplab": deeplab_job}
# Rewriting a graph for speed takes longer than its few steps; one kind of run rewrites it.
UNOPTIMIZED = tf.ConfigProto()
UNOPTIMIZED.graph_options.rewrite_options.disable_meta_optimizer = True


def watch_saves(model_dir, step, secs):
    """Kills the process when files of the checkpoint of a step appear."""

    def appeared():
        return any(f"ckpt-{step}." in name for name in os.listdir(model_dir))

    def watch():
        while not appeared():
            time.sleep(0.0002)
        time.sleep(secs)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def run_job(model_dir, kind, options, kill):
    global KILL
    KILL = kill
    if kill and kill[0] == "save":
        watch_saves(model_dir, *kill[1:])
    setup = JOBS[kind](model_dir, {**options, "evaluate": False})
    run(
        setup,
        setup.make_input(),
        cluster=find_cluster(setup.config),
        observer=RunObserver(print, Interrupts(), shows_progress=True),
        session_config=None if kind == "mlp" else UNOPTIMIZED,
    )


def forked(argv):
    """Runs a training in a child process; returns its status."""
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    signal.alarm(TIME_LIMIT_SECS)
    log = os.open(Path(argv["model_dir"]) / "output.txt", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 1
    try:
        run_job(**argv)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    for line in sys.stdin:
        print(forked(json.loads(line)), flush=True)
