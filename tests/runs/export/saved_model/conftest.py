import dataclasses

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import save_variables
from tf_frame import Mode, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.estimator import export
from tf_frame.runs.export.saved_model import export_saved_models
from tfrecords import make_example

WEIGHTS = np.array([[1.5], [-2.0], [0.5]], np.float32)

X = np.array([[1, 2, 3], [4, -5, 6]], np.float32)


Y = X @ WEIGHTS + 3.0

SPEC = {"x": tf.io.FixedLenFeature([3], tf.float32)}


class Linear:
    """`x @ w + b`; `change` makes of the output what a test needs."""

    def __init__(self, change=None):
        self.change = change

    def build(self, features, labels, mode):
        weights = tf.get_variable("w", [3, 1])
        value = tf.matmul(features["x"], weights) + tf.get_variable("b", [1])
        output = ModelOutput(predictions={"value": value})
        if labels is not None:
            loss = tf.reduce_mean(tf.square(labels - value))
            error = tf.metrics.mean_absolute_error(labels, value)
            output = dataclasses.replace(output, loss=loss, metrics={"error": error})
        return self.change(output) if self.change else output


def save(folder, **variables):
    """Writes a checkpoint of these variables at step 7."""
    values = {"w": WEIGHTS, "b": np.float32([3.0]), "global_step": np.int64(7), **variables}
    return save_variables(folder / "model.ckpt-7", values)


@pytest.fixture
def checkpoint(tmp_path):
    return save(tmp_path)


def raw():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
    return export.build_raw_serving_input_receiver_fn({"x": x})()


def supervised():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    return export.SupervisedInputReceiver({"x": x}, y, {"x": x, "y": y})


PARSING = export.build_parsing_serving_input_receiver_fn(SPEC)


@pytest.fixture
def exported(checkpoint, tmp_path):
    """Exports a model to `tmp_path/export`; returns the path."""

    def export_it(model=None, receivers=None, *, path=checkpoint, options=None, **arguments):
        return export_saved_models(
            model=model or Linear(),
            receivers=receivers or {Mode.PREDICT: raw},
            config=RunOptions(**(options or {})),
            checkpoint=path,
            export_dir_base=str(tmp_path / "export"),
            **arguments,
        )

    return export_it


def serialized(rows):
    return [make_example({"x": list(row)}) for row in rows]


class LoadedModel:
    """A SavedModel in a session of its own."""

    def __init__(self, path, tag="serve"):
        self.graph = tf.Graph()
        self.session = tf.Session(graph=self.graph)
        self.meta = tf.saved_model.load(self.session, [tag], path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()

    def run(self, outputs, signature="serving_default", **fed):
        """Outputs of a signature: a name, or a list of them."""
        found = self.meta.signature_def[signature]
        names = tf.nest.map_structure(lambda key: found.outputs[key].name, outputs)
        return self.session.run(names, {found.inputs[key].name: v for key, v in fed.items()})


def signature_names(meta):
    return {name for name in meta.signature_def if not name.startswith("__")}


def with_table(vocabulary):
    """Adds names, looked up in a file, to the predictions."""

    def change(output):
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(vocabulary),
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
            ),
            "none",
        )
        sign = tf.cast(output.predictions["value"] > 0, tf.int64)
        predictions = {**output.predictions, "sign": table.lookup(sign)}
        return dataclasses.replace(output, predictions=predictions)

    return change
