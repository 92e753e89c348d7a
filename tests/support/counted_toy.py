"""The plugin `counted` of tests of clusters: the toy model, which counts the examples it has read.

The variable `seen` has the number of times that each example was in a batch of any worker.
"""

import dataclasses

import tensorflow.compat.v1 as tf

from tf_frame import Mode, option
from tf_frame.testing.distributions import write_distribution
from tf_frame.testing.toy import ToyInput, ToyModel


class CountedInput(ToyInput):
    """The toy input with the number of each example; a batch may take time."""

    @dataclasses.dataclass(frozen=True)
    class Params(ToyInput.Params):
        sleep_ms: int = option(0, "time that each training batch takes at least", min=0)

    def dataset(self, mode, context):
        from tensorflow.python.data.experimental.ops import testing

        dataset = super().dataset(mode, context)
        if mode != Mode.TRAIN:
            return dataset
        if self.params.sleep_ms:
            dataset = dataset.apply(testing.sleep(1000 * self.params.sleep_ms))
        return dataset


class CountedModel(ToyModel):
    """Linear regression; fails, or ends its process, if a file of the test says so."""

    @dataclasses.dataclass(frozen=True)
    class Params(ToyModel.Params):
        num_examples: int = option(64, "examples of the input that are counted", min=1)
        parts: int = option(0, "parts of the variable `table`, which 0 leaves out", min=0)
        dropout: float = option(0.0, "part of the features that is dropped in training")
        fails_in: str = option("", "task with a model that raises, such as worker-0")

    default_input = "counted"

    def build(self, features, labels, mode):
        kept = features
        if mode == Mode.TRAIN and self.params.dropout:
            kept = tf.nn.dropout(features, rate=self.params.dropout)
        output = super().build(kept, labels, mode)
        loss = output.loss
        if self.params.parts and loss is not None:
            loss += self._table()
        if mode == Mode.TRAIN:
            self._check_task()
            # Not in UPDATE_OPS, which run on one of several synchronous workers only.
            with tf.control_dependencies([self._counted(features)]):
                loss = tf.identity(loss)
        return dataclasses.replace(output, loss=loss)

    def _check_task(self):
        import json
        import os

        task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {})
        if self.params.fails_in == f"{task.get('type')}-{task.get('index')}":
            raise KeyError("a defect of the plugin")

    def _counted(self, features):
        """Returns the op that counts the examples of a batch, identified by their features."""
        import numpy as np

        number = self.params.num_examples
        features_by_number = np.random.RandomState(0).randn(number, 3).astype(np.float32)
        seen = tf.get_variable(
            "seen", [number], tf.int32, initializer=tf.zeros_initializer(), trainable=False
        )
        is_same = tf.reduce_all(tf.equal(features[:, None], features_by_number[None]), axis=2)
        counted = tf.reduce_sum(tf.cast(is_same, tf.int32), axis=0)
        return tf.assign_add(seen, counted)

    def _table(self):
        table = tf.get_variable(
            "table",
            [12, 4],
            initializer=tf.ones_initializer(),
            partitioner=tf.fixed_size_partitioner(self.params.parts),
        )
        return tf.reduce_sum(tf.square(tf.convert_to_tensor(table)))


def write_counted_distribution(site):
    """Writes the metadata of a package that registers the plugins as `counted`."""
    entry_points = {
        "tf_frame.models: counted": "counted_toy:CountedModel",
        "tf_frame.inputs: counted": "counted_toy:CountedInput",
    }
    write_distribution(site, "tf-frame-counted", entry_points)
