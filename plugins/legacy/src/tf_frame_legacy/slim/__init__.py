"""tf-slim's namespace, implemented by tf-frame: networks and scripts for slim change one import.

    from tf_frame_legacy import slim  # was: import tf_slim as slim

Layers and variables are from `tf_frame.layers`, loops from `tf_frame_legacy`. README.md lists the
missing names.
"""

import typing

from tf_frame.layers import *  # noqa: F403
from tf_frame.layers import initializers as initializers, regularizers as regularizers
from tf_frame_legacy import (
    evaluation as evaluation,
    learning as learning,
    training as training,
    training_evaluation as train_eval,  # noqa: F401
)
from tf_frame_legacy.slim import (  # type: ignore[no-redef]
    data as data,
    data_decoder as data_decoder,
    data_provider as data_provider,
    dataset as dataset,
    dataset_data_provider as dataset_data_provider,
    layers as layers,
    losses as losses,
    metrics as metrics,
    model_analyzer as model_analyzer,
    optimizers as optimizers,
    parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue,
    queues as queues,
    scopes as scopes,
    summaries as summaries,
    tfexample_decoder as tfexample_decoder,
    utils as utils,
    variables as variables,
)
from tf_frame_legacy.slim.layers.extras import (
    bucketize as bucketize,
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
from tf_frame_legacy.slim.layers.summaries import *  # noqa: F403
from tf_frame_legacy.slim.optimizers import *  # noqa: F403
from tf_frame_legacy.slim.variables import *  # noqa: F403

if not typing.TYPE_CHECKING:
    # Functions of `tf_frame.layers` that slim has in `slim.utils`, or does not have.
    _not_in_slim = {"global_average_pool", "resize_bilinear", "spatial_size", *vars(utils)}
    __all__ = [
        name
        for name in globals().copy()
        if not name.startswith("_") and name not in {"typing", *_not_in_slim}
    ]
