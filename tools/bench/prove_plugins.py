"""Plugins with a cause of slow steps each, for `prove.py`, which installs them."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from tf_frame import HookPlugin, Input, InputInfo, Mode, Model, ModelOutput, option


class DenseNet(Model):
    """Layers of matrix products, with an option for each cause."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """The causes."""

        width: int = option(512, "units of a layer")
        histograms: bool = option(False, "summarise the activations")
        slow_clone: str = option("", "a sleep, or layers, in the second clone")
        data_format: str = option("NHWC", "layout of convolutions", choices=("NHWC", "NCHW"))
        convolutions: int = option(0, "convolutions before the layers")

    default_input = "numbers"

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        import tensorflow.compat.v1 as tf

        net = tf.reshape(features, [-1, 48])
        if self.params.convolutions:
            net = self._convolutions(tf, tf.reshape(net, [-1, 4, 4, 3]))
        net = _dense(tf, net, "widen", self.params.width)
        for layer in range(3):
            net = tf.nn.relu(_dense(tf, net, f"dense_{layer}", self.params.width))
        if self.params.histograms:
            for place in range(4):
                tf.summary.histogram(f"activations_{place}", net)
        if "clone_1" in tf.get_default_graph().get_name_scope():
            net = self._slow(tf, net)
        value = _dense(tf, net, "narrow", 1)
        if labels is None:
            return ModelOutput(predictions={"value": value})
        loss = tf.reduce_mean(tf.abs(value - labels))
        return ModelOutput(loss=loss, predictions={"value": value})

    def _convolutions(self, tf: Any, net: Any) -> Any:
        net = tf.image.resize(net, [64, 64])
        for layer in range(self.params.convolutions):
            kernel = tf.get_variable(f"kernel_{layer}", [1, 1, 3, 3])
            if self.params.data_format == "NCHW":
                # As a model does whose layers keep another layout than the convolution needs.
                scale = tf.get_variable(f"scale_{layer}", [3, 1, 1])
                net = tf.transpose(tf.transpose(net, [0, 3, 1, 2]) * scale, [0, 2, 3, 1])
            net = tf.nn.relu(tf.nn.conv2d(net, kernel, 1, "SAME"))
        return tf.reduce_mean(net, [1, 2])

    def _slow(self, tf: Any, net: Any) -> Any:
        if self.params.slow_clone == "sleep":
            late = tf.numpy_function(_delayed, [tf.stop_gradient(net)], tf.float32)
            return net + 0.0 * tf.ensure_shape(late, net.shape)
        for _ in range(40 if self.params.slow_clone == "layers" else 0):
            net = tf.tanh(tf.matmul(net, tf.eye(self.params.width)))
        return net


def _dense(tf: Any, net: Any, name: str, units: int) -> Any:
    shape = [net.shape[-1], units]
    return tf.matmul(net, tf.get_variable(name, shape, initializer=tf.glorot_uniform_initializer()))


def _delayed(value: Any) -> Any:
    time.sleep(0.05)
    return value


class Numbers(Input):
    """Random numbers, perhaps from files that are slow to decode, or by a slow function."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the input."""

        images: bool = option(False, "decode a large PNG for each example")
        cache: bool = option(False, "keep what was decoded in memory")
        sleeps: bool = option(False, "sleep for each batch")

    @property
    def info(self) -> InputInfo:
        return InputInfo(num_examples=dict.fromkeys(Mode, 128))

    def dataset(self, mode: Mode, context: Any) -> Any:
        import tensorflow as tf

        draws = np.random.RandomState(0)
        features = draws.rand(128, 48).astype(np.float32)
        dataset = tf.data.Dataset.from_tensor_slices((features, features[:, :1]))
        if self.params.images:
            pixels = draws.randint(0, 255, [512, 512, 3]).astype(np.uint8)
            files = tf.data.Dataset.from_tensors(_png(tf, pixels)).repeat()

            def decode(example: Any, png: Any) -> Any:
                x, y = example
                return x + 0.0 * tf.cast(tf.reduce_max(tf.io.decode_png(png)), tf.float32), y

            # A constant file would be decoded once, when TensorFlow optimises the function.
            dataset = tf.data.Dataset.zip((dataset, files))
            dataset = dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        if self.params.cache:
            dataset = dataset.cache()
        if mode == Mode.TRAIN:
            dataset = dataset.shuffle(128, seed=context.seed).repeat()
        dataset = dataset.batch(context.batch_size, drop_remainder=mode == Mode.TRAIN)
        if self.params.sleeps:
            dataset = dataset.map(_slow_batch)
        return dataset.prefetch(2)


def _png(tf: Any, pixels: Any) -> Any:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        return session.run(tf.io.encode_png(pixels))


def _slow_batch(x: Any, y: Any) -> Any:
    import tensorflow as tf

    late = tf.numpy_function(_delayed, [x], tf.float32)
    return tf.ensure_shape(late, x.shape), y


class Sleeper(HookPlugin):
    """A hook that sleeps after each step."""

    @dataclasses.dataclass(frozen=True)
    class Params:
        """No options."""

    def __call__(self, context: Any) -> Any:
        from tf_frame.hooks.base import Hook
        from tf_frame.hooks.cadence import Cadence

        class SleepHook(Hook):
            def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
                time.sleep(0.05)

        return SleepHook(Cadence(every_steps=1))
