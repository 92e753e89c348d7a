"""Fixtures that run one family of preprocessing on an image."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.plugin.contracts import NoParams


@pytest.fixture
def prepare():
    """Runs a family on an image of a size unknown to the graph: once for evaluation, or
    for training once with each seed."""

    def run(family, image, size, *, seeds=None):
        height, width = (size, size) if isinstance(size, int) else size
        preprocess = family(params=NoParams())
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder(tf.uint8, [None, None, image.shape[-1]])
            wanted = {"height": height, "width": width, "is_training": seeds is not None}
            if seeds is None:
                results = preprocess(fed, seed=tf.constant([0, 0]), **wanted)
                assert results.shape == [height, width, image.shape[-1]]
            else:
                results = tf.map_fn(
                    lambda seed: preprocess(fed, seed=seed, **wanted),
                    tf.constant([[7, seed] for seed in seeds], tf.int64),
                    fn_output_signature=tf.float32,
                )
                assert results.shape == [len(seeds), height, width, image.shape[-1]]
            return session.run(results, {fed: image})

    return run


@pytest.fixture(scope="session")
def photo():
    """A colourful image `[60, 80, 3]` in which no two places are alike."""
    return np.random.RandomState(0).randint(0, 256, [60, 80, 3], np.uint8)


@pytest.fixture(scope="session")
def ramp():
    """A smooth image `[60, 80, 3]`: red grows downwards, green to the right."""
    down, across = np.mgrid[0:60, 0:80]
    return np.stack([4 * down, 3 * across, 0 * down + 100], axis=2).astype(np.uint8)
