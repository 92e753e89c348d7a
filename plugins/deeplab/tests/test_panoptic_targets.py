"""Labels of instances against NumPy, and through the augmentation of `nuclei`."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import compute
from tf_frame import InputContext, Mode
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.nuclei import Nuclei, Params
from tf_frame_deeplab.panoptic.targets import Targets, edge_map

MAP = np.array(
    [
        [0, 0, 7, 7, 7, 0, 0],
        [0, 0, 7, 7, 9, 9, 0],
        [0, 0, 0, 9, 9, 9, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [3, 0, 0, 0, 0, 0, 0],
    ],
    np.int32,
)


def make_labels(instances, known=None, sigma=1.5):
    known = np.ones(instances.shape, bool) if known is None else known
    targets = Targets(center_sigma=sigma, edge_width=3, ignore_label=255)
    return compute(targets, instances, known)


def reference(instances, sigma):
    """Heat map and offsets, pixel by pixel."""
    heat, offsets = np.zeros(instances.shape), np.zeros([*instances.shape, 3])
    for number in set(instances.ravel()) - {0}:
        center = np.argwhere(instances == number).mean(axis=0)
        for place in np.ndindex(instances.shape):
            distance = np.sum((np.array(place) - center) ** 2)
            if distance <= 9 * sigma**2:
                heat[place] = max(heat[place], np.exp(-distance / (2 * sigma**2)))
            if instances[place] == number:
                offsets[place] = (*(center - place), 1)
    return heat, offsets


@pytest.mark.parametrize("sigma", [0.6, 1.5])
def test_heat_map_and_offsets_equal_numpy(sigma):
    labels = make_labels(MAP, sigma=sigma)
    heat, offsets = reference(MAP, sigma)
    np.testing.assert_allclose(labels["instance_center"][..., 0], heat, atol=1e-6)
    np.testing.assert_allclose(labels["instance_offset"], offsets, atol=1e-6)
    np.testing.assert_array_equal(labels["instances"], MAP)
    # An image without instances has empty labels.
    labels = make_labels(np.zeros([4, 5], np.int32), sigma=sigma)
    for name in ("instance_center", "instance_offset", "edge"):
        assert not labels[name].any()


def test_edges_lie_between_instances_and_not_at_unknown_pixels():
    known = np.ones(MAP.shape, bool)
    known[:, 6] = False
    edges = compute(lambda *args: edge_map(*args, 3), MAP, known)
    for row, column in np.ndindex(MAP.shape):
        window = (slice(max(row - 1, 0), row + 2), slice(max(column - 1, 0), column + 2))
        differ = len(set(MAP[window][known[window]])) > 1
        assert edges[row, column] == (known[row, column] and differ)
    assert (make_labels(MAP, known)["edge"][:, 6] == 255).all()


@pytest.mark.slow
def test_labels_of_a_crop_are_those_of_its_instances():
    """Offsets of scaled, cut and mirrored crops point to the centres in the crops."""
    source = Nuclei(params=Params(instances=True, crop_size=48))
    with tf.Graph().as_default():
        batches = read_elements(source.dataset(Mode.TRAIN, InputContext(batch_size=3)), 2)
    for _, labels in batches:
        for index, instances in enumerate(labels["instances"]):
            heat, offsets = reference(instances, 4.0)
            np.testing.assert_allclose(labels["instance_center"][index, ..., 0], heat, atol=1e-3)
            np.testing.assert_allclose(labels["instance_offset"][index], offsets, atol=1e-3)
        nuclei = labels["semantic"] == 1
        assert not labels["instances"][~nuclei].any()
        assert (labels["instances"] > 0).sum() > 0.95 * nuclei.sum() > 0


@pytest.mark.slow
def test_the_semantic_labels_are_those_of_a_run_without_instances():
    def first(**params):
        source = Nuclei(params=Params(crop_size=48, **params))
        with tf.Graph().as_default():
            dataset = source.dataset(Mode.TRAIN, InputContext(batch_size=3))
            ((features, labels),) = read_elements(dataset, 1)
        return features["image"], labels

    image, labels = first()
    image_too, more = first(instances=True)
    assert list(labels) == ["semantic"]
    np.testing.assert_array_equal(image, image_too)
    np.testing.assert_array_equal(labels["semantic"], more["semantic"])
