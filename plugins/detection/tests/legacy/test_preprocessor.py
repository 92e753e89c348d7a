import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame.errors import ConfigError
from tf_frame_detection.legacy import preprocessor

pytestmark = pytest.mark.usefixtures("graph")


def example():
    return {
        "image": tf.ones([1, 2, 3, 3]),
        "groundtruth_boxes": tf.constant([[0.0, 0.1, 0.2, 0.3]]),
        "groundtruth_classes": tf.constant([1], tf.int64),
    }


def brighten(image, delta):
    assert image.shape.rank == 3
    return image + delta


def scale(image, factor=2.0):
    return image * factor


def shift(image, boxes, labels=None, masks=None, keypoints=None):
    assert labels is not None
    assert masks is None
    assert keypoints is None
    return image, boxes + 0.5, labels + 1


def run(options, func_arg_map=None):
    tensors = preprocessor.preprocess(example(), options, func_arg_map)
    return run_initialized(tensors)


def test_functions_are_applied_in_their_order():
    assert run([(brighten, {"delta": 1.0}), (scale, {})])["image"].flat[0] == 4.0
    assert run([(scale, {"factor": 3.0}), (brighten, {"delta": 1.0})])["image"].flat[0] == 4.0
    found = run([(functools.partial(brighten, delta=2.0), {})])
    assert (found["image"].shape, found["image"].flat[0]) == ((1, 2, 3, 3), 3.0)


def test_changes_by_name_are_those_of_the_inputs():
    tensors = {
        "image": tf.ones([1, 20, 40, 3]),
        "groundtruth_boxes": tf.constant([[0.0, 0.3, 0.5, 0.7], [0.5, 0.0, 1.0, 1.0]]),
        "groundtruth_classes": tf.constant([3, 5], tf.int64),
        "groundtruth_weights": tf.constant([0.5, 0.25]),
    }
    options = [("resize_image", {"new_height": 10, "new_width": 10}), (scale, {})]
    with tf.Session() as session:
        found = session.run(preprocessor.preprocess(tensors, options))
        crop = ("random_crop_to_aspect_ratio", {"aspect_ratio": 1.5, "overlap_thresh": 0.9})
        cut = session.run(preprocessor.preprocess(tensors, [crop]))
    assert (found["image"].shape, found["image"].max()) == ((1, 10, 10, 3), 2.0)
    np.testing.assert_allclose(found["groundtruth_boxes"][0], [0, 0.3, 0.5, 0.7], rtol=1e-6)
    # The second object is as wide as the image, of which three quarters are left.
    assert cut["image"].shape == (1, 20, 30, 3)
    assert (cut["groundtruth_classes"], cut["groundtruth_weights"]) == ([3], [0.5])
    ((upper, left, lower, right),) = cut["groundtruth_boxes"]
    np.testing.assert_allclose([upper, lower, right - left], [0, 0.5, 16 / 30], rtol=1e-5)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("random_flip", {}), "data_augmentation_options names 'random_flip'; there are: "),
        (("random_image_scale", {"ratio": 1}), "random_image_scale has no option 'ratio'"),
        (("random_vertical_flip", {}), "but the example has groundtruth_rboxes"),
    ],
)
def test_changes_by_name_that_cannot_be_made(option, words):
    tensors = {**example(), "groundtruth_rboxes": tf.zeros([1, 5])}
    with pytest.raises(ConfigError, match=words):
        preprocessor.preprocess(tensors, [option])


def test_boxes_and_classes_follow_by_the_names_of_parameters():
    tensors = example()
    before = dict(tensors)
    preprocessor.preprocess(tensors, [(shift, {})])
    assert tensors == before
    found = run([(shift, {}), (shift, {})])
    np.testing.assert_allclose(found["groundtruth_boxes"], [[1.0, 1.1, 1.2, 1.3]], rtol=1e-6)
    assert found["groundtruth_classes"].tolist() == [3]


def test_a_map_of_arguments_is_the_api_s():
    def move(first, second, third):
        assert second is None
        return first + 1.0, third + 1

    names = {move: ("groundtruth_boxes", None, "groundtruth_classes")}
    found = run([(move, {})], names)
    assert found["groundtruth_classes"].tolist() == [2]
    with pytest.raises(ValueError, match="The function scale does not exist in func_arg_map"):
        run([(scale, {})], names)


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="images in tensor_dict should be rank 4"):
        preprocessor.preprocess({"image": tf.ones([2, 3, 3])}, [])
    with pytest.raises(ConfigError, match="brighten requires argument delta; the example has gro"):
        run([(brighten, {})])
    with pytest.raises(ConfigError, match="got image, groundtruth_boxes and returned 1 values"):
        run([(lambda image, boxes: image, {})])
