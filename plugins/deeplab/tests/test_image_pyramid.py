"""Several scales of the image; their logits are merged."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import InputInfo, Mode
from tf_frame.errors import ConfigError
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_deeplab.outputs import segmentation_loss

pytestmark = pytest.mark.usefixtures("graph", "short")

INFO = InputInfo(num_classes=3, ignore_label=255)
SMALL = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8, "align_corners": True}
RANDOM = np.random.RandomState(0)
IMAGES = RANDOM.uniform(0, 255, size=[2, 33, 49, 3]).astype(np.float32)
LABELS = {
    "semantic": RANDOM.randint(0, 3, [2, 33, 49]).astype(np.int32),
    "edge": RANDOM.randint(0, 2, [2, 33, 49]).astype(np.int32),
}


def build(mode=Mode.TRAIN, images=IMAGES, **params):
    model = DeepLab(params=Params(**{**SMALL, **params}), info=INFO)
    labels = None if mode == Mode.PREDICT else {k: tf.constant(v) for k, v in LABELS.items()}
    return model.build({"image": tf.convert_to_tensor(images)}, labels, mode)


def logits_by_scale(output):
    return {n: t for n, t in output.end_points.items() if n.startswith("semantic/logits_")}


def names():
    return [v.op.name for v in tf.global_variables()]


def run(*fetches, feed=None):
    with initialized_session() as session:
        # Else all logits are about equal.
        for variable in tf.trainable_variables():
            if variable.op.name.startswith("logits/") and "weights" in variable.op.name:
                session.run(tf.assign(variable, 100 * variable))
        return session.run(fetches, feed)


@pytest.mark.slow
def test_scales_share_the_variables_and_each_of_them_has_a_loss():
    output = build(image_pyramid=(0.5, 1.25))
    assert len([name for name in names() if name.startswith("logits/")]) == 2
    scales = logits_by_scale(output)
    assert sorted(scales) == [f"semantic/logits_{scale}" for scale in ("0.50", "1.25")]
    # 1.25 x 32 / 4 + 1 and 1.25 x 48 / 4 + 1.
    assert {tuple(t.shape.as_list()) for t in scales.values()} == {(2, 11, 16, 3)}
    merged = output.end_points["semantic/merged_logits"]
    raw = tf.raw_ops.ResizeBilinear
    resized = [
        raw(images=logits, size=[33, 49], align_corners=True)
        for logits in (merged, *scales.values())
    ]
    losses = [segmentation_loss(logits, LABELS["semantic"], 255).mean() for logits in resized]
    loss, single, maxima, logits = run(output.loss, losses, merged, list(scales.values()))
    np.testing.assert_array_equal(maxima, np.max(logits, axis=0))
    assert len(set(single)) == 3
    assert loss == pytest.approx(sum(single), rel=1e-5)
    # Each scale moves the averages of batch norm, as in DeepLab.
    norms = [name for name in names() if name.endswith("moving_mean")]
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * 2 * len(norms)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "merge"), [("max", np.max), ("avg", np.mean)])
def test_predictions_are_those_of_the_merged_logits(method, merge):
    output = build(Mode.PREDICT, image_pyramid=(1.0, 0.5), merge_method=method)
    merged = output.end_points["logits"]
    assert merged is output.end_points["semantic/merged_logits"]
    scales = list(logits_by_scale(output).values())
    result, logits, classes = run(merged, scales, output.predictions["semantic"])
    assert not np.allclose(*logits)
    np.testing.assert_allclose(result, merge(logits, axis=0), rtol=1e-5)
    assert classes.shape == (2, 33, 49)


@pytest.mark.slow
def test_other_heads_see_the_scale_1():
    images = tf.placeholder(tf.float32, [None, None, None, 3])
    output = build(
        Mode.PREDICT, images, image_pyramid=(0.5, 1.0), heads=("semantic", "edge"),
        output_stride=8, decoder_channels=0,
    )  # fmt: skip
    assert len([name for name in names() if name.startswith("logits/edge/")]) == 2
    edges, classes = run(
        output.end_points["logits/edge"], output.predictions["semantic"], feed={images: IMAGES}
    )
    assert edges.shape == (2, 5, 7, 2)
    assert classes.shape == (2, 33, 49)


@pytest.mark.slow
def test_one_scale_has_nothing_to_merge():
    output = build(Mode.PREDICT, image_pyramid=(0.5,))
    assert not logits_by_scale(output)
    assert output.end_points["layer_1"].shape[1:3] == [9, 13]
    assert output.predictions["semantic"].shape == [2, 33, 49]


@pytest.mark.slow
def test_windows_of_image_pooling_are_scaled_with_the_image(graph):
    build(Mode.PREDICT, image_pyramid=(1.0, 2.0), image_pooling_crop_size=(33, 49))
    pooling = [op for op in graph.get_operations() if op.type == "AvgPool"]
    assert [list(op.get_attr("ksize"))[1:3] for op in pooling] == [[3, 4], [5, 7]]


def test_a_scale_that_is_named_twice_is_refused():
    with pytest.raises(ConfigError, match=r"image_pyramid 0\.5,1\.0,0\.501 names a scale twice"):
        build(image_pyramid=(0.5, 1.0, 0.501))
