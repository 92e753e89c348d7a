"""Measures the balance of parameter servers: InceptionV3, placed by each strategy.

    python tools/bench/placement.py [--num_ps_tasks 4]

The server that holds most bytes sends and receives most, and so limits the whole job. Needs no
servers: it builds the variables and looks at their devices. The figure is the bytes of the
fullest task over the mean of all tasks, 1 at best.
"""

from __future__ import annotations

import argparse

import tensorflow.compat.v1 as tf
from inception_v3 import inception_v3_variables, num_parameters

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import (
    Balanced,
    RoundRobin,
    variable_sizes,
    variables_placed,
)
from tf_frame.deploy.placement_report import PlacementReport, placement_table


def build() -> None:
    """Makes the variables in the default graph."""
    for name, shape in inception_v3_variables():
        tf.get_variable(name, shape, initializer=tf.zeros_initializer())


def report(config: DeploymentConfig, strategy: RoundRobin) -> PlacementReport:
    """Builds with a strategy."""
    with tf.Graph().as_default(), variables_placed(config, strategy):
        build()
        return placement_table(tf.global_variables(), config)


def main() -> None:
    """Places, and prints the table of each strategy and the figures side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--num_ps_tasks", type=int, default=4, help="parameter server tasks")
    config = DeploymentConfig(num_ps_tasks=parser.parse_args().num_ps_tasks)
    reports = {
        "round robin": report(config, RoundRobin(config)),
        "balanced as they are made": report(config, Balanced(config)),
        "Balanced, sizes known": report(config, Balanced(config, variable_sizes(build))),
    }
    variables = inception_v3_variables()
    print(f"InceptionV3: {len(variables)} variables, {num_parameters(variables):,} numbers\n")
    for name, each in reports.items():
        print(f"{name}\n{each}\n")
    for name, each in reports.items():
        print(f"{name:<30}{each.imbalance:.6f}")


if __name__ == "__main__":
    main()
