"""Measures a training step of networks made of tf_frame.layers, and of Keras layers.

    python tools/bench/layers.py [--networks mobilenet_v2 resnet_v1_50] [--image_size 96]
        [--batch_size 8] [--rounds 7] [--steps 5] [--write]

It tells whether layers with slim's names, made without Keras, are as fast as those of Keras.

A step is loss, gradients, the update of all weights by plain SGD and of the moving
averages, on a batch of random images handed over as NumPy arrays; it gives the
loss back. Ours is a prepared call of a compat.v1 session. Keras' is
`train_on_batch` of the network of that name in tf.keras.applications, once
compiled with `jit_compile=False` and once with `True`. Neither has a penalty
on weights or dropout.

Each contender has a process of its own; they take turns, so that a busy machine
slows all of them. The table holds medians of the rounds. The multiply-adds are
those of a forward pass: Keras' ResNet50 has its strides in other places than slim's,
and has a tenth more to do; the second ratio is per multiply-add.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
from contenders import answer, contender, questions
from figure_file import write_table

CONTENDERS = {"ours": "tf_frame.layers", "keras": "Keras", "xla": "Keras, jit_compile=True"}
NETWORKS = {"mobilenet_v2": "MobileNetV2", "resnet_v1_50": "ResNet50"}
HEAD = ["network, batch", "`tf_frame.layers`, ms", "Keras", "Keras, `jit_compile=True`"]
HEAD += ["ours over the better Keras", "per multiply-add"]
CLASSES = 1000
LEARNING_RATE = 0.01
Step = Callable[[], Any]


def make_batch(options: argparse.Namespace) -> tuple[Any, Any]:
    """Random images from -1 to 1, and labels."""
    random = np.random.RandomState(0)
    shape = [options.batch_size, options.image_size, options.image_size, 3]
    images = random.uniform(-1.0, 1.0, shape).astype(np.float32)
    return images, random.randint(0, CLASSES, options.batch_size).astype(np.int32)


def ours(network: str, batch: tuple[Any, Any]) -> tuple[Step, float]:
    """Builds the network of tf-frame; returns a step, and its multiply-adds."""
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, batch[0].shape)
        labels = tf.placeholder(tf.int32, batch[1].shape)
        logits = build_logits(network, images)
        forward = multiply_adds(graph)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        update = tf.train.GradientDescentOptimizer(LEARNING_RATE).minimize(loss)
        updates = [update, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
        with tf.control_dependencies(updates):
            train_op = tf.identity(loss)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        call = session.make_callable(train_op, feed_list=[images, labels])
    return lambda: call(*batch), forward


def build_logits(network: str, images: Any) -> Any:
    """Builds a network of tf-frame-vision in training mode."""
    from tf_frame import layers
    from tf_frame_vision.nets import mobilenet_v2, resnet_v1

    if network == "mobilenet_v2":
        scope = mobilenet_v2.training_scope(weight_decay=0.0, dropout_keep_prob=1.0)
        with layers.arg_scope(scope):
            return mobilenet_v2.mobilenet(images, CLASSES)[0]
    with layers.arg_scope(resnet_v1.resnet_arg_scope(weight_decay=0.0)):
        return resnet_v1.resnet_v1_50(images, CLASSES, is_training=True)[0]


def keras(network: str, batch: tuple[Any, Any], *, jit_compile: bool) -> tuple[Step, float]:
    """Builds the network of Keras; returns a step, and its multiply-adds."""
    import tensorflow as tf

    make = getattr(tf.keras.applications, NETWORKS[network])
    model = make(weights=None, input_shape=batch[0].shape[1:], classes=CLASSES)
    model.compile(
        optimizer=tf.keras.optimizers.SGD(LEARNING_RATE),
        loss="sparse_categorical_crossentropy",
        jit_compile=jit_compile,
    )
    spec = tf.TensorSpec(batch[0].shape, tf.float32)
    forward = multiply_adds(tf.function(model).get_concrete_function(spec).graph)
    return lambda: model.train_on_batch(*batch), forward


def multiply_adds(graph: Any) -> float:
    """Counts multiply-adds of all convolutions and matrix products; all shapes must be known."""
    total = 0
    for operation in graph.get_operations():
        if operation.type in ("Conv2D", "DepthwiseConv2dNative", "MatMul"):
            kernel = operation.inputs[1].shape.as_list()
            # Inputs of one output: the kernel without output channels; depthwise, one channel.
            terms = kernel[:2] if operation.type.startswith("Depthwise") else kernel[:-1]
            total += math.prod(operation.outputs[0].shape.as_list()) * math.prod(terms)
    return float(total)


def work(contender: str, network: str, options: argparse.Namespace) -> None:
    """Builds a network; answers `ready` with seconds and multiply-adds, others with secs/step."""
    batch = make_batch(options)
    if contender == "ours":
        step, forward = ours(network, batch)
    else:
        step, forward = keras(network, batch, jit_compile=contender == "xla")
    start = time.perf_counter()
    step()
    first = time.perf_counter() - start
    for _ in range(options.steps):
        step()
    for question in questions():
        if question == ["ready"]:
            answer(first, forward)
            continue
        start = time.perf_counter()
        for _ in range(options.steps):
            step()
        answer((time.perf_counter() - start) / options.steps)


def compare(network: str, options: argparse.Namespace) -> list[str]:
    """Measures a network, prints its rows, and returns that of the table."""
    with contextlib.ExitStack() as stack:
        command = [sys.executable, __file__, *sys.argv[1:], "--worker"]
        asks = {
            name: stack.enter_context(contender([*command, name, network])) for name in CONTENDERS
        }
        ready = {name: ask("ready") for name, ask in asks.items()}
        times: dict[str, list[float]] = {name: [] for name in asks}
        for _ in range(options.rounds):
            for name, ask in asks.items():
                times[name] += ask("took")
    medians = {name: statistics.median(values) for name, values in times.items()}
    best = min(("keras", "xla"), key=medians.__getitem__)
    ratio = medians["ours"] / medians[best]
    per_multiply_add = ratio * ready[best][1] / ready["ours"][1]
    size = f"{options.batch_size} x {options.image_size} x {options.image_size}"
    print(f"{network + ', ' + size:<32} ms/step  fastest  first s  M multiply-adds")
    for name, median in medians.items():
        first, forward = ready[name]
        print(
            f"  {CONTENDERS[name]:<30}{median * 1e3:8.1f}{min(times[name]) * 1e3:9.1f}"
            f"{first:9.1f}{forward / 1e6:9.0f}"
        )
    print(f"  ours / {CONTENDERS[best]}: {ratio:.3f}; per multiply-add: {per_multiply_add:.3f}")
    cells = [f"{median * 1e3:.1f}" for median in medians.values()]
    return [f"{network}, {size}", *cells, f"{ratio:.2f}", f"{per_multiply_add:.2f}"]


def main() -> None:
    """Measures, and prints a table for each network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--batch_size", type=int, default=8, help="images in a batch")
    parser.add_argument("--image_size", type=int, default=96, help="height and width, in pixels")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each contender")
    parser.add_argument("--steps", type=int, default=5, help="steps in a turn")
    parser.add_argument("--write", action="store_true", help="write docs/figures/layers.json")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        contender, network = options.worker
        work(contender, network, options)
        return
    rows = [compare(network, options) for network in options.networks]
    if options.write:
        code = ["framework/tf_frame/layers"]
        write_table(HEAD, rows, code=code, table=str(options.image_size))


if __name__ == "__main__":
    main()
