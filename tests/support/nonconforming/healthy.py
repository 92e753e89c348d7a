"""Small plugins that pass every check."""

import dataclasses
from typing import ClassVar

import numpy as np

from nonconforming import tf
from tf_frame import Input, InputInfo, Mode, Model, ModelOutput, option


class Points(Input):
    """Points of a line; 7 of them for evaluation."""

    feature_names = ("x",)
    sizes: ClassVar = {Mode.TRAIN: 9, Mode.EVAL: 7}

    @property
    def info(self):
        return InputInfo(num_examples=self.sizes)

    def examples(self, mode):
        x = np.random.RandomState(0).randn(self.sizes[mode], 3).astype(np.float32)
        return tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(axis=1, keepdims=True)))

    def dataset(self, mode, context):
        dataset = self.examples(mode)
        if mode == Mode.TRAIN:
            dataset = dataset.shuffle(9, seed=context.seed).repeat()
        return dataset.batch(context.batch_size, drop_remainder=mode == Mode.TRAIN)


class Line(Model):
    """Linear regression with a moving average of the labels."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        scale: float = option(1.0, "factor on the loss", min=0)

    feature_names = ("x",)

    def build(self, features, labels, mode):
        weights = self.weights(mode)
        mean = tf.get_variable(
            "moving_mean", [], initializer=tf.zeros_initializer(), trainable=False
        )
        predictions = tf.matmul(features["x"], weights)
        if labels is None:
            return ModelOutput(predictions={"y": predictions})
        if mode == Mode.TRAIN:
            self.collect(tf.assign_sub(mean, 0.1 * (mean - tf.reduce_mean(labels))))
        errors = tf.square(predictions - labels)
        self.mode = mode
        return ModelOutput(
            loss=self.params.scale * self.loss(errors),
            predictions={"y": predictions},
            metrics=self.metrics(errors),
        )

    def weights(self, mode):
        return tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())

    def loss(self, errors):
        return tf.reduce_mean(errors)

    def collect(self, update):
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)

    def metrics(self, errors):
        return {"error": tf.metrics.mean(errors)}


class QueuedPoints(Points):
    """The points by a queue; nothing can save its position."""

    exact_resume = False

    def dataset(self, mode, context):
        examples = self.examples(mode)
        examples = examples.repeat() if mode == Mode.TRAIN else examples
        features, label = tf.data.make_one_shot_iterator(examples).get_next()
        queue = tf.FIFOQueue(16, [tf.float32, tf.float32], [[3], [1]])
        tf.train.add_queue_runner(
            tf.train.QueueRunner(queue, [queue.enqueue((features["x"], label))])
        )
        take = queue.dequeue_many if mode == Mode.TRAIN else queue.dequeue_up_to

        def batch():
            x, y = take(context.batch_size)
            return {"x": x}, y

        return batch


class LineWithTrainOp(Line):
    """Makes its own update."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        if mode != Mode.TRAIN:
            return output
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            optimizer = tf.train.GradientDescentOptimizer(0.1)
            train_op = optimizer.minimize(output.loss, tf.train.get_global_step())
        return dataclasses.replace(output, train_op=train_op)
