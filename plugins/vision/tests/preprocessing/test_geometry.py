import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame_vision.preprocessing import geometry


@pytest.mark.parametrize("shape", [[4, 4, 2], [4, 4, None], [4, 4], None])
def test_images_of_other_channels_are_refused(shape):
    with (
        tf.Graph().as_default(),
        pytest.raises(DataError, match="must be .height, width, channels., with 1 or 3 channels"),
    ):
        geometry.count_channels(tf.placeholder(tf.uint8, shape))


def test_windows_lie_within_the_image_and_reach_all_edges():
    with tf.Graph().as_default(), tf.Session() as session:
        image = tf.reshape(tf.range(20), [4, 5, 1])
        corners = tf.map_fn(
            lambda seed: geometry.random_crop(image, 3, 3, seed)[0, 0, 0],
            tf.constant([[1, seed] for seed in range(60)]),
            fn_output_signature=tf.int32,
        )
        assert set(session.run(corners)) == {0, 1, 2, 5, 6, 7}
