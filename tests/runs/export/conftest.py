"""A small classifier, its data and a checkpoint of it, to be exported."""

import os
import subprocess

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_variables
from tf_frame import Input, InputInfo, Mode, Model, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.runs.export.export import export_model
from tf_frame.runs.export.input_signature import input_signature
from tf_frame.runs.export.serving import Request

X = np.random.RandomState(0).randn(5, 3).astype(np.float32)
W = np.random.RandomState(1).randn(3, 4).astype(np.float32)
B = np.array([0.5, -0.5, 1.0, 0.0], np.float32)
STEP = 7


class Data(Input):
    """Five examples of three numbers."""

    def dataset(self, mode, context):
        import tensorflow as tf

        assert mode == Mode.EVAL
        labels = np.zeros([5], np.int32)
        return tf.data.Dataset.from_tensor_slices(({"x": X}, labels)).batch(context.batch_size)


class Classifier(Model):
    """Logits of four classes; names of operations and variables as a trainer has them."""

    def build(self, features, labels, mode):
        assert mode == Mode.PREDICT and labels is None
        w = tf.get_variable("net/w", [3, 4])
        b = tf.get_variable("net/b", [4])
        logits = tf.matmul(features["x"], w) + b
        return ModelOutput(predictions={"logits": logits, "class": tf.argmax(logits, 1)})


def changed(change):
    """A class of classifiers with another output, made of the predictions."""

    class Changed(Classifier):
        def build(self, features, labels, mode):
            return change(super().build(features, labels, mode).predictions)

    return Changed


class TwoHeads(Classifier):
    """Has a signature for all outputs, and a signature for each output."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode).predictions
        heads = {name: {name: tensor} for name, tensor in output.items()}
        return ModelOutput(exports={"serving_default": output, **heads})


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a file system of some kB at `tmp_path/export`, if the machine allows that."""
    folder = tmp_path / "export"

    def mount(kilobytes):
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder]
        mounted = subprocess.run(command, capture_output=True)
        if mounted.returncode:
            pytest.skip(f"no file system can be mounted: {mounted.stderr.decode().strip()}")
        return folder

    yield mount
    if os.path.ismount(folder):
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def checkpoint(tmp_path):
    """One with slots of an optimizer, and averages that are twice the variables."""
    (tmp_path / "run").mkdir()
    average = "ExponentialMovingAverage"
    values = {
        "global_step": np.int64(STEP),
        "net/w": W,
        "net/b": B,
        "net/w/Momentum": W,
        f"net/w/{average}": 2 * W,
        f"net/b/{average}": 2 * B,
    }
    return save_variables(tmp_path / "run" / f"model.ckpt-{STEP}", values)


@pytest.fixture
def request_of(checkpoint):
    """Makes the request that `export_model` would make."""

    def request_of(model=Classifier, source=Data, signature=None, tolerance=1e-5, **options):
        config = RunOptions(**{"eval_batch_size": 4, **options})
        return Request(
            model=model(params=None, info=InputInfo()),
            config=config,
            checkpoint=checkpoint,
            inputs=input_signature(source(params=None), config),
            tolerance=tolerance,
            signature=signature,
        )

    return request_of


@pytest.fixture
def export(checkpoint, tmp_path):
    """Exports a model in a format into `tmp_path/out`."""

    def export(format_name, model=Classifier, source=Data, options=None, **arguments):
        given = {"checkpoint": checkpoint, "output": str(tmp_path / "out"), **arguments}
        return export_model(
            format_name,
            model=model(params=None, info=InputInfo()),
            source=source(params=None),
            config=RunOptions(**{"eval_batch_size": 4, **(options or {})}),
            **given,
        )

    return export
