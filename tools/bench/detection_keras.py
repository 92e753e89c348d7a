"""RetinaNet on a small residual network in Keras, as its user would write it; for `detection.py`.

Network, anchors, targets, losses and optimizer are those of `tf-frame run --plugin detection`,
whose options it reads; the data are the very same `tf.data` pipeline.
"""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from contenders import TrainingTurns, answer, infer_in_turns
from detection import make_setup, validation_images

from tf_frame import InputContext, Mode

keras = tf.keras
layers = keras.layers
LAYERS_OF_18 = [64, 128, 256, 512]
FACTORS = np.array([10, 10, 5, 5], np.float32)
RARE = -4.6


class Detector:
    """The network and all that goes with its anchors.

    Args:
      params: options of tf-frame's model.
      num_classes: number of classes.
      size: height and width of the images.
    """

    def __init__(self, params: Any, num_classes: int, size: tuple[int, int]) -> None:
        if (params.name, params.backbone) != ("retinanet", "resnet_v1_18"):
            raise SystemExit(f"this is no {params.name} on {params.backbone}; write that network")
        self.params, self.num_classes = params, num_classes
        self.penalty = keras.regularizers.L2(params.weight_decay / 2)
        image = keras.Input([*size, 3])
        self.network = keras.Model(image, self._outputs(image))
        sizes = [[-(-side // stride) for side in size] for stride in params.strides]
        self.anchors = np.concatenate(
            [self._anchors(*each) for each in zip(sizes, params.strides, strict=True)]
        )

    @property
    def shapes(self) -> list[tuple[float, float]]:
        """Factors on height and width of the anchors at a position."""
        count = self.params.scales_per_octave
        ratios = self.params.aspect_ratios or (1.0,)
        scales = [2 ** (i / count) for i in range(count)]
        return [(scale / ratio**0.5, scale * ratio**0.5) for ratio in ratios for scale in scales]

    def _anchors(self, size: list[int], stride: int) -> Any:
        centers = np.stack(np.meshgrid(*map(np.arange, size), indexing="ij"), -1) + 0.5
        half = np.array(self.shapes) * (self.params.anchor_scale * stride / 2)
        centers = centers[:, :, np.newaxis] * stride
        boxes = np.concatenate([centers - half, centers + half], -1)
        return boxes.reshape([-1, 4]).astype(np.float32)

    def _conv(self, net: Any, filters: int, kernel: int, strides: int = 1) -> Any:
        layer = layers.Conv2D(
            filters,
            kernel,
            strides,
            padding="same",
            use_bias=False,
            kernel_initializer="he_normal",
            kernel_regularizer=self.penalty,
        )
        return layers.BatchNormalization(momentum=0.95)(layer(net))

    def _unit(self, net: Any, filters: int, strides: int) -> Any:
        """Two convolutions beside a shortcut."""
        residual = layers.ReLU()(self._conv(net, filters, 3, strides))
        residual = self._conv(residual, filters, 3)
        if strides > 1 or net.shape[-1] != filters:
            net = self._conv(net, filters, 1, strides)
        return layers.ReLU()(layers.Add()([net, residual]))

    def _backbone(self, image: Any, top: int) -> dict[int, Any]:
        """Stride -> feature map, up to the largest stride."""
        depths = [int(depth * self.params.depth_multiplier) for depth in LAYERS_OF_18]
        net = layers.Rescaling(2 / 255, -1)(image)
        net = layers.ReLU()(self._conv(net, depths[0], 7, 2))
        net, stride, maps = layers.MaxPooling2D(3, 2, padding="same")(net), 4, {}
        for depth in depths:
            net = self._unit(net, depth, 2 if maps else 1)
            maps[stride] = net = self._unit(net, depth, 1)
            if stride == top:
                break
            stride *= 2
        return maps

    def _pyramid(self, image: Any) -> list[Any]:
        """The maps of all strides, each with what is above it."""
        depth, strides = self.params.pyramid_channels, self.params.strides
        top = self.params.top_stride or min(max(strides), 32)
        found = self._backbone(image, top)
        net = layers.Conv2D(depth, 1, kernel_regularizer=self.penalty)(found[top])
        maps = {top: net}
        while (top := top // 2) >= strides[0]:
            side = layers.Conv2D(depth, 1, kernel_regularizer=self.penalty)(found[top])
            above = layers.UpSampling2D()(net)
            rest = [(0, above.shape[axis] - side.shape[axis]) for axis in (1, 2)]
            net = layers.Add()([layers.Cropping2D(rest)(above), side])
            maps[top] = layers.ReLU(6)(self._conv(net, depth, 3))
        while (last := max(maps)) < strides[-1]:
            maps[last * 2] = layers.ReLU(6)(self._conv(maps[last], depth, 3, 2))
        return [maps[stride] for stride in strides]

    def _outputs(self, image: Any) -> Any:
        """Codes and logits, `[batch, anchors, 4 + num_classes]`."""
        maps = self._pyramid(image)
        parts = [self._head(maps, 4, 0.0), self._head(maps, self.num_classes, RARE)]
        return layers.Concatenate()(parts)

    def _head(self, maps: list[Any], size: int, bias: float) -> Any:
        """Layers that all maps share, with batch norm of each map's own."""
        params = self.params

        def conv(filters: int, kernel: int, **options: Any) -> Any:
            return layers.Conv2D(
                filters, kernel, padding="same", kernel_regularizer=self.penalty, **options
            )

        for _ in range(params.predictor_layers):
            shared = conv(params.pyramid_channels, 3, use_bias=False)
            maps = [layers.BatchNormalization(momentum=0.95)(shared(net)) for net in maps]
            maps = [layers.ReLU(6)(net) for net in maps]
        last = conv(
            len(self.shapes) * size,
            params.kernel_size,
            bias_initializer=keras.initializers.Constant(bias),
        )
        return layers.Concatenate(axis=1)([layers.Reshape([-1, size])(last(net)) for net in maps])

    def targets(self, boxes: Any, classes: Any) -> tuple[Any, Any, Any]:
        """Classes `[b, a, num_classes]`, codes `[b, a, 4]`, and whether an anchor has a box."""
        overlaps = iou(boxes[:, :, tf.newaxis], self.anchors)
        real = classes >= 0
        overlaps = tf.where(real[..., tf.newaxis], overlaps, -1.0)
        best = tf.one_hot(tf.argmax(overlaps, axis=2), len(self.anchors)) * tf.cast(
            real[..., tf.newaxis], tf.float32
        )
        forced = tf.reduce_max(best, axis=1) > 0
        rows = tf.where(forced, tf.argmax(best, axis=1), tf.argmax(overlaps, axis=1))
        has_box = forced | (tf.reduce_max(overlaps, axis=1) >= self.params.matched_threshold)
        wanted = tf.where(has_box, tf.gather(classes, rows, batch_dims=1), -1)
        codes = self._encode(tf.gather(boxes, rows, batch_dims=1))
        return tf.one_hot(wanted, self.num_classes), codes, tf.cast(has_box, tf.float32)

    def _encode(self, boxes: Any) -> Any:
        center, size = center_and_size(boxes)
        anchor_center, anchor_size = center_and_size(self.anchors)
        moved = (center - anchor_center) / anchor_size
        return tf.concat([moved, tf.math.log(size / anchor_size)], -1) * FACTORS

    def loss(self, truth: Any, outputs: Any) -> Any:
        """Focal loss and smooth L1 of each image, over its matched anchors.

        Args:
          truth: `[batch, count, 5]`, boxes and classes, of which -1 is padding.
          outputs: those of the network.
        """
        params = self.params
        classes, codes, has_box = self.targets(truth[..., :4], tf.cast(truth[..., 4], tf.int32))
        focal = keras.losses.binary_focal_crossentropy(
            classes[..., tf.newaxis],
            outputs[..., 4:, tf.newaxis],
            apply_class_balancing=True,
            alpha=params.focal_alpha,
            gamma=params.focal_gamma,
            from_logits=True,
        )
        huber = 4 * keras.losses.huber(codes, outputs[..., :4], delta=params.smooth_l1_delta)
        total = tf.reduce_sum(focal, [1, 2]) * params.classification_weight
        total += tf.reduce_sum(huber * has_box, 1) * params.localization_weight
        return total / tf.maximum(tf.reduce_sum(has_box, 1), 1.0)

    def detect(self, images: Any) -> Any:
        """Boxes, scores, classes and their number."""
        params, outputs = self.params, self.network(images, training=False)
        codes = outputs[..., :4] / FACTORS
        anchor_center, anchor_size = center_and_size(self.anchors)
        center = codes[..., :2] * anchor_size + anchor_center
        half = tf.exp(codes[..., 2:]) * anchor_size / 2
        boxes = tf.concat([center - half, center + half], -1)
        boxes = tf.clip_by_value(boxes, 0.0, np.tile(images.shape[1:3], 2).astype(np.float32))
        return tf.image.combined_non_max_suppression(
            boxes[:, :, tf.newaxis],
            tf.sigmoid(outputs[..., 4:]),
            max_output_size_per_class=params.max_per_class,
            max_total_size=params.max_total,
            iou_threshold=params.iou_threshold,
            score_threshold=params.score_threshold,
            clip_boxes=False,
        )


def center_and_size(boxes: Any) -> tuple[Any, Any]:
    """Centres and sizes; those of padding are not 0."""
    size = tf.maximum(boxes[..., 2:] - boxes[..., :2], 1e-8)
    return (boxes[..., :2] + boxes[..., 2:]) / 2, size


def iou(a: Any, b: Any) -> Any:
    """Intersection over union of boxes that broadcast."""
    sides = tf.minimum(a[..., 2:], b[..., 2:]) - tf.maximum(a[..., :2], b[..., :2])
    common = tf.reduce_prod(tf.maximum(sides, 0.0), -1)
    areas = [tf.reduce_prod(each[..., 2:] - each[..., :2], -1) for each in (a, b)]
    return common / tf.maximum(areas[0] + areas[1] - common, 1e-8)


class Turns(keras.callbacks.Callback):
    """Trains in turns."""

    def on_train_begin(self, logs: Any = None) -> None:
        self.turns = TrainingTurns()
        self.turns.begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.turns.step()
        self.model.stop_training = not self.turns.goes_on


def data_set(source: Any, batch_size: int) -> Any:
    """Batches of images and `[batch, count, 5]` boxes with classes, of the input of tf-frame."""

    def prepare(features: Any, labels: Any) -> tuple[Any, Any]:
        classes = tf.cast(labels["classes"], tf.float32)[..., tf.newaxis]
        truth = tf.concat([labels["boxes"], classes], -1)
        # One row more, for a batch without boxes.
        return features["image"], tf.pad(truth, [[0, 0], [0, 1], [0, 0]], constant_values=-1.0)

    batches = source.dataset(Mode.TRAIN, InputContext(batch_size=batch_size, seed=1))
    return batches.map(prepare).prefetch(tf.data.AUTOTUNE)


def main() -> None:
    """Trains and infers, as the questions say."""
    setup = make_setup()
    source, config = setup.make_input(), setup.config
    params = setup.make_model(source.info).params
    images = validation_images(source)
    detector = Detector(params, source.info.num_classes, images.shape[1:3])
    averages = config.moving_average_decay
    optimizer = keras.optimizers.AdamW(
        config.learning_rate,
        weight_decay=0.01,
        use_ema=averages is not None,
        ema_momentum=averages,
    )
    optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    network = detector.network
    network.compile(optimizer, detector.loss, jit_compile=False)
    network.fit(
        data_set(source, config.train_batch_size),
        steps_per_epoch=config.max_steps,
        verbose=0,
        shuffle=False,
        callbacks=[Turns()],
    )
    answer(sum(each.shape.num_elements() for each in network.trainable_weights))
    infer_in_turns(tf.function(detector.detect), images)


if __name__ == "__main__":
    main()
