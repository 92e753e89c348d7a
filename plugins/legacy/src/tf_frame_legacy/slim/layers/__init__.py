"""`tf_frame.layers` and the further layers of `slim.layers`."""

from tf_frame.layers import *  # noqa: F403
from tf_frame_legacy.slim.layers.extras import (
    dense_to_sparse as dense_to_sparse,
    images_to_sequence as images_to_sequence,
    scale_gradient as scale_gradient,
    sequence_to_images as sequence_to_images,
)
from tf_frame_legacy.slim.layers.legacy import (
    legacy_fully_connected as legacy_fully_connected,
    legacy_linear as legacy_linear,
    legacy_relu as legacy_relu,
)
from tf_frame_legacy.slim.layers.sparse_ops import (
    indicators_to_sparse_ids as indicators_to_sparse_ids,
    sparse_row_envelope as sparse_row_envelope,
)
