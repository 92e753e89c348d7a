"""Measures the time to build the training graph of deeplab.

    python tools/bench/graph_construction.py [--rounds 7] [--crop_size 64] [--profile]

Every start of a training waits for it; the ratios show what the framework and further clones add.
Three graphs, built in turn: the framework's with one clone (a copy of the model) and with several,
and one by bare TensorFlow with the same input pipeline, network, loss, pictures,
gradients, update and saver. No session is made. The table holds medians of
processor time, which other programs on the machine disturb least. `--profile`
shows where the time of the graph with several clones goes instead.
"""

from __future__ import annotations

import argparse
import cProfile
import functools
import gc
import pstats
import statistics
import time
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import InputContext, Mode
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.graph.train_graph import build_train_graph
from tf_frame_deeplab import model as deeplab, network, nuclei
from tf_frame_deeplab.last_layer_multiplier import LastLayerMultiplier
from tf_frame_deeplab.outputs import image_summaries, segmentation_loss
from tf_frame_vision.slim_network import load_network

_MOMENTUM = 0.9


def build_framework(num_clones: int, crop_size: int) -> Any:
    """Builds the framework's graph, every clone on CPU:0."""
    source = make_input(crop_size)
    return build_train_graph(
        model=deeplab.DeepLab(params=deeplab.Params(), info=source.info),
        source=source,
        optimizer=lambda rate: tf.train.MomentumOptimizer(rate, _MOMENTUM),
        schedule=lambda step: tf.train.polynomial_decay(0.1, step, 500, 0.0),
        transforms=[LastLayerMultiplier(params=LastLayerMultiplier.Params())],
        config=RunOptions(num_clones=num_clones, train_batch_size=num_clones, clone_on_cpu=True),
        deployment=DeploymentConfig(num_clones=num_clones, clone_on_cpu=True),
    ).graph


def build_bare(crop_size: int) -> Any:
    """Builds the training graph of one clone with TensorFlow alone, as a script does."""
    source = make_input(crop_size)
    with tf.Graph().as_default() as graph:
        global_step = tf.train.create_global_step()
        dataset = source.dataset(Mode.TRAIN, InputContext(batch_size=1)).prefetch(2)
        iterator = tf.data.make_initializable_iterator(dataset)
        features, labels = iterator.get_next()
        with tf.device("/device:CPU:0"):
            total = tf.add(
                _bare_loss(features["image"], labels["semantic"], source.info),
                tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)),
            )
        rate = tf.train.polynomial_decay(0.1, global_step, 500, 0.0)
        update = _bare_update(total, rate, global_step)
        with tf.control_dependencies([update, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
            tf.identity(total, name="train_op")
        tf.summary.scalar("total_loss", total)
        tf.summary.scalar("learning_rate", rate)
        tf.summary.merge_all()
        tf.train.Saver()
    return graph


def _bare_loss(images: Any, labels: Any, info: Any) -> Any:
    params = deeplab.Params(batch_norm_decay=0.95)
    logits, _ = network.deeplab_v3_plus(
        images,
        backbone=load_network("mobilenet_v2"),
        params=params,
        num_classes=info.num_classes,
        is_training=True,
    )
    logits = network.upsample(logits, like=labels)
    tf.nn.softmax(logits)
    classes = tf.argmax(logits, axis=3, output_type=tf.int32)
    image_summaries(
        images, labels, classes, num_classes=info.num_classes, ignore_label=info.ignore_label
    )
    return segmentation_loss(logits, labels, info.ignore_label).mean()


def _bare_update(total: Any, rate: Any, global_step: Any) -> Any:
    optimizer = tf.train.MomentumOptimizer(rate, _MOMENTUM)
    grads_and_vars = optimizer.compute_gradients(total)
    scaled = [(2.0 * g if "biases" in v.op.name else g, v) for g, v in grads_and_vars]
    return optimizer.apply_gradients(scaled, global_step=global_step)


def make_input(crop_size: int) -> Any:
    """The sample data set of deeplab."""
    return nuclei.Nuclei(params=nuclei.Params(crop_size=crop_size))


def seconds(build: Callable[[], Any]) -> tuple[float, int]:
    """Processor time of one build in a fresh graph, and its number of operations."""
    gc.collect()
    # A collection may cost as much as a third of a build, and would fall on any of them.
    gc.disable()
    start = time.process_time()
    graph = build()
    took = time.process_time() - start
    gc.enable()
    return took, len(graph.get_operations())


def profile(build: Callable[[], Any]) -> None:
    """Prints the functions that take most time, own and cumulative."""
    profiler = cProfile.Profile()
    profiler.runcall(build)
    for order in ("tottime", "cumulative"):
        pstats.Stats(profiler).sort_stats(order).print_stats(45)


def main() -> None:
    """Measures and prints seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="builds of each graph")
    parser.add_argument("--clones", type=int, default=8, help="the larger number of clones")
    parser.add_argument("--crop_size", type=int, default=64, help="size of the images, in pixels")
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    args = parser.parse_args()
    builds: dict[str, Callable[[], Any]] = {
        "bare TensorFlow": functools.partial(build_bare, args.crop_size),
        "1 clone": functools.partial(build_framework, 1, args.crop_size),
        f"{args.clones} clones": functools.partial(build_framework, args.clones, args.crop_size),
    }
    for build in builds.values():
        build()
    if args.profile:
        profile(builds[f"{args.clones} clones"])
        return
    _print_table(builds, args.rounds)


def _print_table(builds: dict[str, Callable[[], Any]], rounds: int) -> None:
    runs = [[seconds(build) for build in builds.values()] for _ in range(rounds)]
    for name, column in zip(builds, zip(*runs, strict=True), strict=True):
        median = statistics.median(took for took, _ in column)
        print(f"{name:<18}{median:8.3f} s {column[0][1]:>8,} operations")
    bare, one, several = builds
    for index, name in ((1, f"{one} / {bare}"), (2, f"{several} / {one}")):
        # Builds of one round stand side by side in time and meet the same load.
        ratios = [round_[index][0] / round_[index - 1][0] for round_ in runs]
        print(f"{name:<28}{statistics.median(ratios):6.3f}")


if __name__ == "__main__":
    main()
