"""Heads of the model `deeplab`: their names, channels, labels and options.

Each head is one convolution on shared features, under `logits/<head>`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from tf_frame import option
from tf_frame.errors import ConfigError

SEMANTIC = "semantic"
CENTER = "instance_center"
OFFSET = "instance_offset"
EDGE = "edge"
INSTANCES = "instances"
# Channels of the heads other than `semantic`: a heat map, rows and columns to the centre, no edge
# and edge.
_CHANNELS: Mapping[str, int] = {CENTER: 1, OFFSET: 2, EDGE: 2}
HEADS = (SEMANTIC, *_CHANNELS)
# Loss weights of a network with an edge head.
_SEMANTIC_WITH_EDGE, _EDGE = 0.8, 0.2


@dataclasses.dataclass(frozen=True)
class HeadParams:
    """Options of the heads, their losses and their results."""

    heads: tuple[str, ...] = option(
        (SEMANTIC,),
        "outputs of the network: classes; centres of instances and offsets to them, always "
        "together; edges",
        choices=HEADS,
    )
    class_weights: tuple[float, ...] = option(
        (), "factor on the semantic loss of each class; empty: 1 for all", min=0
    )
    hard_pixels: float = option(
        1.0, "share of pixels with the greatest loss that count in training", min=0.001, max=1
    )
    hard_pixel_steps: int = option(
        0, "steps until hard_pixels falls from 1 to its value; 0: at once", min=0
    )
    semantic_loss_weight: float | None = option(
        None, "factor on the semantic loss; none: 0.8 with the head edge, else 1", min=0
    )
    edge_loss_weight: float = option(_EDGE, "factor on the loss of edges", min=0)
    center_loss_weight: float = option(1.0, "factor on the loss of the centres' heat map", min=0)
    offset_loss_weight: float = option(0.01, "factor on the loss of offsets in pixels", min=0)
    center_threshold: float = option(0.1, "a centre's least value in the heat map", min=0, max=1)
    center_window: int = option(
        7, "side of a square with at most one centre, in pixels; an odd number", min=1
    )
    max_instances: int = option(200, "largest number of instances in an image", min=1, max=65535)
    thing_classes: tuple[int, ...] = option(
        (), "classes that have instances; empty: all but class 0", min=0
    )

    def loss_weight(self, head: str) -> float:
        """Returns the factor on the loss of a head."""
        if head == SEMANTIC:
            if self.semantic_loss_weight is not None:
                return self.semantic_loss_weight
            return _SEMANTIC_WITH_EDGE if EDGE in self.heads else 1.0
        weights = {
            CENTER: self.center_loss_weight,
            OFFSET: self.offset_loss_weight,
            EDGE: self.edge_loss_weight,
        }
        return weights[head]

    @property
    def other_heads(self) -> dict[str, int]:
        """Channels of all heads but `semantic`, by head."""
        return {head: _CHANNELS[head] for head in self.heads if head != SEMANTIC}

    @property
    def finds_instances(self) -> bool:
        """True if the network has the heads that find instances."""
        return CENTER in self.heads


def label_names(params: HeadParams) -> Sequence[str]:
    """Returns the names of the labels that losses and metrics of the heads need."""
    instances = (INSTANCES,) if params.finds_instances else ()
    return (SEMANTIC, *params.other_heads, *instances)


def check(params: HeadParams, num_classes: int) -> None:
    """Checks options against each other.

    Raises:
      ConfigError: heads, weights or classes that do not fit together.
    """
    heads = list(params.heads)
    if SEMANTIC not in heads or len(set(heads)) < len(heads):
        raise ConfigError(
            f"--model.heads {','.join(heads)}: name semantic, and each other head once"
        )
    if (CENTER in heads) != (OFFSET in heads):
        raise ConfigError(
            f"--model.heads {','.join(heads)}: {CENTER} and {OFFSET} are of use only together;"
            " name both or none"
        )
    if params.class_weights and len(params.class_weights) != num_classes:
        raise ConfigError(
            f"--model.class_weights has {len(params.class_weights)} values, but the input has"
            f" {num_classes} classes; give one for each"
        )
    if params.center_window % 2 == 0:
        raise ConfigError(f"--model.center_window {params.center_window} is even; give an odd one")
    _check_things(params.thing_classes, num_classes)


def _check_things(classes: Sequence[int], num_classes: int) -> None:
    beyond = [number for number in classes if number >= num_classes]
    if beyond:
        raise ConfigError(
            f"--model.thing_classes names {beyond[0]}, but the classes of the input are 0 to"
            f" {num_classes - 1}"
        )


def thing_classes(params: HeadParams, num_classes: int) -> tuple[int, ...]:
    """Returns the classes that have instances."""
    return params.thing_classes or tuple(range(1, num_classes))
