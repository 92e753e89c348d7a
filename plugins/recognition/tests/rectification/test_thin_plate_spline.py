import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_recognition.rectification import thin_plate_spline as spline

SIZE = (6, 10)


def run(build, *arrays):
    """The value of a graph with inputs of an unknown batch size."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(tf.float32, [None, *array.shape[1:]]) for array in arrays]
        return session.run(build(*inputs), dict(zip(inputs, arrays, strict=True)))


def solve(frame, control_points, place):
    """The spline at a place, by the equations of the grid generator of arXiv:1603.03915."""

    def radial(first, second):
        squared = np.sum((first - second) ** 2)
        return squared * np.log(squared) if squared else 0.0

    count = len(frame)
    delta = np.zeros([count + 3, count + 3])
    for i, point in enumerate(frame):
        delta[i] = [1, *point, *(radial(point, center) for center in frame)]
        delta[count:, 3 + i] = [*point, 1]
    right = np.concatenate([control_points, np.zeros([3, 2])])
    weights = np.linalg.solve(delta, right)
    return [1, *place, *(radial(np.array(place), center) for center in frame)] @ weights


@pytest.mark.parametrize("count", [4, 6, 20])
def test_the_grid_is_that_of_the_equations(count):
    frame = spline.frame_points(count, (0.1, 0.2))
    points = frame + np.random.RandomState(1).normal(0, 0.1, [2, count, 2])
    grid = run(
        lambda points: spline.sampling_grid(points, SIZE, margins=(0.1, 0.2)),
        points.astype(np.float32),
    )
    assert grid.shape == (2, *SIZE, 2)
    for example, row, column in [(0, 0, 0), (0, 5, 9), (1, 2, 7), (1, 3, 0)]:
        place = ((column + 0.5) / SIZE[1], (row + 0.5) / SIZE[0])
        expected = solve(frame, points[example], place)
        np.testing.assert_allclose(grid[example, row, column], expected, atol=1e-5)


def test_the_spline_takes_the_frame_to_the_control_points_and_keeps_affine_maps():
    frame = spline.frame_points(20)
    np.testing.assert_allclose(spline.spline_matrix(frame, frame), np.eye(20), atol=1e-9)
    matrix, shift = np.array([[0.8, 0.3], [-0.2, 0.9]]), np.array([0.1, -0.2])
    frame = spline.frame_points(8)
    places = np.random.RandomState(1).rand(50, 2)
    mapped = spline.spline_matrix(frame, places) @ (frame @ matrix + shift)
    np.testing.assert_allclose(mapped, places @ matrix + shift, atol=1e-9)


def test_control_points_on_the_frame_give_the_image():
    images = np.random.RandomState(1).uniform(0, 255, [2, *SIZE, 3]).astype(np.float32)
    frame = np.tile(spline.frame_points(6), [2, 1, 1]).astype(np.float32)

    def build(images, points):
        return spline.sample(images, spline.sampling_grid(points, SIZE))

    np.testing.assert_allclose(run(build, images, frame), images, atol=1e-2)


def test_another_output_size_is_that_of_bilinear_resizing():
    images = np.random.RandomState(1).uniform(0, 255, [1, *SIZE, 1]).astype(np.float32)
    frame = spline.frame_points(6)[np.newaxis].astype(np.float32)

    def build(images, points):
        sampled = spline.sample(images, spline.sampling_grid(points, (9, 7)))
        return sampled, tf.image.resize_bilinear(images, (9, 7), half_pixel_centers=True)

    np.testing.assert_allclose(*run(build, images, frame), atol=1e-2)


def test_images_of_unknown_size():
    images = np.arange(12, dtype=np.float32).reshape([1, 3, 4, 1])
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None, None, None, 1])
        grid = tf.constant([[[[0.5, 0.5]]]])
        assert session.run(spline.sample(fed, grid), {fed: images}).item() == 5.5


def test_places_outside_are_those_of_the_edge_without_a_gradient():
    images = np.arange(12, dtype=np.float32).reshape([1, 3, 4, 1])
    grid = np.array([[[[-3, -3], [7, 0.5], [0.5, 9], [np.nan, 0.5]]]], np.float32)

    def build(images, grid):
        sampled = spline.sample(images, grid)
        return sampled, tf.gradients(sampled[:, :, :3], grid)[0]

    sampled, gradient = run(build, images, grid)
    np.testing.assert_array_equal(sampled.ravel(), [0, 7, 9.5, np.nan])
    # The second and the third place lie outside along one axis alone.
    np.testing.assert_array_equal(gradient[0, 0, :3], [[0, 0], [0, 12], [4, 0]])


def test_gradients_are_the_differences():
    random = np.random.RandomState(1)
    images = random.rand(2, 4, 5, 2).astype(np.float32)
    # Far enough from pixels, where the slope changes.
    cells, shares = random.randint(0, 3, [2, 3, 3, 2]), random.uniform(0.2, 0.8, [2, 3, 3, 2])
    grid = ((cells + shares + 0.5) / (5, 4)).astype(np.float32)
    points = spline.frame_points(6) + random.normal(0, 0.02, [1, 6, 2])
    with tf.Graph().as_default(), tf.Session():
        fed = [tf.constant(array, tf.float32) for array in (images, grid, points)]
        sampled = spline.sample(fed[0], fed[1])
        places = spline.sampling_grid(fed[2], (3, 4))
        for tensor, array, result, shape in (
            (fed[0], images, sampled, [2, 3, 3, 2]),
            (fed[1], grid, sampled, [2, 3, 3, 2]),
            (fed[2], points, places, [1, 3, 4, 2]),
        ):
            error = tf.test.compute_gradient_error(
                tensor, array.shape, result, shape, x_init_value=array, delta=1e-2
            )
            assert error < 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *((([n]), f"{n} control points.*an even number of at least 4") for n in (0, 2, 7)),
        ((4, (0.1, 0.5)), r"\(0.1, 0.5\).*less than 0.5"),
    ],
)
def test_numbers_of_control_points_and_margins_that_do_not_work(arguments, message):
    with pytest.raises(ConfigError, match=message):
        spline.frame_points(*arguments)
