"""Limits of a session on a machine, from the run options: GPUs, their memory, threads.

Every session of a process must have the same GPU options: TensorFlow takes those of the first.
"""

from __future__ import annotations

import os
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.option_groups import DeviceOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import ConfigError


def device_fields(config: DeviceOptions) -> Any:
    """Returns a `ConfigProto` with the fields that the options set, and no others.

    Args:
      config: `gpus`, `gpu_memory_growth`, `gpu_memory_fraction`, `intra_op_threads`,
        `inter_op_threads`.
    """
    proto = tf.ConfigProto(
        intra_op_parallelism_threads=config.intra_op_threads,
        inter_op_parallelism_threads=config.inter_op_threads,
    )
    if config.gpus:
        proto.gpu_options.visible_device_list = ",".join(map(str, config.gpus))
    if config.gpu_memory_growth:
        proto.gpu_options.allow_growth = True
    if config.gpu_memory_fraction is not None:
        proto.gpu_options.per_process_gpu_memory_fraction = config.gpu_memory_fraction
    return proto


def session_fields(config: DeviceOptions) -> Any:
    """Returns the `ConfigProto` of a session to which no script has given one.

    It has the fields of `device_fields`, soft placement, and one pass of the graph optimizer, as
    Estimator had it (tensorflow_estimator, run_config.py, `get_default_session_config`): a second
    pass makes the start longer, and made no step of deeplab shorter (docs/performance.md).

    Args:
      config: as for `device_fields`.
    """
    proto = device_fields(config)
    proto.allow_soft_placement = True
    rewrites = proto.graph_options.rewrite_options
    rewrites.meta_optimizer_iterations = rewrites.ONE
    return proto


def inference_session_config(config: DeviceOptions, given: Any = None) -> Any:
    """Returns the `ConfigProto` of sessions that evaluate, predict or export.

    Args:
      config: as for `device_fields`.
      given: the `ConfigProto` of a script, whose fields win; None: `session_fields`.
    """
    if given is None:
        return session_fields(config)
    proto = device_fields(config)
    proto.MergeFrom(given)
    return proto


def gpus_in_use(config: DeviceOptions) -> list[Any]:
    """Returns the physical GPUs that the options choose of those that TensorFlow finds.

    A machine without GPUs has none, whatever is chosen.

    Raises:
      ConfigError: `gpus` has a number that no GPU of this machine has.
    """
    found: list[Any] = tf.config.list_physical_devices("GPU")
    unknown = [number for number in config.gpus if found and number >= len(found)]
    if unknown:
        raise ConfigError(
            f"--gpus {','.join(map(str, config.gpus))}, but TensorFlow finds {len(found)} GPU(s) "
            f"on this machine; their numbers are 0 to {len(found) - 1}"
        )
    return [found[number] for number in config.gpus] if found and config.gpus else found


def device_report(config: DeviceOptions, deployment: DeploymentConfig, *, server: str = "") -> str:
    """Describes the devices that TensorFlow finds, and those that the clones of a run use.

    Args:
      config: the options of the devices.
      deployment: the clones.
      server: address of the server that has the devices; empty for those of this process.

    Raises:
      ConfigError: see `gpus_in_use`.
    """
    if server:
        found = f"those of the server {server}"
    else:
        found = f"{_gpu_text(config)}, {_count(len(os.sched_getaffinity(0)), 'CPU core')}"
    clones = dict.fromkeys(deployment.clone_device(i) for i in range(deployment.num_clones))
    places = ", ".join(place.rpartition("device:")[2] for place in clones)
    return f"devices: {found}; {_count(deployment.num_clones, 'clone')} on {places}"


def _gpu_text(config: DeviceOptions) -> str:
    gpus = gpus_in_use(config)
    if not gpus:
        return "no GPU" + (" (--gpus has no effect)" if config.gpus else "")
    names = dict.fromkeys(_name(gpu) for gpu in gpus)
    text = f"{_count(len(gpus), 'GPU')} ({', '.join(names)})"
    found = len(tf.config.list_physical_devices("GPU"))
    if not config.gpus:
        return text
    return f"{text} of {found}, the numbers {','.join(map(str, config.gpus))}"


def _name(gpu: Any) -> str:
    return str(tf.config.experimental.get_device_details(gpu).get("device_name", "unknown"))


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
