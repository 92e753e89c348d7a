"""Anchors: figures of the object detection API's tests (tensorflow/models,
research/object_detection/anchor_generators), and a loop over cells.
"""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_detection.boxes.anchors import (
    grid_anchors,
    multiscale_anchors,
    ssd_anchors,
    ssd_shapes,
)


def run(build, *sizes, dynamic=False):
    with tf.Graph().as_default(), tf.Session() as session:
        given = [tf.placeholder_with_default(tf.constant(s), [2]) if dynamic else s for s in sizes]
        return session.run(build(*given))


def test_published_anchors_of_one_cell_an_odd_size_and_an_octave():
    # GridAnchorGeneratorTest.test_construct_single_anchor.
    anchors = run(
        lambda size: grid_anchors(size, aspect_ratios=(0.25, 1.0, 4.0), offset=(7, -3)), (1, 1)
    )
    expected = [
        *([-121, -35, 135, 29], [-249, -67, 263, 61], [-505, -131, 519, 125]),
        *([-57, -67, 71, 61], [-121, -131, 135, 125], [-249, -259, 263, 253]),
        *([-25, -131, 39, 125], [-57, -259, 71, 253], [-121, -515, 135, 509]),
    ]
    np.testing.assert_allclose(anchors, expected, rtol=1e-5)
    # test_construct_single_anchor_with_odd_input_dimension.
    anchors = run(lambda size: multiscale_anchors([size], [32], image_size=(65, 65), **ONE), (3, 3))
    corners = [[row, column] for row in (-64, -32, 0) for column in (-64, -32, 0)]
    np.testing.assert_allclose(anchors, [[r, c, r + 128, c + 128] for r, c in corners])
    # test_construct_single_anchor_with_two_scales_per_octave_and_aspect.
    anchors = run(
        lambda size: multiscale_anchors([size], [64], scales_per_octave=2, aspect_ratios=(1, 2)),
        (1, 1),
    )
    expected = [
        *([-96, -96, 160, 160], [-149.0193, -149.0193, 213.0193, 213.0193]),
        *([-58.50967, -149.0193, 122.50967, 213.0193], [-96, -224, 160, 288]),
    ]
    np.testing.assert_allclose(anchors, expected, rtol=1e-5)
    assert run(grid_anchors, (0, 3)).shape == (0, 4)


@pytest.mark.parametrize("dynamic", [False, True])
def test_published_grid(dynamic):
    # GridAnchorGeneratorTest.test_construct_anchor_grid, also with a dynamic shape.
    options = {"aspect_ratios": (1.0,), "base_size": (10, 10), "stride": (19, 19)}
    anchors = run(lambda size: grid_anchors(size, **options), (2, 2), dynamic=dynamic)
    expected = [
        *([-2.5, -2.5, 2.5, 2.5], [-5, -5, 5, 5], [-10, -10, 10, 10]),
        *([-2.5, 16.5, 2.5, 21.5], [-5, 14, 5, 24], [-10, 9, 10, 29]),
        *([16.5, -2.5, 21.5, 2.5], [14, -5, 24, 5], [9, -10, 29, 10]),
        *([16.5, 16.5, 21.5, 21.5], [14, 14, 24, 24], [9, 9, 29, 29]),
    ]
    np.testing.assert_allclose(anchors, expected)


ONE = {"aspect_ratios": (1.0,), "scales_per_octave": 1}


@pytest.mark.parametrize("dynamic", [False, True])
def test_published_levels(dynamic):
    # MultiscaleGridAnchorGeneratorTest.test_construct_single_anchor_on_two_feature_maps.
    anchors = run(
        lambda *sizes: multiscale_anchors(sizes[:2], (32, 64), image_size=sizes[2], **ONE),
        *((2, 2), (1, 1), (64, 64)),
        dynamic=dynamic,
    )
    expected = [
        *([-48, -48, 80, 80], [-48, -16, 80, 112], [-16, -48, 112, 80], [-16, -16, 112, 112]),
        [-96, -96, 160, 160],
    ]
    np.testing.assert_allclose(anchors, expected)


def test_areas_of_retinanet_and_scales_of_ssd():
    # Section 4 of https://arxiv.org/abs/1708.02002.
    anchors = run(lambda *sizes: multiscale_anchors(sizes, (8, 16, 32, 64, 128)), *[(1, 1)] * 5)
    sides = np.sqrt(np.prod(anchors[:, 2:] - anchors[:, :2], axis=1)).reshape([5, 3, 3])
    octave = 2 ** (np.arange(3) / 3)
    np.testing.assert_allclose(
        sides, 32 * 2.0 ** np.arange(5)[:, None, None] * np.tile(octave, [3, 1]), rtol=1e-5
    )
    # Section 2.2 of https://arxiv.org/abs/1512.02325: linear from 0.2, one more of sqrt(s s').
    shapes = ssd_shapes(6)
    assert shapes[0] == [(0.1, 1.0), (0.2, 2.0), (0.2, 0.5)]
    scales = 0.2 + 0.15 * np.arange(6)
    for layer, scale, following in zip(shapes[1:], scales[1:], [*scales[2:], 1], strict=True):
        expected = [*[scale] * 5, np.sqrt(scale * following)]
        np.testing.assert_allclose([s for s, _ in layer], expected)
        np.testing.assert_allclose([r for _, r in layer], [1, 2, 1 / 2, 3, 1 / 3, 1])
    assert ssd_shapes(1, reduce_lowest_layer=False, interpolated_aspect_ratio=0)[0][0] == (0.2, 1)
    given = ssd_shapes(2, scales=(0.3, 0.5), aspect_ratios=(1.0,), reduce_lowest_layer=False)
    np.testing.assert_allclose([s for s, _ in given[0] + given[1]], [0.3, 0.15**0.5, 0.5, 0.5**0.5])


LAYERS = ((38, 38), (19, 19), (10, 10), (5, 5), (3, 3), (1, 1))


@pytest.mark.parametrize(("reduced", "count"), [(True, 7308), (False, 11640)])
def test_published_number_of_anchors_of_ssd(reduced, count):
    # CreateSSDAnchorsTest.test_create_ssd_anchors_returns_correct_shape.
    shapes = ssd_shapes(6, reduce_lowest_layer=reduced)
    assert sum(len(shape) * h * w for shape, (h, w) in zip(shapes, LAYERS, strict=True)) == count
    if reduced:
        assert run(lambda *sizes: ssd_anchors(sizes, (300, 300)), *LAYERS).shape == (count, 4)


@pytest.mark.parametrize("dynamic", [False, True])
def test_anchors_of_ssd_of_an_oblong_image(dynamic):
    shapes = [[(0.2, 2.0), (0.3, 1.0)], [(0.5, 0.5)]]
    anchors = run(
        lambda a, b, image: ssd_anchors((a, b), image, shapes),
        *((2, 3), (1, 2), (100, 150)),
        dynamic=dynamic,
    )
    expected = []
    for (height, width), layer in zip(((2, 3), (1, 2)), shapes, strict=True):
        for i, j in np.ndindex(height, width):
            center = np.array([(i + 0.5) * 100 / height, (j + 0.5) * 150 / width])
            for scale, ratio in layer:
                half = 100 * scale * np.array([ratio**-0.5, ratio**0.5]) / 2
                expected.append([*(center - half), *(center + half)])
    np.testing.assert_allclose(anchors, expected, rtol=1e-5, atol=1e-4)
