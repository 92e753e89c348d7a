"""Models that train, for faulty plugins of other kinds and for faults in other modes."""

import dataclasses

import tensorflow.compat.v1 as tf

from faulty import sound
from faulty.models import Faulty
from tf_frame import Mode, ModelOutput, NetworkContext, option
from tf_frame.plugin.kinds import NETWORK
from tf_frame.plugin.load import load_plugin
from tf_frame.testing.toy import ToyInput


@sound
class FailsLater(Faulty):
    """Trains, and raises an error in any other mode."""

    def build(self, features, labels, mode):
        if mode != Mode.TRAIN:
            raise ValueError("made for training alone")  # here
        return ModelOutput(loss=tf.reduce_mean(tf.square(features @ self.weights() - labels)))


@sound
class CountsFeatures(Faulty):
    """Needs the number of features."""

    def build(self, features, labels, mode):
        count = features.shape.as_list()[1]
        return ModelOutput(loss=tf.reduce_mean(features @ tf.ones([count, 1]) - labels))


@sound
class LosesShapes(ToyInput):
    """Yields what a Python function returns."""

    def dataset(self, mode, context):
        def doubled(x, y):
            return tf.numpy_function(lambda x: 2 * x, [x], tf.float32), y

        return super().dataset(mode, context).map(doubled)


@sound
class NeedsLabels(Faulty):
    """Trains, and uses labels where there are none."""

    def build(self, features, labels, mode):
        error = features @ self.weights() - labels  # here
        return ModelOutput(loss=tf.reduce_mean(tf.square(error)), predictions={"error": error})


@sound
class ScalarPredictions(Faulty):
    """Predicts one number for a batch."""

    def build(self, features, labels, mode):
        error = tf.reduce_mean(tf.square(features @ self.weights()))
        return ModelOutput(loss=error, predictions={"error": error})


@sound
class NarrowWriter(Faulty):
    """Has a writer that takes one argument instead of three."""

    def build(self, features, labels, mode):
        error = features @ self.weights()
        return ModelOutput(loss=tf.reduce_mean(error), predictions={"error": error})

    def prediction_writer(self, directory):  # here
        return lambda name: None


@sound
class Linear(Faulty):
    """Linear regression, for faulty inputs."""

    def build(self, features, labels, mode):
        error = features @ self.weights() - labels  # here
        return ModelOutput(loss=tf.reduce_mean(tf.square(error)))


@sound
class MakesPlaceholder(Faulty):
    """Waits for a value that nobody feeds."""

    def build(self, features, labels, mode):
        x = tf.placeholder(tf.float32, [None, 3], name="x")  # here
        return ModelOutput(loss=tf.reduce_mean(x @ self.weights()))


@sound
class WithNetwork(Faulty):
    """The toy model, with a network of a plugin."""

    default_input = "images"

    @dataclasses.dataclass(frozen=True)
    class Params:
        network: str = option("", "name of the network")

    def build(self, features, labels, mode):
        cls = load_plugin(NETWORK, self.params.network).cls
        context = NetworkContext(num_classes=1, is_training=True)
        logits, _ = cls(params=cls.Params())(features, context)
        return ModelOutput(loss=tf.reduce_mean(tf.square(logits - labels)))
