import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import InputInfo, Mode
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_deeplab.train_metrics import train_metrics

pytestmark = pytest.mark.usefixtures("graph")

INFO = InputInfo(num_classes=2, ignore_label=255)
LABELS = np.array([[[0, 1, 1, 255]]], np.int32)
PREDICTIONS = np.array([[[0, 0, 1, 1]]], np.int32)


def tags():
    summaries = tf.get_default_session().run(tf.get_collection(tf.GraphKeys.SUMMARIES))
    return [tf.Summary.FromString(summary).value[0].tag for summary in summaries]


def test_figures_of_the_first_of_two_clones_count_all_steps():
    tf.train.create_global_step()
    hooks = []
    for index in range(2):
        with (
            tf.name_scope(f"clone_{index}"),
            tf.variable_scope(tf.get_variable_scope(), reuse=True if index else None),
        ):
            arguments = tf.constant(LABELS), tf.constant(PREDICTIONS)
            hooks += train_metrics(*arguments, info=INFO, every_steps=5, last_step=7)
    (hook,) = hooks
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with initialized_session() as session:
        for _ in range(3):
            session.run(updates)
        figures = session.run(hook.before_step(None, 5).fetches)
        assert tags() == ["train/miou", "train/acc"]
        (matrix,) = session.run(tf.local_variables())
    # Of class 0, 1 of 2 pixels; of class 1, 1 of 2; the pixel that is ignored does not count.
    assert figures == pytest.approx({"train/miou": 0.5, "train/acc": 2 / 3})
    assert matrix.sum() == 9


@pytest.mark.slow
@pytest.mark.usefixtures("short_backbone")
def test_a_model_measures_them_where_they_are_asked_for():
    tf.train.create_global_step()
    small = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}
    model = DeepLab(params=Params(**small, train_metrics_steps=10), info=INFO)
    features = {"image": tf.zeros([1, 32, 32, 3])}
    output = model.build(features, {"semantic": tf.zeros([1, 32, 32], tf.int32)}, Mode.TRAIN)
    assert len(output.hooks) == len(tf.local_variables()) == 1
