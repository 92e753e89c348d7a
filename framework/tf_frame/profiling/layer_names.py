"""Names of the layers that operations belong to: name scopes without clones and gradients.

operation                                             layer
clone_1/net/conv/Relu                                 net/conv
gradients/net/conv/Conv2D_grad/Conv2DBackpropInput    net/conv
net/conv/weights/part_0                               net/conv
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLONE = re.compile(r"clone_\d+/")
# `tf.gradients` names what it makes after the operation whose gradient it is. The scope may be
# within that of a clone or of an optimizer.
_GRADIENTS = re.compile(r"(?:.*/)?gradients(?:_\d+)?/")
_GRADIENT_OF = re.compile(r".+_grad(?:_\d+)?")
_PART = re.compile(r"/part_\d+$")
# Of gradients that belong to no operation: sums, and the gradient of the loss itself.
GRADIENTS = "gradients"


def is_backward(name: str) -> bool:
    """Returns whether an operation computes gradients."""
    return _GRADIENTS.match(name) is not None


def layer_of(name: str) -> str:
    """Returns the layer of an operation or a variable by its name; empty outside of all scopes."""
    backward = _GRADIENTS.match(name)
    if backward:
        return _layer_of_gradient(name[backward.end() :])
    return _PART.sub("", _without_clone(name)).rpartition("/")[0]


def scopes_of(layer: str) -> Iterator[str]:
    """Yields the scopes that a layer is in, from the whole model, which is empty, to itself."""
    yield ""
    for place, letter in enumerate(layer):
        if letter == "/":
            yield layer[:place]
    if layer:
        yield layer


def in_scope(layer: str, scope: str) -> bool:
    """Returns whether a layer is a scope or inside of it; all are in the empty scope."""
    return not scope or layer == scope or layer.startswith(f"{scope}/")


def in_first_clone(name: str) -> bool:
    """Returns whether an operation is in no clone or in the first one."""
    return not _CLONE.match(name) or name.startswith("clone_0/")


def _layer_of_gradient(name: str) -> str:
    parts = _without_clone(name).split("/")
    for place, part in enumerate(parts[:-1]):
        if _GRADIENT_OF.fullmatch(part):
            return "/".join(parts[:place])
    return GRADIENTS


def _without_clone(name: str) -> str:
    clone = _CLONE.match(name)
    return name[clone.end() :] if clone else name
