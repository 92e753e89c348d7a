"""The model `deeplab`: semantic segmentation with DeepLabV3+ on MobileNetV2 or another backbone.

The model gives each pixel of an image a class. The defaults are for a short run from scratch on a
CPU; for long training the backbone can start from a published checkpoint.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import InputInfo, Mode, Model, ModelOutput, option
from tf_frame.errors import ConfigError
from tf_frame_deeplab import evaluation_options, heads, network_options
from tf_frame_deeplab.presets import PRESETS
from tf_frame_vision.batch_norm import fitting_decay, note_on_decay
from tf_frame_vision.resizing import ALIGN_CORNERS
from tf_frame_vision.slim_network import load_network

# For short runs; the backbone's own decay, 0.997, is for long ones.
_BATCH_NORM_DECAY = 0.95


@dataclasses.dataclass(frozen=True)
class Params(evaluation_options.EvaluationParams, heads.HeadParams, network_options.NetworkParams):
    """Options of the model."""

    backbone: str = option(
        "mobilenet_v2", "network below the pyramid, such as xception_65, resnet_v1_50_beta"
    )
    depth_multiplier: float = option(1.0, "factor on the backbone's channels", min=0.1, max=4)
    multi_grid: tuple[int, ...] = option(
        (),
        "rates within the last block of a ResNet or Xception, such as 1,2,4; empty: its own",
        min=1,
    )
    output_stride: int = option(16, "image size over feature size", choices=(8, 16, 32))
    atrous_rates: tuple[int, ...] = option(
        (),
        "rates of the pyramid; empty: 6,12,18 at stride 16, twice as much at 8, half at 32",
        min=1,
    )
    image_pooling: bool = option(True, "whether the pyramid has a branch for the whole image")
    aspp_channels: int = option(
        64, "channels of the pyramid; the paper's 256 are slow on a CPU", min=1
    )
    decoder_channels: int = option(
        64, "channels of the decoder, 256 in the paper; 0: no decoder", min=0
    )
    decoder_output_stride: tuple[int, ...] = option(
        (4,), "decreasing strides of the stages of the decoder", min=2
    )
    low_level_channels: int = option(48, "channels of the skip connection to the decoder", min=1)
    weight_decay: float = option(4e-5, "L2 penalty on weights, depthwise ones exempt", min=0)
    batch_norm_decay: float | None = option(
        None,
        "moving averages keep this per step, 0.9997 for long training; none: 0.95, or N / (N + 25) "
        "in a run from scratch of N steps if that is less",
        min=0,
        max=1,
    )
    train_batch_norm: bool = option(True, "train batch norm; else use its restored averages")
    train_metrics_steps: int = option(
        0,
        "steps between log lines and summaries of mean IoU and accuracy on the training crops so "
        "far; 0: not measured",
        min=0,
    )


class DeepLab(Model):
    """DeepLabV3+; reads the classes from its input's `info`.

    Features: `{"image": [batch, height, width, 3]}` float32, 0 to 255.
    Labels: `{"semantic": [batch, height, width]}` int32, or None to predict; for other heads
    also the labels of `panoptic.targets.Targets`.
    """

    Params: ClassVar[type] = Params
    thread_safe_build: ClassVar[bool] = True
    default_input: ClassVar[str | None] = "nuclei"
    network_option: ClassVar[str] = "backbone"
    feature_names: ClassVar[Sequence[str]] = ("image",)
    label_names: ClassVar[Sequence[str]] = ("semantic",)
    default_transforms: ClassVar[Sequence[str]] = ("last_layer_multiplier",)
    everyday_options: ClassVar[Sequence[str]] = (
        *("backbone", "output_stride", "heads", "class_weights", "weight_decay"),
        *("train_batch_norm", "eval_scales", "sliding_window"),
    )
    check_options: ClassVar[Mapping[str, Any]] = {
        "model.depth_multiplier": 0.1,
        "model.aspp_channels": 8,
        "model.decoder_channels": 8,
        "input.crop_size": 32,
    }
    run_defaults: ClassVar[Mapping[str, Any]] = {
        "max_steps": 320,
        "train_batch_size": 4,
        "eval_batch_size": 4,
        "optimizer": "momentum",
        "optimizer.momentum": 0.9,
        "learning_rate": 0.3,
        "schedule": "poly",
        "schedule.power": 0.9,
        "warmup": "linear",
        "warmup_steps": 20,
        "warmup_learning_rate": 1e-3,
        "save_checkpoint_steps": 160,
        "save_summaries_steps": 100,
        "log_every_n_steps": 20,
    }
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    def __init__(self, *, params: Any, info: InputInfo) -> None:
        super().__init__(params=params, info=info)
        if not info.num_classes:
            raise ConfigError(
                "the model deeplab needs to know the number of classes, but its input does not"
                " say; use an input with num_classes in its info"
            )
        self.num_classes: int = info.num_classes
        heads.check(params, self.num_classes)
        evaluation_options.check(params, self.num_classes)
        network_options.check(params)
        self.label_names = heads.label_names(params)  # type: ignore[misc]
        strides = (params.output_stride, *params.decoder_output_stride)
        if params.decoder_channels and (
            len(strides) < 2 or any(a <= b for a, b in itertools.pairwise(strides))
        ):
            raise ConfigError(
                f"--model.decoder_output_stride {','.join(map(str, strides[1:]))}: each stride must"
                f" be less than its predecessor, the first less than the {params.output_stride} of"
                " --model.output_stride; --model.decoder_channels 0 leaves the decoder out"
            )
        self.backbone = load_network(params.backbone)

    @classmethod
    def input_defaults(cls, params: Any) -> Mapping[str, Any]:
        """Asks for labels of instances and edges if a head needs them, and for its resizing."""
        return {
            **({"instances": True} if params.other_heads else {}),
            **({"edges": True} if heads.EDGE in params.heads else {}),
            **({"resizing": ALIGN_CORNERS} if params.align_corners else {}),
        }

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone; the class describes features and labels.

        Returns:
          The loss (None without labels); predictions `semantic`, `[batch,
          height, width]` int32, and `probabilities`, `[batch, height, width,
          num_classes]`, and the predictions of `head_outputs.HeadOutputs`; in
          evaluation the metrics.
        """
        import tensorflow.compat.v1 as tf

        from tf_frame_deeplab.head_outputs import HeadOutputs
        from tf_frame_deeplab.losses import head_loss
        from tf_frame_vision.reading.skipped import count_skipped

        counted = count_skipped(features)
        images = counted.features["image"]
        semantic = None if labels is None else labels["semantic"]
        network = self._logits(images, semantic, mode)
        logits = network.by_head["semantic"]
        predictions = {
            "semantic": tf.argmax(logits, axis=3, output_type=tf.int32),
            "probabilities": tf.nn.softmax(logits),
        }
        outputs = HeadOutputs(self.params, self.info)
        if mode != Mode.TRAIN:
            predictions |= outputs.predictions(network.by_head, predictions["semantic"])
        if semantic is None:
            exports = {"serving_default": predictions}
            return ModelOutput(
                predictions=predictions, end_points=network.end_points, exports=exports
            )
        outputs.summaries(images, network.by_head, labels, predictions["semantic"])
        metrics: Mapping[str, Any] = {}
        hooks = counted.hooks
        if mode == Mode.EVAL:
            metrics = {**outputs.metrics(labels, predictions), **counted.metrics}
        if mode == Mode.TRAIN:
            hooks = [*counted.hooks, *self._train_metrics(semantic, predictions["semantic"])]
        loss = head_loss(
            network.by_head,
            labels,
            scales=network.scales,
            params=self.params,
            ignore_label=self.info.ignore_label,
            is_training=mode == Mode.TRAIN,
        )
        return ModelOutput(
            loss=loss.loss,
            loss_terms=loss.terms,
            predictions=predictions,
            metrics=metrics,
            end_points=network.end_points,
            hooks=hooks,
        )

    def chance_levels(self, metrics: Mapping[str, Any]) -> Mapping[str, float]:
        """Returns the mean IoU of predicting the most frequent class, and recalls of guessing."""
        from tf_frame_vision.confusion import guessed_recalls, majority_mean_iou

        matrix = metrics["confusion_matrix"]
        recalls = guessed_recalls(matrix, self.info.class_names)
        return {"mean_iou": majority_mean_iou(matrix), **recalls}

    def _logits(self, images: Any, labels: Any, mode: Mode) -> Any:
        from tf_frame_deeplab.head_logits import head_logits

        return head_logits(
            images,
            labels=labels,
            backbone=self.backbone,
            params=dataclasses.replace(self.params, batch_norm_decay=self._batch_norm_decay()),
            num_classes=self.num_classes,
            is_training=mode == Mode.TRAIN,
        )

    def _train_metrics(self, labels: Any, predictions: Any) -> Sequence[Any]:
        """Returns hooks that log the metrics of training, if the options ask for them."""
        if not self.params.train_metrics_steps:
            return ()
        from tf_frame_deeplab.train_metrics import train_metrics

        return train_metrics(
            labels,
            predictions,
            info=self.info,
            every_steps=self.params.train_metrics_steps,
            last_step=self.num_steps,
        )

    def notes(self) -> Sequence[str]:
        """Tells that the decay of batch norm is lower in a short run."""
        if self.params.batch_norm_decay is not None or not self.params.train_batch_norm:
            return ()
        return note_on_decay(_BATCH_NORM_DECAY, self.num_steps)

    def _batch_norm_decay(self) -> float | None:
        if self.params.batch_norm_decay is not None:
            decay: float = self.params.batch_norm_decay
            return decay
        return fitting_decay(_BATCH_NORM_DECAY, self.num_steps)

    def prediction_writer(self, directory: str) -> Any:
        """Returns the writer of labels and overlays; see `tf_frame_deeplab.prediction_files`.

        With heads for instances: the writer of `tf_frame_deeplab.panoptic.prediction_files`.

        Args:
          directory: the folder.
        """
        from tf_frame_deeplab.prediction_files import Painting

        writer: Any
        if self.params.finds_instances:
            from tf_frame_deeplab.panoptic.prediction_files import InstanceFiles as writer
        else:
            from tf_frame_deeplab.prediction_files import LabelsAndOverlays as writer
        return writer(directory, Painting.from_options(self.params, self.info))

    def last_layer_scopes(self) -> tuple[str, ...]:
        """Returns the names of the layers that do not belong to the backbone."""
        from tf_frame_deeplab.network import LAST_LAYERS

        return LAST_LAYERS
