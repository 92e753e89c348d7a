"""The model `recognition`: the word in an image, by CTC or by attention.

Variables are in the scopes `SpatialTransformer`, `FeatureExtractor/Convnet`,
`FeatureExtractor/BidirectionalRnn` and `Predictor`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tf_frame import InputInfo, Mode, Model, ModelOutput
from tf_frame.errors import ConfigError
from tf_frame_recognition import options
from tf_frame_recognition.labels import LabelMap
from tf_frame_vision.batch_norm import fitting_decay, note_on_decay

# That of ASTER's configurations: bgshih/aster, experiments/demo/config/trainval.prototxt.
_BATCH_NORM_DECAY = 0.99


@dataclasses.dataclass(frozen=True)
class Params(
    options.EvaluationParams,
    options.RectifyParams,
    options.HeadParams,
    options.NetworkParams,
):
    """Options of the model."""


class Recognition(Model):
    """Reads words; takes the characters from its input's `info`.

    Features: `{"image": [batch, height, width, channels]}` float32, 0 to 255.
    Labels: `{"text": [batch, max_length]}` int32, numbers of characters, -1 behind the end; or None
    to predict. Features and labels may be lists, of several inputs.
    """

    Params: ClassVar[type] = Params
    thread_safe_build: ClassVar[bool] = True
    default_input: ClassVar[str | None] = "digit_strings"
    feature_names: ClassVar[Sequence[str]] = ("image",)
    label_names: ClassVar[Sequence[str]] = ("text",)
    everyday_options: ClassVar[Sequence[str]] = (
        *("feature_extractor", "head", "max_length", "beam_width", "rectify"),
        "eval_case_sensitive",
    )
    check_options: ClassVar[Mapping[str, Any]] = {
        "model.lstm_units": 4,
        "model.attention_units": 4,
        "model.beam_width": 2,
    }
    run_defaults: ClassVar[Mapping[str, Any]] = {
        "max_steps": 1500,
        "train_batch_size": 32,
        "eval_batch_size": 50,
        "optimizer": "adam",
        "learning_rate": 3e-3,
        "schedule": "cosine",
        "warmup": "linear",
        "warmup_steps": 50,
        "warmup_learning_rate": 3e-4,
        # As ProfileAtStep(200) of the old trainer.
        "profile_at_step": (200,),
        "profile_num_steps": 1,
        "save_checkpoint_secs": 600,
        "save_summaries_steps": 100,
        "log_every_n_steps": 100,
    }

    def __init__(self, *, params: Any, info: InputInfo) -> None:
        super().__init__(params=params, info=info)
        if not info.class_names:
            raise ConfigError(
                "the model recognition needs to know the characters, but its input does not say; "
                "use an input with class_names in its info, such as digit_strings"
            )
        self.label_map = LabelMap(info.class_names)

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone; the class describes features and labels.

        Returns:
          The loss (None without labels); but for training the predictions `text` and `confidence`
          `[batch]`, `ids` `[batch, max_length]`, and with `rectify` the images as they are read
          and `control_points`; in evaluation the metrics.
        """
        from tf_frame_recognition.batches import join_batches
        from tf_frame_recognition.evaluation.summaries import add_pictures
        from tf_frame_recognition.networks.encoder import encode
        from tf_frame_vision.reading.skipped import count_skipped

        counted = count_skipped(features)
        original = join_batches(counted.features)["image"]
        images, rectified = self._rectified(original, mode)
        decay = self._batch_norm_decay()
        sequence = encode(images, mode, self.params, batch_norm_decay=decay)
        if mode == Mode.TRAIN:
            if rectified:
                add_pictures(original, **rectified)
            loss = self._head().loss(sequence, join_batches(labels)["text"], mode)
            return ModelOutput(loss=loss, hooks=counted.hooks)
        predictions = {**self._words(sequence), **rectified}
        if labels is None:
            return ModelOutput(predictions=predictions)
        text = join_batches(labels)["text"]
        words = {"label": self.label_map.strings(text), "read": predictions["text"]}
        add_pictures(original, words, **rectified)
        return ModelOutput(
            loss=self._head().loss(sequence, text, mode),
            predictions=predictions,
            metrics={**self._metrics(predictions["text"], text), **counted.metrics},
            hooks=counted.hooks,
        )

    def _rectified(self, images: Any, mode: Mode) -> tuple[Any, Mapping[str, Any]]:
        """Returns the images to read, and what predictions tell of their rectification."""
        if not self.params.rectify:
            return images, {}
        from tf_frame_recognition.rectification import rectify

        size = images.shape.as_list()[1:3]
        rectified = rectify(
            images,
            mode,
            output_size=size,
            num_control_points=self.params.control_points,
            batch_norm_decay=self._batch_norm_decay(),
        )
        return rectified.images, {
            "rectified": rectified.images,
            "control_points": rectified.control_points,
        }

    def _head(self) -> Any:
        from tf_frame_recognition.heads import make_head

        return make_head(len(self.label_map.characters), self.params)

    def _words(self, sequence: Any) -> Mapping[str, Any]:
        import tensorflow.compat.v1 as tf

        from tf_frame_recognition.heads.decoded import probability_per_step

        decoded = self._head().decode(sequence, self.params.max_length)
        return {
            "text": self.label_map.strings(decoded.ids),
            "ids": tf.identity(decoded.ids),
            "confidence": probability_per_step(decoded),
        }

    def _metrics(self, predicted: Any, text: Any) -> Mapping[str, Any]:
        from tf_frame_recognition.evaluation.metrics import recognition_metrics

        return recognition_metrics(
            predicted,
            text,
            label_map=self.label_map,
            case_sensitive=self.params.eval_case_sensitive,
            punctuation=self.params.eval_punctuation,
            max_length=text.shape[1],
        )

    def chance_levels(self, metrics: Mapping[str, Any]) -> Mapping[str, float]:
        """Returns an accuracy of 0: words are not read by chance."""
        return {"word_accuracy": 0.0}

    def notes(self) -> Sequence[str]:
        """Tells that the decay of batch norm is lower in a short run."""
        if self.params.batch_norm_decay is not None:
            return ()
        return note_on_decay(_BATCH_NORM_DECAY, self.num_steps)

    def _batch_norm_decay(self) -> float:
        decay: float | None = self.params.batch_norm_decay
        if decay is not None:
            return decay
        return fitting_decay(_BATCH_NORM_DECAY, self.num_steps) or _BATCH_NORM_DECAY

    def warm_start_options(self, checkpoint: Mapping[str, Sequence[int]]) -> Mapping[str, Any]:
        """Returns options that restore the convolutions of a pretrained feature extractor.

        Args:
          checkpoint: name -> shape of the variables there.
        """
        return {"warm_start_include": ("FeatureExtractor/Convnet/",)}

    def prediction_writer(self, directory: str) -> Any:
        """Returns the writer of the table of words and of pictures.

        Args:
          directory: the folder.
        """
        from tf_frame_recognition.evaluation.writer import PredictionWriter

        return PredictionWriter(directory, rectify=self.params.rectify)
