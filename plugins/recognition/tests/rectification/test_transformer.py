import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.errors import ConfigError
from tf_frame_recognition.rectification import rectify
from tf_frame_recognition.rectification.thin_plate_spline import frame_points

SIZE = (16, 40)
IMAGES = np.random.RandomState(1).uniform(0, 255, [3, *SIZE, 1]).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["none", "sigmoid"])
@pytest.mark.parametrize("mode", [Mode.TRAIN, Mode.EVAL])
def test_untrained_it_gives_the_image(mode, activation):
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, *SIZE, 1])
        result = rectify(
            images, mode, output_size=SIZE, num_control_points=6, activation=activation
        )
        session.run(tf.global_variables_initializer())
        rectified, points = session.run(result, {images: IMAGES})
    np.testing.assert_allclose(rectified, IMAGES, atol=0.05)
    np.testing.assert_allclose(points, np.tile(frame_points(6), [3, 1, 1]), atol=1e-6)
    assert result.images.shape.as_list() == [None, *SIZE, 1]


@pytest.mark.slow
def test_it_learns_where_the_words_are():
    """A bar in a random row of each image is to be in the middle of the output."""
    random = np.random.RandomState(1)
    rows = np.arange(16).reshape([1, 16, 1, 1])

    def bars(middles):
        bar = 255 * np.exp(-(((rows - np.reshape(middles, [-1, 1, 1, 1])) / 3) ** 2))
        return np.tile(bar, [1, 1, 40, 1]).astype(np.float32)

    target = bars([7.5])
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        images = tf.placeholder(tf.float32, [None, 16, 40, 1])
        result = rectify(images, Mode.TRAIN, output_size=SIZE, num_control_points=4)
        loss = tf.reduce_mean(((result.images - target) / 255) ** 2)
        update = tf.train.AdamOptimizer(0.001).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [
            session.run([loss, update], {images: bars(random.uniform(4, 11, 16))})[0]
            for _ in range(35)
        ]
    assert np.mean(losses[-5:]) < 0.2 * np.mean(losses[:5])


def test_clones_share_variables():
    names = ("conv1/weights", "conv4/BatchNorm/moving_mean", "fc1/weights", "fc2/biases")
    with tf.Graph().as_default():
        for reuse in (None, True):
            with tf.variable_scope(tf.get_variable_scope(), reuse=reuse):
                rectify(tf.constant(IMAGES), Mode.TRAIN, output_size=SIZE, num_control_points=4)
        created = {variable.op.name for variable in tf.global_variables()}
    assert {f"SpatialTransformer/LocalizationNet/{name}" for name in names} <= created
    # Four convolutions and a hidden layer with three variables of batch norm, and the last layer.
    assert len(created) == 5 * 4 + 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"activation": "tanh"}, "no activation 'tanh'; choose one of none, sigmoid"),
        ({"activation": "sigmoid", "margins": (0.0, 0.1)}, "margins above 0"),
    ],
)
def test_arguments_that_do_not_work(arguments, message):
    with tf.Graph().as_default(), pytest.raises(ConfigError, match=message):
        rectify(tf.constant(IMAGES), Mode.EVAL, output_size=SIZE, num_control_points=4, **arguments)
