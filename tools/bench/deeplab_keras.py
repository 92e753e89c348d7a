"""DeepLabV3+ on MobileNetV2 in Keras, as its user would write it; the peer of `deeplab.py`.

    python tools/bench/deeplab_keras.py --seed 1 --steps 320 --eval_every 25

Network, loss, optimizer and schedule are those of `tf-frame run --plugin deeplab`; the data are
the very same `tf.data` pipeline. It prints the mean IoU of each evaluation, and the steps/s.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import tensorflow as tf

from tf_frame import InputContext, Mode
from tf_frame_deeplab.nuclei import Nuclei, Params

keras = tf.keras
layers = keras.layers
CLASSES = 2
IGNORED = 255
CHANNELS = 64
# MobileNetV2: expansion, channels, blocks, stride (https://arxiv.org/abs/1801.04381, table 2).
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1)]
BLOCKS += [(6, 160, 3, 2), (6, 320, 1, 1)]


def norm(net: Any, activation: str | None = "relu6", *, epsilon: float = 1e-3) -> Any:
    """Batch norm, and what follows it."""
    net = layers.BatchNormalization(momentum=0.95, epsilon=epsilon)(net)
    return layers.Activation(activation)(net) if activation else net


def conv(net: Any, filters: int, kernel: int = 1, **options: Any) -> Any:
    """A convolution that pays an L2 penalty."""
    penalty = keras.regularizers.L2(0.5 * 4e-5)  # TensorFlow's l2_loss has a factor of a half.
    options = {"padding": "same", "use_bias": False, "kernel_regularizer": penalty} | options
    return layers.Conv2D(filters, kernel, **options)(net)


def inverted_residual(net: Any, expansion: int, filters: int, stride: int, rate: int) -> Any:
    """A block of MobileNetV2; returns its output and that of its depthwise convolution."""
    entry, channels = net, net.shape[-1]
    if expansion > 1:
        net = norm(conv(net, channels * expansion))
    depthwise = layers.DepthwiseConv2D(
        3, strides=stride, dilation_rate=rate, padding="same", use_bias=False
    )
    depthwise_output = norm(depthwise(net))
    net = norm(conv(depthwise_output, filters), None)
    if stride == 1 and channels == filters:
        net = layers.Add()([entry, net])
    return net, depthwise_output


def backbone(image: Any) -> tuple[Any, Any]:
    """MobileNetV2 at output stride 16; returns its features and those of stride 4."""
    net = norm(conv(layers.Rescaling(2 / 255, -1)(image), 32, 3, strides=2))
    size, rate, skip = 2, 1, None
    for expansion, filters, count, stride in BLOCKS:
        for index in range(count):
            step = stride if index == 0 else 1
            step, next_rate = (1, rate * step) if size * step > 16 else (step, rate)
            net, depthwise = inverted_residual(net, expansion, filters, step, rate)
            size, rate = size * step, next_rate
            if size == 4:
                skip = depthwise
    return net, skip


def separable(net: Any, *, rate: int = 1) -> Any:
    """Depthwise 3x3 and pointwise 1x1, each with batch norm."""
    net = layers.DepthwiseConv2D(3, dilation_rate=rate, padding="same", use_bias=False)(net)
    net = norm(net, "relu", epsilon=1e-5)
    return norm(conv(net, CHANNELS), "relu", epsilon=1e-5)


def resized(net: Any, like: Any) -> Any:
    """Bilinear interpolation to the size of another tensor."""
    return layers.Resizing(*like.shape[1:3], interpolation="bilinear")(net)


def deeplab(size: int) -> Any:
    """The network: logits `[batch, size, size, 2]`."""
    image = keras.Input([size, size, 3])
    features, low_level = backbone(image)
    pooled = layers.GlobalAveragePooling2D(keepdims=True)(features)
    branches = [resized(norm(conv(pooled, CHANNELS), "relu", epsilon=1e-5), features)]
    branches.append(norm(conv(features, CHANNELS), "relu", epsilon=1e-5))
    branches += [separable(features, rate=rate) for rate in (6, 12, 18)]
    net = layers.Concatenate()(branches)
    net = norm(conv(net, CHANNELS), "relu", epsilon=1e-5)
    skip = norm(conv(low_level, 48), "relu", epsilon=1e-5)
    net = layers.Concatenate()([resized(net, skip), skip])
    net = separable(separable(net))
    initial = keras.initializers.TruncatedNormal(stddev=0.01)
    net = conv(net, CLASSES, use_bias=True, kernel_initializer=initial)
    return keras.Model(image, resized(net, image))


class Poly(keras.optimizers.schedules.LearningRateSchedule):
    """A rate that falls to 0 with a power of 0.9, after a linear warm-up of 20 steps."""

    def __init__(self, rate: float, steps: int) -> None:
        self.rate, self.steps = rate, steps

    def __call__(self, step: Any) -> Any:
        step = tf.cast(step, tf.float32)
        rate = self.rate * (1 - step / self.steps) ** 0.9
        return tf.where(step < 20, 1e-3 + (self.rate - 1e-3) * step / 20, rate)


class Evaluation(keras.callbacks.Callback):
    """Evaluates every so many steps, and times the steps."""

    def __init__(self, dataset: Any, every: int) -> None:
        super().__init__()
        self.dataset, self.every = dataset, every
        self.metric = keras.metrics.MeanIoU(CLASSES, ignore_class=IGNORED)
        self.secs: list[float] = []

    def on_train_begin(self, logs: Any = None) -> None:
        self.last = time.monotonic()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.secs.append(time.monotonic() - self.last)
        if (batch + 1) % self.every == 0:
            self.metric.reset_state()
            for images, labels in self.dataset:
                logits = self.model.predict_on_batch(images)
                self.metric.update_state(labels, logits.argmax(axis=-1))
            print(
                f"evaluation at step {batch + 1}  mean_iou {self.metric.result():.4f}", flush=True
            )
        self.last = time.monotonic()


def data_set(mode: Mode, seed: int) -> Any:
    """Batches of images and labels, of the input of tf-frame."""
    dataset = Nuclei(params=Params()).dataset(mode, InputContext(batch_size=4, seed=seed))
    return dataset.map(lambda features, labels: (features["image"], labels["semantic"]))


def main() -> None:
    """Trains, and reports."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--learning_rate", type=float, default=0.3)
    parser.add_argument("--eval_every", type=int, default=25)
    parser.add_argument("--xla", action="store_true", help="compile the step by XLA")
    argv = parser.parse_args()
    keras.utils.set_random_seed(argv.seed)
    model = deeplab(size=128)
    print(f"{sum(w.shape.num_elements() for w in model.trainable_weights)} parameters")
    model.compile(
        keras.optimizers.SGD(Poly(argv.learning_rate, argv.steps), momentum=0.9),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=IGNORED),
        jit_compile=argv.xla,
    )
    evaluation = Evaluation(data_set(Mode.EVAL, argv.seed), argv.eval_every)
    model.fit(
        data_set(Mode.TRAIN, argv.seed),
        steps_per_epoch=argv.steps,
        verbose=0,
        callbacks=[evaluation],
    )
    print(f"{1 / statistics.median(evaluation.secs):.3f} steps/s")


if __name__ == "__main__":
    main()
