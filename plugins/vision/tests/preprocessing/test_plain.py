import numpy as np

from tf_frame_vision.preprocessing.plain import Plain


def test_values_go_from_minus_one_to_one(prepare):
    image = np.array([0, 51, 204, 255], np.uint8).reshape(2, 2, 1)
    expected = np.array([-1.0, -0.6, 0.6, 1.0]).reshape(2, 2, 1)
    np.testing.assert_allclose(prepare(Plain, image, 2), expected, atol=1e-6)


def test_images_are_resized_about_their_middle(prepare):
    image = np.array([0, 255], np.uint8).reshape(1, 2, 1)
    wide = prepare(Plain, image, (1, 4))[0, :, 0]
    np.testing.assert_allclose(wide, [-1, -0.5, 0.5, 1], atol=1e-6)


def test_training_is_like_evaluation(prepare, photo):
    results = prepare(Plain, photo, 9, seeds=[1, 2])
    np.testing.assert_array_equal(results, [prepare(Plain, photo, 9)] * 2)
