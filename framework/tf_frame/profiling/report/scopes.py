"""Names in the records: the layer and the clone of an operation, short names of devices."""

from __future__ import annotations

import re
from collections.abc import Collection

from tf_frame.profiling.layer_names import layer_of

# What an optimizer, or the moving averages of batch norm, add below the scope of a layer.
_DETAIL = re.compile(r"update_.+|AssignMovingAvg(_\d+)?")
# Grappler puts new operations into scopes of its own, with the old name behind.
_GRAPPLER = re.compile(r"(ConstantFolding|\w+Optimizer(_\w+)?|RemapperOptimizer)")
_DEVICE = re.compile(r"(/job:(?P<job>\w+))?(/replica:\d+)?(/task:(?P<task>\d+))?/?(device:)?")


def place_of(name: str, clone_scopes: Collection[str]) -> tuple[str, str]:
    """The layer and the clone of an operation.

    The operation of a gradient, `clone_0/gradients/clone_0/conv1/Conv2D_grad/AddN`, counts for
    the layer of its forward operation, `conv1`.

    Args:
      name: of the operation.
      clone_scopes: of all clones.

    Returns:
      The name scope without the clone's, empty outside of all scopes; and the clone's scope,
      empty outside of the clones.
    """
    parts = name.split("/")
    clone = next((part for part in parts if part in clone_scopes), "")
    own = [part for part in parts if part not in clone_scopes] or [""]
    while len(own) > 1 and _GRAPPLER.fullmatch(own[0]):
        own = own[1:]
    return "/".join(_before(layer_of("/".join(own)).split("/"), _DETAIL)), clone


def _before(parts: list[str], pattern: re.Pattern[str]) -> list[str]:
    cut = next((i for i, part in enumerate(parts) if pattern.fullmatch(part)), len(parts))
    return parts[:cut]


def is_gpu(device: str) -> bool:
    """Returns whether the full or short name of a device is that of a GPU."""
    return "GPU:" in device.upper()


def short_device(device: str, task: str) -> str:
    """The short name of a device: `CPU:0`, or `ps_0 CPU:0` if it belongs to another task.

    Args:
      device: full name, such as `/job:ps/replica:0/task:0/device:CPU:0`.
      task: the task that recorded it, such as `worker_0`.
    """
    found = _DEVICE.match(device)
    if not found or not found["job"]:
        return device.lstrip("/")
    owner, rest = f"{found['job']}_{found['task'] or 0}", device[found.end() :]
    return rest if found["job"] == "localhost" or owner == task else f"{owner} {rest}"
