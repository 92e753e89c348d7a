"""The model `classification`: one label for an image, by any of slim's networks.

For training from scratch and for fine-tuning slim's published checkpoints. The preset
`inception_distributed` is the configuration of the trainer that Inception v3 was published with.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import InputInfo, Mode, Model, ModelOutput, NetworkContext, option
from tf_frame.errors import ConfigError
from tf_frame_vision.batch_norm import fitting_decay, note_on_decay
from tf_frame_vision.slim_network import load_network

# The trainer that Inception v3 was published with (tensorflow/models, research/inception,
# inception_distributed_train.py): its optimizer, averages, summaries and its trace of step 60.
# Nothing is scaled for short runs on small data, but for two things that are not in it:
# - batch_norm_decay: that trainer's 0.9997 is the network's own, and in a short run lower;
# - the warm-up of 50 steps of this model, without which lenet may not learn at all.
# In a short run the moving averages are short, too: their decay is at most (1 + n) / (10 + n).
_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "inception_distributed": {
        "model": {
            "name": "inception_v3",
            "label_smoothing": 0.1,
            "aux_loss_weight": 0.4,
            "weight_decay": 4e-5,
        },
        # Label 0 of that trainer is a background class without images.
        "input": {"labels_offset": -1},
        "optimizer": {"name": "rmsprop", "decay": 0.9, "momentum": 0.9, "epsilon": 1.0},
        "learning_rate": 0.045,
        "schedule": {"name": "exponential"},
        "moving_average_decay": 0.9999,
        "sync_replicas": True,
        "loss_average_decay": 0.9,
        "summarize_gradients": True,
        "summarize_variables": True,
        "save_summaries_secs": 180,
        "on_nan": "raise",
        # That trainer traced the step after its step 60.
        "trace_at_step": [61],
    },
}


@dataclasses.dataclass(frozen=True)
class Params:
    """Options of the model."""

    name: str = option("lenet", "the network; tf-frame plugins list shows all of them")
    weight_decay: float = option(4e-5, "scale of the L2 penalty on weights", min=0)
    label_smoothing: float = option(
        0.0, "share of each label that is spread over all classes", min=0, max=1
    )
    aux_loss_weight: float = option(
        0.4, "weight of the loss of auxiliary logits, where the network has some", min=0
    )
    batch_norm_decay: float | None = option(
        None,
        "what batch norm's moving statistics keep per step; none: the network's own, or "
        "N / (N + 25) in a run from scratch of N steps if that is less",
        min=0,
        max=1,
    )
    dropout_keep_prob: float | None = option(
        None, "probability that dropout keeps a value; none: the network's own", min=0.01, max=1
    )
    depth_multiplier: float | None = option(
        None,
        "factor on the channels of a mobilenet or inception; none: the network's own",
        min=0.01,
    )
    global_pool: bool = option(
        False, "average over all positions before the logits, for images of another size"
    )
    summarize_activations: bool = option(
        True, "write a histogram, and the share of zeros, of every end point"
    )
    max_class_metrics: int = option(
        25, "with no more classes than this, evaluation shows the recall of each", min=0
    )


class Classification(Model):
    """Image classification; reads the classes from its input's `info`.

    Features: `{"image": [batch, height, width, channels]}` float32, preprocessed.
    Labels: `{"label": [batch]}` int32, or None to predict.
    """

    Params: ClassVar[type] = Params
    thread_safe_build: ClassVar[bool] = True
    default_input: ClassVar[str | None] = "fashion_mnist"
    network_option: ClassVar[str] = "name"
    feature_names: ClassVar[Sequence[str]] = ("image",)
    label_names: ClassVar[Sequence[str]] = ("label",)
    run_defaults: ClassVar[Mapping[str, Any]] = {
        "max_steps": 1500,
        "optimizer": "adam",
        "learning_rate": 0.001,
        "schedule": "cosine",
        # Without a warm-up lenet may not learn at all.
        "warmup": "linear",
        "warmup_steps": 50,
        "warmup_learning_rate": 1e-4,
        "log_every_n_steps": 100,
    }
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = _PRESETS

    def __init__(self, *, params: Any, info: InputInfo) -> None:
        super().__init__(params=params, info=info)
        if not info.num_classes:
            raise ConfigError(
                "the model classification needs to know the number of classes, but its input does"
                " not say; use an input with num_classes in its info"
            )
        self.num_classes: int = info.num_classes
        self.network = load_network(params.name)

    @classmethod
    def input_defaults(cls, params: Any) -> Mapping[str, Any]:
        """Returns image size, channels and preprocessing that the network was made for."""
        network = load_network(params.name)
        return {
            "image_size": network.default_image_size,
            "channels": network.channels,
            "preprocessing": network.preprocessing,
        }

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone; the class describes features and labels.

        Returns:
          The loss, by the collection of losses; predictions `label`, `[batch]` int32,
          and `probabilities`, `[batch, num_classes]`, without labels also `class_name`,
          `[batch]` string, if the input names its classes; in evaluation the metrics.
        """
        from tf_frame_classification.model import outputs
        from tf_frame_vision.reading.skipped import count_skipped

        counted = count_skipped(features)
        features = counted.features
        logits, end_points = self.network(features["image"], self._context(mode))
        predictions = outputs.predictions(logits)
        end_points = dict(end_points)
        if labels is None:
            named = outputs.with_names(predictions, self.info.class_names)
            return ModelOutput(predictions=named, end_points=end_points)
        if self.params.summarize_activations and mode == Mode.TRAIN:
            outputs.summarize_activations(end_points)
        outputs.add_losses(logits, end_points, labels["label"], self.params)
        metrics: Mapping[str, Any] = {}
        if mode == Mode.EVAL:
            metrics = {**self._metrics(logits, labels["label"]), **counted.metrics}
        return ModelOutput(
            predictions=predictions,
            metrics=metrics,
            end_points=end_points,
            hooks=counted.hooks,
        )

    def chance_levels(self, metrics: Mapping[str, Any]) -> Mapping[str, float]:
        """Returns the accuracy of the most frequent class as every answer, recalls of guessing."""
        from tf_frame_vision.confusion import guessed_recalls, majority_share

        matrix = metrics["confusion_matrix"]
        recalls = guessed_recalls(matrix, self.info.class_names)
        return {"accuracy": majority_share(matrix), **recalls}

    def notes(self) -> Sequence[str]:
        """Tells that the decay of batch norm is lower in a short run."""
        if self.params.batch_norm_decay is not None:
            return ()
        return note_on_decay(self.network.own_batch_norm_decay(), self.num_steps)

    def _batch_norm_decay(self) -> float | None:
        decay: float | None = self.params.batch_norm_decay
        if decay is not None or self.num_steps is None:
            return decay
        return fitting_decay(self.network.own_batch_norm_decay(), self.num_steps)

    def prediction_writer(self, directory: str) -> Any:
        """Returns the writer of rows, and of pictures of the first files."""
        from tf_frame_classification.model.prediction_files import ClassFiles

        return ClassFiles(directory, self.info.class_names)

    def last_layer_scopes(self) -> tuple[str, ...]:
        """Returns parts of the names of the layers that depend on the classes."""
        return ("Logits", "logits", "fc8")

    def _context(self, mode: Mode) -> NetworkContext:
        params = self.params
        return NetworkContext(
            num_classes=self.num_classes,
            is_training=mode == Mode.TRAIN,
            weight_decay=params.weight_decay,
            batch_norm_decay=self._batch_norm_decay(),
            dropout_keep_prob=params.dropout_keep_prob,
            depth_multiplier=params.depth_multiplier,
            global_pool=params.global_pool,
        )

    def _metrics(self, logits: Any, labels: Any) -> Mapping[str, Any]:
        from tf_frame_classification.model.metrics import classification_metrics

        return classification_metrics(
            logits,
            labels,
            class_names=self.info.class_names,
            max_class_metrics=self.params.max_class_metrics,
        )
