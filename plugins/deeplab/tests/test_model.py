import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import InputInfo, Mode
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError
from tf_frame.runs.evaluation.results import find_at_chance
from tf_frame_deeplab.model import DeepLab, Params
from tf_frame_deeplab.outputs import segmentation_loss

pytestmark = pytest.mark.usefixtures("graph")

INFO = InputInfo(num_classes=2, ignore_label=255, class_names=("back ground", "nucleus"))
SMALL = Params(depth_multiplier=0.1, aspp_channels=8, decoder_channels=8)


def run_loss(logits, labels, ignore_label=255):
    logits = tf.constant(logits, tf.float32)
    loss = segmentation_loss(logits, tf.constant(labels), ignore_label).mean()
    (gradient,) = tf.gradients(loss, logits)
    return run_initialized([loss, gradient])


def test_loss_is_the_mean_over_pixels_that_count():
    logits = np.random.RandomState(0).normal(size=[1, 2, 2, 3])
    labels = np.array([[[0, 2], [255, 1]]])
    loss, gradient = run_loss(logits, labels)
    log_softmax = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    counted = [log_softmax[0, 0, 0, 0], log_softmax[0, 0, 1, 2], log_softmax[0, 1, 1, 1]]
    assert loss == pytest.approx(-np.mean(counted), rel=1e-5)
    assert not gradient[0, 1, 0].any()
    assert gradient[0, 0, 0].any()
    # Without any pixel that counts the loss is 0; without an ignored label all pixels count.
    loss, gradient = run_loss(np.ones([1, 2, 2, 3]), np.full([1, 2, 2], 255))
    assert loss == 0
    assert not gradient.any()
    loss, _ = run_loss(np.zeros([1, 2, 2, 4]), np.zeros([1, 2, 2], np.int32), ignore_label=None)
    assert loss == pytest.approx(np.log(4), rel=1e-5)


def test_an_input_needs_classes_and_defaults_of_the_run_are_options_that_exist():
    with pytest.raises(ConfigError, match="number of classes"):
        DeepLab(params=SMALL, info=InputInfo())
    setup = parse_command_line(["--plugin", "deeplab"]).setup()
    assert (setup.config.learning_rate, setup.schedule.name) == (0.3, "poly")


def test_a_class_that_is_not_found_is_at_chance_though_the_mean_is_not():
    matrix = np.array([[90.0, 0], [10, 0]])
    metrics = {"mean_iou": 0.6, "recall_nucleus": 0.02, "confusion_matrix": matrix}
    model = DeepLab(params=SMALL, info=INFO)
    assert find_at_chance(model, metrics) == {"recall_nucleus": 0.1}


@pytest.mark.slow
def test_prediction_needs_no_labels_and_no_fixed_size():
    images = tf.placeholder(tf.float32, [None, None, None, 3])
    output = DeepLab(params=SMALL, info=INFO).build({"image": images}, None, Mode.PREDICT)
    assert output.loss is None
    assert output.exports["serving_default"] == output.predictions
    weights = next(v for v in tf.global_variables() if v.op.name == "logits/semantic/weights")
    pixels = np.random.RandomState(0).uniform(0, 255, size=[2, 33, 48, 3])
    with initialized_session() as session:
        session.run(tf.assign(weights, 1e6 * weights))  # else all classes are about equal
        result = session.run(dict(output.predictions), {images: pixels})
    assert set(np.unique(result["semantic"])) == {0, 1}
    assert result["semantic"].shape == (2, 33, 48)
    assert result["semantic"].dtype == np.int32
    np.testing.assert_allclose(result["probabilities"].sum(axis=-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(result["probabilities"].argmax(axis=-1), result["semantic"])


@pytest.mark.usefixtures("short")
def test_evaluation_has_metrics_pictures_and_no_updates():
    features = {"image": tf.fill([2, 32, 32, 3], 300.0)}
    labels = np.zeros([2, 32, 32], np.int32)
    labels[:, :8], labels[:, 8:12] = 1, 255
    model = DeepLab(params=SMALL, info=INFO)
    output = model.build(features, {"semantic": tf.constant(labels)}, Mode.EVAL)
    kinds = ("iou", "precision", "recall", "pixels")
    of_classes = {f"{kind}_{name}" for kind in kinds for name in ("back_ground", "nucleus")}
    confusion = {"confusion_matrix", "confusion_matrix_image"}
    assert output.metrics.keys() == {"mean_iou", "pixel_accuracy"} | of_classes | confusion
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    text = run_initialized(tf.summary.merge_all())
    values = tf.Summary.FromString(text).value
    pictures = {v.tag.split("/")[0]: v.image for v in values if v.tag.endswith("/0")}
    with tf.Session() as session:
        decoded = {
            name: session.run(tf.io.decode_png(picture.encoded_image_string))
            for name, picture in pictures.items()
        }
    assert sorted(decoded) == ["image", "label", "prediction"]
    assert (decoded["image"] == 255).all()
    assert (decoded["label"][:8] == 255).all()
    assert (decoded["label"][8:12] == 127).all()
    assert (decoded["label"][12:] == 0).all()


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_a_few_steps_lower_the_loss():
    """Bright squares on black: one batch, learnt by heart."""
    images = np.zeros([2, 32, 32, 3], np.float32)
    images[:, 8:24, 8:24] = 200
    labels = (images[..., 0] > 0).astype(np.int32)
    batch = {"image": tf.constant(images)}, {"semantic": tf.constant(labels)}
    output = DeepLab(params=SMALL, info=INFO).build(*batch, Mode.TRAIN)
    step = tf.train.MomentumOptimizer(0.05, 0.9).minimize(output.loss)
    with initialized_session() as session:
        losses = [session.run([output.loss, step])[0] for _ in range(45)]
    assert losses[0] == pytest.approx(np.log(2), abs=0.1)
    # At this step 0.02 on one CPU; rounding differs between kernels.
    assert losses[-1] < 0.4 * losses[0]


@pytest.mark.parametrize(
    ("params", "num_steps", "decay"),
    [
        ({}, 500, 0.95),
        ({}, 100, 0.8),
        ({}, None, 0.95),
        ({"batch_norm_decay": 0.9997}, 100, 0.9997),
    ],
)
def test_the_decay_of_batch_norm_fits_the_run(params, num_steps, decay):
    model = DeepLab(params=Params(**params), info=INFO)
    model.num_steps = num_steps
    assert model._batch_norm_decay() == decay
    assert bool(model.notes()) == (decay == 0.8)
    model = DeepLab(params=Params(train_batch_norm=False, **params), info=INFO)
    model.num_steps = num_steps
    assert not model.notes()
