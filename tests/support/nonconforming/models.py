"""Models that break one rule each."""

import dataclasses

import numpy as np

from nonconforming import tf
from nonconforming.healthy import Line
from tf_frame import Mode, ModelOutput


class PresetsAreAList(Line):
    presets = ["large"]


class OtherArguments(Line):
    def build(self, images, labels):
        return super().build(images, labels, Mode.TRAIN)


class OptionWithoutHelp(Line):
    @dataclasses.dataclass(frozen=True)
    class Params(Line.Params):
        depth: int = 3


class KeepsVariables(Line):
    kept = None

    def weights(self, mode):
        # It takes the variable of the first graph for the second one.
        if self.kept is None:
            self.kept = super().weights(mode)
        return self.kept


class SafeByWordOnly(Line):
    """Keeps a value of the graph, which a second thread would change."""

    thread_safe_build = True

    def weights(self, mode):
        self.built = super().weights(mode)
        return self.built


class CountsItsGraphs(Line):
    """Another name in each graph that the same object builds."""

    graph, count = None, 0

    def weights(self, mode):
        if self.graph is not tf.get_default_graph():
            self.graph, self.count = tf.get_default_graph(), self.count + 1
        name = "weights" if self.count == 1 else f"weights_{self.count}"
        return tf.get_variable(name, [3, 1], initializer=tf.ones_initializer())


class PlacesVariables(Line):
    def weights(self, mode):
        """Makes the variable by the class of TensorFlow itself, past every variable creator."""
        from tensorflow.python.ops.resource_variable_ops import ResourceVariable

        made = tf.get_collection("own_weights")
        if not made:
            with tf.name_scope(None), tf.init_scope():
                made = [ResourceVariable(tf.ones([3, 1]), name="own_weights")]
            tf.add_to_collection("own_weights", made[0])
        return made[0]


class VariableOfEachClone(Line):
    def weights(self, mode):
        tf.Variable(0.0, trainable=False, name="own")
        return super().weights(mode)


class VariableOfEvaluation(Line):
    def weights(self, mode):
        if mode == Mode.EVAL:
            tf.get_variable("of_evaluation", [])
        return super().weights(mode)


class OtherShapeInEvaluation(Line):
    def weights(self, mode):
        size = 5 if mode == Mode.EVAL else 4
        tf.get_variable("table", [size], trainable=False)
        return super().weights(mode)


class NeedsLabelsToPredict(Line):
    def build(self, features, labels, mode):
        if labels is None:
            features = {"x": features["x"] + labels}
        return super().build(features, labels, mode)


class PredictsNothing(Line):
    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        return ModelOutput() if labels is None else output


class LossOfEachExample(Line):
    def loss(self, errors):
        return tf.reduce_mean(errors, axis=1)


class LossIsNotFinite(Line):
    def loss(self, errors):
        return super().loss(errors) / 0.0


class UnusedVariable(Line):
    def weights(self, mode):
        tf.get_variable("unused", [2])
        return super().weights(mode)


class UpdateIsNotCollected(Line):
    def collect(self, update):
        pass


class CountsInALocalVariable(Line):
    """The loss depends on the number of steps since the session began."""

    def loss(self, errors):
        if self.mode != Mode.TRAIN:
            return super().loss(errors)
        local = [tf.GraphKeys.LOCAL_VARIABLES]
        steps = tf.Variable(0.0, trainable=False, collections=local, name="steps")
        return super().loss(errors) + tf.assign_add(steps, 1.0)


class DrawsByNumPy(Line):
    def loss(self, errors):
        if self.mode != Mode.TRAIN:
            return super().loss(errors)
        noise = tf.numpy_function(lambda: np.float32(np.random.rand()), [], tf.float32)
        return super().loss(errors) * (1.0 + tf.ensure_shape(noise, []))


class MetricIsNoPair(Line):
    def metrics(self, errors):
        return {"error": errors}


class MetricOfBatches(Line):
    def metrics(self, errors):
        return {"error": tf.metrics.mean(tf.reduce_mean(errors))}


class LossOverPositiveErrors(Line):
    def loss(self, errors):
        return tf.reduce_sum(errors) / tf.reduce_sum(tf.cast(errors > 1, tf.float32))


class RenamesAVariable(Line):
    """The golden checkpoint of its older version has the variable `weights`."""

    def weights(self, mode):
        return tf.get_variable("kernel", [3, 1], initializer=tf.ones_initializer())


class ComputesAnotherLoss(Line):
    def loss(self, errors):
        return 2.0 * super().loss(errors)


class DrawsWhenItIsBuilt(Line):
    def loss(self, errors):
        return super().loss(errors) * (2.0 + np.random.rand())


class RunDefaultsWithATypingError(Line):
    run_defaults = {"max_step": 20}


class ReadsAnotherFeature(Line):
    feature_names = ("image",)
