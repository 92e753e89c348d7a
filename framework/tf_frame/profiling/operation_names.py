"""Names of operations and devices: the layer, the clone and the scopes of an operation.

    operation                                             layer
    clone_1/net/conv/Relu                                 net/conv
    gradients/net/conv/Conv2D_grad/Conv2DBackpropInput    net/conv
    recompute/net/conv/Relu                               net/conv
    net/conv/weights/part_0                               net/conv

A layer is a name scope without the scopes of clones and gradients.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection

_CLONE = re.compile(r"clone_\d+/")
# `tf.gradients` names its operations after the operations that it differentiates. Its scope may be
# inside the scope of a clone or of an optimizer.
_GRADIENTS = re.compile(r"(?:.*/)?gradients(?:_\d+)?/")
_GRADIENT_OF = re.compile(r".+_grad(?:_\d+)?")
# Copies of forward operations that the gradients read (`--recompute`).
_RECOMPUTED = re.compile(r"recompute(?:_\d+)?/")
_PART = re.compile(r"/part_\d+$")
# Scopes that an optimizer, or the moving averages of batch norm, add below the scope of a layer.
_DETAIL = re.compile(r"update_.+|AssignMovingAvg(_\d+)?")
# Grappler puts new operations into scopes of its own, and appends the old name.
_GRAPPLER = re.compile(r"(ConstantFolding|\w+Optimizer(_\w+)?|RemapperOptimizer)")
# Operations of oneDNN, which replace those of TensorFlow: `_MklNativeConv2D`.
_ONE_DNN = re.compile(r"^_Mkl(Native)?(?=[A-Z_])")
_DEVICE = re.compile(r"(/job:(?P<job>\w+))?(/replica:\d+)?(/task:(?P<task>\d+))?/?(device:)?")
# Layer of gradients that belong to no operation: sums, and the gradient of the loss itself.
GRADIENTS = "gradients"


def is_backward(name: str) -> bool:
    """Returns whether an operation computes gradients, or values again for them."""
    return bool(_GRADIENTS.match(name) or _RECOMPUTED.match(name))


def layer_name(name: str) -> str:
    """Returns the layer of an operation or a variable by its name; empty outside of all scopes."""
    name = _RECOMPUTED.sub("", name, count=1) if _RECOMPUTED.match(name) else name
    backward = _GRADIENTS.match(name)
    if backward:
        scopes = _without_clone(name[backward.end() :]).split("/")[:-1]
        return "/".join(_before(scopes, _GRADIENT_OF, default=[GRADIENTS]))
    return _PART.sub("", _without_clone(name)).rpartition("/")[0]


def layer_and_clone(name: str, clone_scopes: Collection[str]) -> tuple[str, str]:
    """Returns the layer and the clone of an operation of the optimised graph, empty without one.

    The operation of a gradient, `clone_0/gradients/clone_0/conv1/Conv2D_grad/AddN`, counts for
    the layer of its forward operation, `conv1`, and for its clone, one of `clone_scopes`.
    """
    parts = name.split("/")
    clone = next((part for part in parts if part in clone_scopes), "")
    parts = [part for part in parts if part not in clone_scopes] or [""]
    while len(parts) > 1 and _GRAPPLER.fullmatch(parts[0]):
        parts = parts[1:]
    layer = layer_name("/".join(parts)).split("/")
    return "/".join(_before(layer, _DETAIL, default=layer)), clone


def _without_clone(name: str) -> str:
    clone = _CLONE.match(name)
    return name[clone.end() :] if clone else name


def _before(parts: list[str], pattern: re.Pattern[str], *, default: list[str]) -> list[str]:
    """The parts before the first match; without a match `default`."""
    matches = (i for i, part in enumerate(parts) if pattern.fullmatch(part))
    end = next(matches, None)
    return default if end is None else parts[:end]


def enclosing_scopes(layer: str) -> list[str]:
    """Returns the scopes around a layer, from the whole model, which is empty, to itself."""
    parts = [f"/{part}" for part in layer.split("/")] if layer else []
    return [scope[1:] for scope in itertools.accumulate(parts, initial="")]


def in_scope(layer: str, scope: str) -> bool:
    """Returns whether a layer is a scope or inside of it; all are in the empty scope."""
    return not scope or layer == scope or layer.startswith(f"{scope}/")


def in_first_clone(name: str) -> bool:
    """Returns whether an operation is in no clone or in the first one."""
    return not _CLONE.match(name) or name.startswith("clone_0/")


def plain_type(type_: str) -> str:
    """Returns the type of an operation without the prefix of oneDNN, which replaces operations."""
    return _ONE_DNN.sub("", type_)


def is_gpu(device: str) -> bool:
    """Returns whether the full or short name of a device names a GPU."""
    return "GPU:" in device.upper()


def short_device(device: str, task: str) -> str:
    """Returns the short name of a device: `CPU:0`, or `ps_0 CPU:0` if it belongs to another task.

    `device` is a full name, `/job:ps/replica:0/task:0/device:CPU:0`; `task` has recorded it.
    """
    match = _DEVICE.match(device)
    if not match or not match["job"]:
        return device.lstrip("/")
    owner, name = f"{match['job']}_{match['task'] or 0}", device[match.end() :]
    return name if match["job"] == "localhost" or owner == task else f"{owner} {name}"
