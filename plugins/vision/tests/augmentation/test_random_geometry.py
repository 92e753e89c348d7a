"""Random changes follow from their seeds, draw all values, and can be resumed exactly."""

import dataclasses

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_vision import augmentation
from tf_frame_vision.augmentation import Sample, colour, draws
from tf_frame_vision.example_input import ExampleInput, ExampleOptions, Split
from tf_frame_vision.reading.examples import example, read_by_function


def augmented(sample, seed):
    """Every random change, one after the other."""
    scaling, cropping, padding, flip, turn, light = draws.split(seed, 6)
    sample = augmentation.random_scale(sample, 0.8, 1.6, scaling)
    sample = augmentation.random_crop(sample, 6, 7, cropping)
    sample = augmentation.random_crop_or_pad(sample, 8, 8, padding, mask_fill=255)
    sample = augmentation.random_flip(sample, flip)
    sample = augmentation.random_rotate_90(sample, turn)
    return sample._replace(image=colour.brightness(sample.image, 32.0, light))


def sample(image):
    boxes, points = tf.constant([[1.0, 2.0, 3.0, 5.0]]), tf.constant([[2.5, 3.5]])
    return Sample(tf.cast(image, tf.float32), tf.cast(image > 99, tf.int32), boxes, points)


def results(change, seeds, image=None):
    """The outcome of a change for each seed."""
    image = np.arange(108).reshape(9, 12, 1) if image is None else image
    with tf.Graph().as_default(), tf.Session() as session:
        seed = tf.placeholder(tf.int32, [2])
        changed = change(sample(tf.constant(image)), seed)
        return [session.run(changed, {seed: value}) for value in seeds]


@pytest.mark.slow
def test_the_seed_decides_and_all_flips_rotations_and_scales_are_drawn():
    first, again, other = results(augmented, [[1, 2], [1, 2], [1, 3]])
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.image, other.image)
    assert not np.array_equal(first.boxes, other.boxes)
    found = results(augmentation.random_flip, [[1, seed] for seed in range(200)])
    mirrored = [one.image[0, 0, 0] != 0 for one in found]
    assert 0.35 < np.mean(mirrored) < 0.65
    found = results(augmentation.random_rotate_90, [[1, seed] for seed in range(200)])
    corners = [int(one.image[0, 0, 0]) for one in found]
    counts = np.unique(corners, return_counts=True)
    assert counts[0].tolist() == [0, 11, 96, 107]
    assert min(counts[1]) > 30

    # Scales are drawn from the whole range.
    def scaled(sample, seed):
        return augmentation.random_scale(sample, 0.5, 2.0, seed)

    found = results(scaled, [[1, seed] for seed in range(200)], np.zeros([20, 20, 1], int))
    heights = [one.image.shape[0] for one in found]
    assert 10 <= min(heights) < 12 and 38 < max(heights) <= 40


@dataclasses.dataclass(frozen=True)
class Params(ExampleOptions):
    pass


class Marked(ExampleInput):
    """Ten images in memory with a mask, a box and a point each."""

    Params = Params
    names_examples = False

    def __init__(self, *, params):
        super().__init__(params=params)
        self.splits = dict.fromkeys(Mode, Split(10, None))

    def read(self, split, order):
        pixels = tf.constant(np.random.RandomState(0).randint(0, 256, [10, 9, 12, 3]), tf.uint8)
        specs = {"image": tf.TensorSpec([None, None, 3], tf.uint8)}
        return read_by_function(
            order, lambda index: example(specs, {"image": pixels[index]}, "image")
        )

    def prepare(self, example, *, is_training, seed):
        marked = sample(example["image"])
        if is_training:
            marked = augmented(marked, seed)
        features = {"image": marked.image}
        return features, {"mask": marked.masks, "boxes": marked.boxes, "points": marked.points}


@pytest.mark.slow
@pytest.mark.parametrize("num_clones", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_an_input_that_augments_can_be_resumed_exactly(num_clones):
    check_exact_resume(Marked(params=Params()), batch_size=3, steps=3, num_clones=num_clones)
