"""Names that TensorFlow 2 still has, and that behave differently there."""

from tf_frame_legacy.names.row import reimplemented

_PROGRAM = "tf_frame_legacy.program"

ROWS = [
    *reimplemented(
        ("tf.app.flags", "tf.flags", "tf.python.platform.flags"),
        f"{_PROGRAM}.flags",
        "FLAGS",
        "parses early and ignores unknown flags until tf.app.run; `--switch False` is a value",
    ),
    *reimplemented(
        ("tf.app", "tf.python.platform.app"),
        f"{_PROGRAM}.flags",
        "run",
        "`--switch False` is a value",
    ),
    *reimplemented(
        ("tf", "tf.python.framework.ops"),
        f"{_PROGRAM}.graphs",
        "name_scope",
        "tf.name_scope(name, values) is accepted",
    ),
    *reimplemented(
        ("tf.nn", "tf.python.ops.nn_ops", "tf.python.ops.nn"),
        f"{_PROGRAM}.graphs",
        "conv2d_transpose",
        "the result has the static shape output_shape",
    ),
    *reimplemented(
        ("tf.train", "tf.core.example.feature_pb2"),
        f"{_PROGRAM}.messages",
        "Int64List",
        "takes True and False for 1 and 0",
    ),
]
