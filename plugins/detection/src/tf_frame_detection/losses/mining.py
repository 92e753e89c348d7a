"""Choice of the anchors with the largest losses, instead of all of them.

mine = HardExampleMiner(num_hard_examples=0, iou_threshold=1.0, max_negatives_per_positive=3)
chosen = mine(class_losses, box_losses, boxes, matches)
loss = tf.reduce_sum(chosen * class_losses)
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_detection.targets.matcher import UNMATCHED

_LOSS_TYPES = ("both", "class", "box")


@dataclasses.dataclass(frozen=True, kw_only=True)
class HardExampleMiner:
    """Chooses anchors of each image by loss, without anchors that overlap a chosen box.

    The equations and defaults of `HardExampleMiner` of the object detection API
    (tensorflow/models, research/object_detection/core/losses.py), after online hard example
    mining (https://arxiv.org/abs/1604.03540). SSD (https://arxiv.org/abs/1512.02325) has
    `num_hard_examples` 0, `iou_threshold` 1 and `max_negatives_per_positive` 3.

    Attributes:
      num_hard_examples: greatest number of anchors of an image, before negatives are limited;
        0: all.
      iou_threshold: IoU with a chosen box above which a box is left out; at 1 none is.
      loss_type: `class`, `box`, or `both` for their weighted sum.
      class_loss_weight, box_loss_weight: weights of this sum.
      max_negatives_per_positive: limit of background anchors per chosen anchor with an object;
        None: no limit.
      min_negatives_per_image: the limit of an image is at least this.

    Raises:
      ConfigError: the type of loss is not known.
    """

    num_hard_examples: int = 64
    iou_threshold: float = 0.7
    loss_type: str = "both"
    class_loss_weight: float = 0.05
    box_loss_weight: float = 0.06
    max_negatives_per_positive: float | None = None
    min_negatives_per_image: int = 0

    def __post_init__(self) -> None:
        if self.loss_type not in _LOSS_TYPES:
            raise ConfigError(
                f"loss type {self.loss_type!r} is not known; choose one of {', '.join(_LOSS_TYPES)}"
            )

    def __call__(self, class_losses: Any, box_losses: Any, boxes: Any, matches: Any) -> Any:
        """Returns 1 for chosen anchors and 0 for others, `[batch, anchors]` float32.

        Args:
          class_losses, box_losses: `[batch, anchors]` float32.
          boxes: `[batch, anchors, 4]`, as predicted.
          matches: `[batch, anchors]` int32; see `targets.assigner`.
        """
        order, valid = self._order(self._losses(class_losses, box_losses), boxes)
        keep = valid
        if self.max_negatives_per_positive is not None:
            ordered = tf.gather(matches, order, batch_dims=1)
            keep = self._with_few_negatives(ordered, valid)
        batch, count = tf.unstack(tf.shape(order))
        images = tf.broadcast_to(tf.range(batch)[:, tf.newaxis], [batch, count])
        places = tf.stack([images, order], axis=2)
        return tf.scatter_nd(places, tf.cast(keep, tf.float32), tf.shape(class_losses))

    def _losses(self, class_losses: Any, box_losses: Any) -> Any:
        if self.loss_type == "both":
            return class_losses * self.class_loss_weight + box_losses * self.box_loss_weight
        return class_losses if self.loss_type == "class" else box_losses

    def _order(self, losses: Any, boxes: Any) -> tuple[Any, Any]:
        """Anchors by falling loss, `[batch, count]`, and whether each is one."""
        limit = tf.shape(losses)[1]
        if self.num_hard_examples:
            limit = tf.minimum(self.num_hard_examples, limit)
        if self.iou_threshold >= 1:
            order = tf.math.top_k(losses, limit).indices
            return order, tf.ones_like(order, tf.bool)

        def suppress(image: tuple[Any, Any]) -> tuple[Any, ...]:
            chosen = tf.raw_ops.NonMaxSuppressionV4(
                boxes=image[0],
                scores=image[1],
                max_output_size=limit,
                iou_threshold=self.iou_threshold,
                score_threshold=float("-inf"),
                pad_to_max_output_size=True,
            )
            return tuple(chosen)

        # tf.image.non_max_suppression_padded would leave out boxes without area.
        order, count = tf.map_fn(suppress, (boxes, losses), dtype=(tf.int32, tf.int32))
        return order, tf.range(limit) < count[:, tf.newaxis]

    def _with_few_negatives(self, matches: Any, valid: Any) -> Any:
        """Marks all positives, and the first negatives up to the limit."""
        positive = tf.logical_and(valid, matches >= 0)
        negative = tf.logical_and(valid, tf.equal(matches, UNMATCHED))
        positives = tf.reduce_sum(tf.cast(positive, tf.float32), axis=1, keepdims=True)
        limit = tf.cast(positives * self.max_negatives_per_positive, tf.int32)
        limit = tf.maximum(limit, self.min_negatives_per_image)
        few = tf.cumsum(tf.cast(negative, tf.int32), axis=1) <= limit
        return tf.logical_or(positive, tf.logical_and(negative, few))
