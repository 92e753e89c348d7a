"""From the image to a sequence of features: convolutions, then LSTMs along the width.

Variables: `FeatureExtractor/Convnet/...` of the convolutions, and
`FeatureExtractor/BidirectionalRnn/...`, `FeatureExtractor/BidirectionalRnn_1/...` of the LSTMs.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Mode, layers
from tf_frame_recognition.networks.aster_resnet import aster_resnet
from tf_frame_recognition.networks.lstm import bidirectional
from tf_frame_recognition.networks.small import small
from tf_frame_recognition.options import ASTER_RESNET, SMALL

_NETWORKS = {SMALL: small, ASTER_RESNET: aster_resnet}


def encode(images: Any, mode: Mode, params: Any, *, batch_norm_decay: float) -> Any:
    """Builds the feature extractor.

    Args:
      images: `[batch, height, width, channels]` float32, 0 to 255; size known.
      mode: purpose of the graph; prediction avoids ops that only TensorFlow has.
      params: options of the model: `feature_extractor`, `lstm_units`, `lstm_layers`,
        `weight_decay`.
      batch_norm_decay: share of the moving statistics that a step keeps.

    Returns:
      `[batch, time, 2 * lstm_units]` float32, a position for some columns of the image.
    """
    with tf.variable_scope("FeatureExtractor"):
        with tf.variable_scope("Convnet"), _settings(mode, params, batch_norm_decay):
            sequence = columns(_NETWORKS[params.feature_extractor](images / 127.5 - 1.0))
        for number in range(params.lstm_layers):
            scope = f"BidirectionalRnn_{number}" if number else "BidirectionalRnn"
            fused = mode != Mode.PREDICT
            sequence = bidirectional(sequence, params.lstm_units, fused=fused, scope=scope)
    return sequence


def columns(maps: Any) -> Any:
    """Returns `[batch, height, width, channels]` as `[batch, width, height * channels]`."""
    _, height, width, channels = maps.shape.as_list()
    return tf.reshape(tf.transpose(maps, [0, 2, 1, 3]), [-1, width, height * channels])


def _settings(mode: Mode, params: Any, batch_norm_decay: float) -> Any:
    normalizer = {"is_training": mode == Mode.TRAIN, "decay": batch_norm_decay, "scale": True}
    return layers.arg_scope(
        [layers.conv2d],
        normalizer_fn=layers.batch_norm,
        normalizer_params=normalizer,
        weights_initializer=layers.variance_scaling_initializer(),
        weights_regularizer=layers.l2_regularizer(params.weight_decay),
    )
