import pytest

from tf_frame_legacy.names import NOT_OFFERED
from tf_frame_legacy.source.lookup import (
    KEPT,
    NEWER,
    OFFERED,
    UNKNOWN,
    is_module,
    look_up,
    name_today,
    split_target,
)


@pytest.mark.parametrize(
    ("name", "state", "shown", "today"),
    [
        ("tensorflow.Session", KEPT, "tf.Session", "tf.Session"),
        ("tensorflow.compat.v1.train.Saver.save", KEPT, "tf.train.Saver.save", None),
        ("tensorflow.app.flags.DEFINE_string", KEPT, "tf.app.flags.DEFINE_string", None),
        ("tensorflow.keras.layers.Dense", KEPT, "tf.keras.layers.Dense", None),
        ("tensorflow.python.ops.math_ops.add", KEPT, "tf.python.ops.math_ops.add", None),
        # Modules that make their names when they are used or imported.
        ("tf.lite.TFLiteConverter.from_session", KEPT, None, None),
        ("tf.compat.v2.keras.layers.Dense", KEPT, "tf.keras.layers.Dense", None),
        ("tf.compat.v2.losses.Reduction", KEPT, None, None),
        ("tf.python.keras.initializers.Constant", KEPT, None, None),
        # TensorFlow has the name, with another behaviour; the row is for `convert`.
        ("tensorflow.name_scope", KEPT, "tf.name_scope", "tf_frame_legacy.slim.scopes.arg_scope"),
        (
            "tf.contrib.slim.conv2d",
            OFFERED,
            "tf.contrib.slim.conv2d",
            "tf_frame_legacy.slim.conv2d",
        ),
        ("tf_slim.conv2d", OFFERED, "tf_slim.conv2d", "tf_frame_legacy.slim.conv2d"),
        ("tf.layers.dense", OFFERED, "tf.layers.dense", "tf_frame_legacy.layers.dense"),
        (
            "tf.estimator.ModeKeys.TRAIN",
            OFFERED,
            "tf.estimator.ModeKeys",
            "tf_frame_legacy.estimator.ModeKeys.TRAIN",
        ),
        ("tf.contrib.slim", OFFERED, "tf.contrib.slim", "tf_frame_legacy.slim"),
        ("tf.contrib.data", OFFERED, "tf.contrib.data", "tf.data.experimental"),
        ("tf.contrib.tensorrt.create", NOT_OFFERED, "tf.contrib.tensorrt.create", ""),
        ("tf.examples.mnist.input_data", OFFERED, None, "tf_frame_legacy.slim"),
        ("tf.examples.mnist.other", NOT_OFFERED, None, ""),
        # TensorFlow 2 has them, and TensorFlow 1.15 did not.
        ("tf.random.set_seed", NEWER, None, ""),
        ("tf.nn.gelu", NEWER, None, ""),
        ("tensorflow.summary.create_file_writer", NEWER, "tf.summary.create_file_writer", ""),
        ("tf.optimizers.Adam", NEWER, None, ""),
        ("tf.random.absent", UNKNOWN, None, ""),
        ("tf.absent", UNKNOWN, None, ""),
        ("tf.contrib.slim.absent", UNKNOWN, "tf.contrib.slim.absent", ""),
        ("tf.keras.Absent", UNKNOWN, "tf.keras.Absent", ""),
        ("tf.layers.absent", UNKNOWN, "tf.layers.absent", ""),
        ("tensorflow_estimator.python.absent", UNKNOWN, None, ""),
    ],
)
def test_names_of_tensorflow(name, state, shown, today):
    answer = look_up(name)
    assert (answer.state, answer.name) == (state, shown or name)
    assert name_today(name) == (answer.name if today is None else today)


def test_other_packages_are_no_old_names():
    assert look_up("numpy.zeros") is None
    assert look_up("deployment.other") is None
    assert look_up("deployment.model_deploy.deploy").state == OFFERED
    assert name_today("numpy.zeros") == "numpy.zeros"


def test_modules():
    assert is_module("tensorflow.contrib.slim")
    assert is_module("tf.train")
    assert is_module("tf.contrib.anything")
    assert not is_module("tf.train.Saver")
    assert split_target("tensorflow.compat.v1.data.experimental.AUTOTUNE") == (
        "tf",
        "data.experimental.AUTOTUNE",
    )
    assert split_target("tf_frame_legacy.estimator.ModeKeys.TRAIN") == (
        "tf_frame_legacy.estimator",
        "ModeKeys.TRAIN",
    )
    # The package has a function of the module's name, in place of the module.
    for name in ("arg_scope", "add_arg_scope"):
        assert split_target(f"tf_frame.layers.arg_scope.{name}") == ("tf_frame.layers", name)
