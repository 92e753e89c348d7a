"""The model `detection`: boxes of objects by SSD, RetinaNet, or RetinaNet with rotated boxes.

The defaults are for short runs from scratch on a CPU. The names of variables are those of the
object detection API, so that its published checkpoints can be fine-tuned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import ClassMetric, InputInfo, Mode, Model, ModelOutput
from tf_frame.errors import ConfigError
from tf_frame_detection import option_checks, options
from tf_frame_detection.presets import PRESETS, RUN_DEFAULTS, VARIANTS
from tf_frame_vision.batch_norm import fitting_decay, note_on_decay
from tf_frame_vision.resizing import LEGACY
from tf_frame_vision.slim_network import load_network

_BATCH_NORM_DECAY = 0.997
# If half of the boxes are found, none of so many is found in 3 % of evaluations.
_FEW_BOXES = 5


@dataclasses.dataclass(frozen=True)
class Params(
    options.RestoreParams,
    options.EvaluationParams,
    options.SuppressionParams,
    options.LossParams,
    options.AnchorParams,
    options.NetworkParams,
):
    """Options of the model."""


class Detection(Model):
    """Detector of objects; reads the classes, without background, from its input's `info`.

    Features: `{"image": [batch, height, width, 3]}` float32, 0 to 255; `image_size`, `[batch, 2]`
    int32, where a part is padding; `original_size`, to evaluate.
    Labels: those of `tf_frame_detection.inputs.detection_input`, or None to predict. Features and
    labels may be lists, of several inputs.
    """

    Params: ClassVar[type] = Params
    thread_safe_build: ClassVar[bool] = True
    default_input: ClassVar[str | None] = "trees"
    network_option: ClassVar[str] = "backbone"
    feature_names: ClassVar[Sequence[str]] = ("image",)
    label_names: ClassVar[Sequence[str]] = ("boxes", "classes", "ignored", "crowd")
    ranked_by: ClassVar[str] = "detection_scores"
    everyday_options: ClassVar[Sequence[str]] = (
        *("name", "backbone", "depth_multiplier", "strides", "classification_loss"),
        *("weight_decay", "train_batch_norm", "score_threshold", "iou_threshold", "export_raw"),
    )
    check_options: ClassVar[Mapping[str, Any]] = {
        "model.depth_multiplier": 0.1,
        "model.pyramid_channels": 8,
        "model.predictor_layers": 0,
        "input.image_size": (64,),
        "input.data_augmentation": (),
    }
    run_defaults: ClassVar[Mapping[str, Any]] = RUN_DEFAULTS
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = VARIANTS
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS

    def __init__(self, *, params: Any, info: InputInfo) -> None:
        super().__init__(params=params, info=info)
        if not info.num_classes:
            raise ConfigError(
                "the model detection needs to know the number of classes, but its input does not"
                " say; use an input whose info has num_classes"
            )
        self.num_classes: int = info.num_classes
        option_checks.check(params)
        self.rotated = params.name == options.ROTATED
        self.backbone = load_network(params.backbone)

    @classmethod
    def input_defaults(cls, params: Any) -> Mapping[str, Any]:
        """Asks for rotated boxes where they are detected, and for the network's resizing."""
        rotated = {"rotated": True} if params.name == options.ROTATED else {}
        return {**rotated, **({"resizing": LEGACY} if params.legacy_resizing else {})}

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone; the class describes features and labels.

        Returns:
          The loss (None without labels); but for training the predictions of
          `tf_frame_detection.outputs`; in evaluation the metrics.
        """
        from tf_frame_detection import batches, outputs
        from tf_frame_vision.reading.skipped import count_skipped

        counted = count_skipped(features)
        features = batches.merge_batches(batches.add_sizes(counted.features))
        option_checks.check_image_size(self.params, features["image"].shape.as_list()[1:3])
        raw = self._raw(features["image"], mode)
        if mode == Mode.TRAIN:
            loss, _ = self._loss(raw, batches.merge_batches(labels), mode)
            return ModelOutput(loss=loss, hooks=counted.hooks)
        predicted = outputs.predictions(
            raw, features["image_size"], self.params, coder=self._coder()
        )
        if labels is None:
            exports = {"serving_default": self._exported(raw, predicted, features["image_size"])}
            return ModelOutput(predictions=predicted, exports=exports)
        labels = batches.merge_batches(labels)
        loss, terms = self._loss(raw, labels, mode)
        return ModelOutput(
            loss=loss,
            loss_terms=terms,
            predictions=predicted,
            metrics={**self._metrics(features, labels, predicted), **counted.metrics},
            hooks=counted.hooks,
        )

    def _exported(self, raw: Any, predicted: Mapping[str, Any], image_size: Any) -> Any:
        from tf_frame_detection import outputs

        if self.params.export_raw:
            return outputs.raw_outputs(raw, image_size, self.params, coder=self._coder())
        return outputs.exported(predicted, self.info.class_ids or range(1, self.num_classes + 1))

    def _raw(self, images: Any, mode: Mode) -> Any:
        from tf_frame_detection.networks.detector import detector

        return detector(
            images,
            params=self.params,
            backbone=self.backbone,
            num_classes=self.num_classes,
            code_size=self._coder().code_size,
            is_training=mode == Mode.TRAIN,
            batch_norm_decay=self._batch_norm_decay(),
        )

    def _coder(self) -> Any:
        from tf_frame_detection.boxes.coders import FasterRcnnCoder, RotatedCoder

        factors = self.params.box_scale_factors
        if not self.rotated:
            return FasterRcnnCoder(factors)
        # The direction's factor is that of the width.
        return RotatedCoder((*factors, factors[-1]))

    def _loss(self, raw: Any, labels: Mapping[str, Any], mode: Mode) -> tuple[Any, Sequence[Any]]:
        """Returns the loss and its terms; see `ModelOutput`."""
        import tensorflow.compat.v1 as tf

        from tf_frame_detection.losses.total import detection_losses, loss_terms
        from tf_frame_detection.outputs import add_api_summaries
        from tf_frame_detection.targets.assigner import Assigner
        from tf_frame_detection.targets.matcher import ArgmaxMatcher

        params = self.params
        matcher = ArgmaxMatcher(
            matched_threshold=params.matched_threshold,
            unmatched_threshold=params.unmatched_threshold,
            force_match=params.force_match,
        )
        label = self._box_label(labels)
        assigner = Assigner(self._coder(), matcher, self.num_classes, box_label=label)
        targets = assigner.assign_batch(raw.anchors, labels)
        losses = detection_losses(raw, targets, params, coder=self._coder())
        for name, value in losses.items():
            tf.summary.scalar(f"losses/{name}", value)
        if params.api_summaries and mode == Mode.TRAIN:
            add_api_summaries(losses, params.api_summaries)
        return tf.add_n(list(losses.values())), loss_terms(losses, targets, params)

    def _box_label(self, labels: Mapping[str, Any]) -> str:
        label = "rotated_boxes" if self.rotated else "boxes"
        if "boxes" not in labels:
            raise ConfigError(
                "the input yields no labels['boxes']; take one for detection, such as trees, "
                "coco_json or voc_xml"
            )
        if label not in labels:
            raise ConfigError(
                f"--model.name {self.params.name} learns rotated boxes, which the input does not"
                " yield; take --input nuclei_boxes, dota or detection_tfrecord, without"
                " --input.rotated=false, or --model.name retinanet"
            )
        return label

    def _metrics(self, features: Any, labels: Any, predicted: Any) -> Mapping[str, Any]:
        from tf_frame_detection.evaluation.metrics import detection_metrics
        from tf_frame_detection.evaluation.painting import Painting
        from tf_frame_detection.evaluation.summaries import add_pictures

        painting = Painting.of(self.info, self.params.min_drawn_score)
        add_pictures(features, labels, predicted, painting, rotated=self.rotated)
        return detection_metrics(
            labels,
            predicted,
            features,
            info=self.info,
            rotated=self.rotated,
            voc=self.params.voc_ap,
        )

    def chance_levels(self, metrics: Mapping[str, Any]) -> Mapping[str, float]:
        """Returns an AP of 0, if there are boxes to find; of a class, if there are some boxes."""
        boxes = {
            name.class_name: metrics[name]
            for name in metrics
            if isinstance(name, ClassMetric) and name.kind == "boxes"
        }
        of_all = {"ap50": 0.0} if any(count > 0 for count in boxes.values()) else {}
        return of_all | {
            f"ap50_{name}": 0.0 for name, count in boxes.items() if count >= _FEW_BOXES
        }

    def notes(self) -> Sequence[str]:
        """Says whether the decay of batch norm is lowered for a short run."""
        if self.params.batch_norm_decay is not None or not self.params.train_batch_norm:
            return ()
        return note_on_decay(_BATCH_NORM_DECAY, self.num_steps)

    def _batch_norm_decay(self) -> float:
        given: float | None = self.params.batch_norm_decay
        if given is not None:
            return given
        return fitting_decay(_BATCH_NORM_DECAY, self.num_steps) or _BATCH_NORM_DECAY

    def warm_start_options(self, checkpoint: Mapping[str, Sequence[int]]) -> Mapping[str, Any]:
        """Returns what `fine_tune_checkpoint_type` and `from_detection_checkpoint` ask for."""
        from tf_frame_detection.restore import restore_options

        kind, is_detection = (
            self.params.fine_tune_checkpoint_type,
            self.params.from_detection_checkpoint,
        )
        if not kind and is_detection is None:
            return {}
        kind = kind or (options.DETECTION if is_detection else options.CLASSIFICATION)
        load_all = self.params.load_all_detection_checkpoint_vars
        return restore_options(kind, checkpoint, load_all=load_all)

    def prediction_writer(self, directory: str) -> Any:
        """Returns the writer of overlays and COCO's results."""
        from tf_frame_detection.evaluation.prediction_files import DetectionFiles

        return DetectionFiles(
            directory, self.info, min_score=self.params.min_drawn_score, rotated=self.rotated
        )
