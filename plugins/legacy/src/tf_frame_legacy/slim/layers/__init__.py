"""`tf_frame.layers` and the further layers of `slim.layers`."""

from __future__ import annotations

from tf_frame import layers as _layers
from tf_frame.layers import *  # noqa: F403
from tf_frame_legacy.slim.layers.extras import (
    dense_to_sparse,
    images_to_sequence,
    scale_gradient,
    sequence_to_images,
)
from tf_frame_legacy.slim.layers.legacy import legacy_fully_connected, legacy_linear, legacy_relu
from tf_frame_legacy.slim.layers.sparse_ops import indicators_to_sparse_ids, sparse_row_envelope

__all__ = [
    *vars(_layers)["__all__"],
    "dense_to_sparse",
    "images_to_sequence",
    "indicators_to_sparse_ids",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "scale_gradient",
    "sequence_to_images",
    "sparse_row_envelope",
]
