"""The names of the Object Detection API's trainers, for scripts that were written for them.

Existing scripts change their imports and keep the rest:

    from tf_frame_detection.legacy import trainer             # was: object_detection.legacy
    from tf_frame_detection.legacy import retinanet_trainer   # was: the trainer of a RetinaNet
    from tf_frame_detection.legacy import rotated_trainer     # was: the trainer of rotated boxes
    from tf_frame_detection.legacy import batcher, model, prefetcher, preprocessor, standard_fields
    from tf_frame_detection.legacy import label_map_util, learning_schedules, variables_helper
    from tf_frame_detection.legacy import optimizer_builder

They stand on `tf_frame_legacy`. Configurations are dictionaries or objects with the fields of the
old protocol buffers. Importing the modules imports TensorFlow.
"""

try:
    import tf_frame_legacy  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "tf_frame_detection.legacy needs tf-frame-legacy: pip install 'tf-frame-detection[legacy]'",
        name=error.name,
    ) from error

from tf_frame_legacy import (
    batcher,
    learning_schedules,
    optimizer_builder,
    prefetcher,
    variables_helper,
)

__all__ = ["batcher", "learning_schedules", "optimizer_builder", "prefetcher", "variables_helper"]
