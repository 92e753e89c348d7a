"""Measures the balance of parameter servers: networks of images, placed by each strategy.

    python tools/bench/placement.py [--num_ps_tasks 2 4 8] [--networks inception_v3 ...] [--write]
    python tools/bench/placement.py --show inception_v3 --num_ps_tasks 4

The server that holds most bytes sends and receives most, and so limits the whole job. Needs no
servers: it builds the variables and looks at their devices. The figure is the bytes of the
fullest task over the mean of all tasks, 1 at best. Bytes are those of all
global variables, the statistics of batch norm among them.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf
from figure_file import write_table

from tf_frame import NetworkContext
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import (
    Balanced,
    RoundRobin,
    variable_sizes,
    variables_placed,
)
from tf_frame.deploy.placement_report import PlacementReport, placement_table
from tf_frame_vision.slim_network import load_network

NETWORKS = ["mobilenet_v1", "mobilenet_v2", "resnet_v1_50", "resnet_v1_152", "inception_v3"]
_CLASSES = 1000
_LINE = "{:<16}{:>10}{:>8}{:>5}{:>14}{:>20}{:>14}"


def builder(name: str) -> Callable[[], None]:
    """Returns a function that makes the variables of a network in the default graph."""
    network = load_network(name)
    size = network.default_image_size

    def build() -> None:
        tf.train.create_global_step()
        images = tf.zeros([1, size, size, 3])
        network(images, NetworkContext(num_classes=_CLASSES, is_training=True))

    return build


def report(
    build: Callable[[], None], config: DeploymentConfig, strategy: RoundRobin
) -> PlacementReport:
    """Builds with a strategy."""
    with tf.Graph().as_default(), variables_placed(config, strategy):
        build()
        return placement_table(tf.global_variables(), config)


def reports(name: str, num_ps_tasks: int) -> dict[str, PlacementReport]:
    """Builds a network with each strategy."""
    build, config = builder(name), DeploymentConfig(num_ps_tasks=num_ps_tasks)
    return {
        "round robin": report(build, config, RoundRobin(config)),
        "balanced as made": report(build, config, Balanced(config)),
        "balanced": report(build, config, Balanced(config, variable_sizes(build))),
    }


def main() -> None:
    """Prints the table of all networks, or those of the devices of one network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num_ps_tasks", type=int, nargs="+", default=[2, 4, 8], help="ps tasks")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, help="names of networks")
    parser.add_argument("--show", metavar="NETWORK", help="show the bytes of each task of one")
    parser.add_argument("--write", action="store_true", help="write docs/figures/placement.json")
    argv = parser.parse_args()
    rows = []
    if argv.show:
        for number in argv.num_ps_tasks:
            for strategy, each in reports(argv.show, number).items():
                print(f"{strategy}\n{each}\n")
        return
    print(_LINE.format("", "variables", "MB", "ps", "round robin", "balanced as made", "balanced"))
    for name in argv.networks:
        figures = []
        for number in argv.num_ps_tasks:
            found = reports(name, number)
            total = found["balanced"].total
            cells = [f"{each.imbalance:.4f}" for each in found.values()]
            megabytes = f"{total.num_bytes / 1e6:.1f}"
            print(_LINE.format(name, total.num_variables, megabytes, number, *cells), flush=True)
            ends = found["round robin"], found["balanced"]
            figures.append(", ".join(f"{each.imbalance:.2f}" for each in ends))
        rows.append([name, megabytes, *figures])
    if argv.write:
        first, *others = [f"{number} ps" for number in argv.num_ps_tasks]
        head = ["network", "MB", f"{first}: in turn, balanced", *others]
        code = ["framework/tf_frame/deploy/placement.py", "plugins/vision/src/tf_frame_vision/nets"]
        write_table(head, rows, code=code, computed=True)


if __name__ == "__main__":
    main()
