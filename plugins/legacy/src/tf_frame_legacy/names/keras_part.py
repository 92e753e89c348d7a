"""Keras 2 in TensorFlow: its modules, and those that tf-frame completes."""

KERAS = "tf.keras"
KERAS_PART = "tensorflow.python.keras"
# Modules of it that lack classes.
COMPLETED = {
    f"{KERAS}.experimental": "tf_frame_legacy.keras_experimental",
    f"{KERAS}.layers": "tf_frame_legacy.keras_layers",
    f"{KERAS}.optimizers": "tf_frame_legacy.keras_optimizers",
    f"{KERAS}.utils": f"{KERAS_PART}.utils.all_utils",
}
# Modules that make no graph, so that those of Keras 3 will do.
OF_KERAS_3 = {"datasets", "preprocessing"}
