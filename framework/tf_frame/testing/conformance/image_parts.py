"""`NetworkConformance`, `PreprocessingConformance`: suites for networks and preprocessing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.plugin import NetworkContext
from tf_frame.plugin.kinds import NETWORK, PREPROCESSING
from tf_frame.testing.conformance.outcomes import fails_as, reported_by
from tf_frame.testing.conformance.suite import Conformance

_BATCH, _CLASSES = 2, 7
_SIZE, _IMAGE = (40, 48), (60, 50)


class NetworkConformance(Conformance):
    """The checks of networks; none of them runs the network."""

    kind = NETWORK

    def test_builds_twice_in_fresh_graphs(self) -> None:
        """The same object builds the same variables for training and, in a new graph, inference."""
        with fails_as("the network cannot be built for training"):
            _, trained = self.built()
        with fails_as("the same object fails in a second graph; keep no tensors on it"):
            _, inferring = self.built(is_training=False)
        names = sorted(set(trained) ^ set(inferring))
        assert not names, (
            f"training and inference make different variables: {', '.join(names[:3])}; make all of "
            "them for both, or a checkpoint does not fit"
        )

    def test_logits_have_the_declared_shape(self) -> None:
        """For the default image size it returns `[batch, num_classes]` logits and end points."""
        with reported_by("test_builds_twice_in_fresh_graphs"):
            returned, _ = self.built()
        pair = isinstance(returned, tuple) and len(returned) == 2
        assert pair and isinstance(returned[1], Mapping), (
            f"the network returned {returned!r:.80}; return logits, and a dict of end points"
        )
        logits = returned[0]
        assert logits.shape.as_list() == [_BATCH, _CLASSES], (
            f"for {_BATCH} images and {_CLASSES} classes the logits have the shape {logits.shape}; "
            f"expected [{_BATCH}, {_CLASSES}]"
        )

    def built(self, *, is_training: bool = True) -> tuple[Any, list[str]]:
        """Returns the outputs of the network, and the names of its variables.

        Args:
          is_training: whether the network is built for training.
        """
        network = self.kept("network", self.made_plugin)
        return self.kept(f"{is_training}", lambda: _built(network, is_training))


def _built(network: Any, is_training: bool) -> tuple[Any, list[str]]:
    size, channels = network.default_image_size, network.channels or 3
    with tf.Graph().as_default():
        images = tf.zeros([_BATCH, size, size, channels])
        context = NetworkContext(num_classes=_CLASSES, is_training=is_training)
        returned = network(images, context)
        return returned, [variable.op.name for variable in tf.global_variables()]


class PreprocessingConformance(Conformance):
    """The checks of preprocessing, on a picture of random colours."""

    kind = PREPROCESSING

    def test_gives_the_declared_size(self) -> None:
        """It returns `[height, width, channels]` float32, for training and without."""
        for is_training in (True, False):
            with fails_as("the preprocessing fails"):
                tensor, (image, _) = self.prepared(is_training=is_training)
            assert tensor.dtype == tf.float32, (
                f"the image comes as {tensor.dtype.name}; return float32"
            )
            expected = (*_SIZE, image.shape[-1])
            assert image.shape == expected and tensor.shape.is_compatible_with(expected), (
                f"an image of {_IMAGE[0]} x {_IMAGE[1]} comes as {list(image.shape)} "
                f"({tensor.shape}); expected {list(expected)}"
            )

    def test_is_finite_and_depends_on_the_seed_alone(self) -> None:
        """The values are finite, and the same for the same seed."""
        for is_training in (True, False):
            with reported_by("test_gives_the_declared_size"):
                _, (image, again) = self.prepared(is_training=is_training)
            assert np.all(np.isfinite(image)), "the image has values that are not finite"
            assert np.array_equal(image, again), (
                "the same image and seed give other values; use stateless random operations with "
                "the seed (tf.random.stateless_uniform)"
            )

    def prepared(self, *, is_training: bool) -> tuple[Any, Any]:
        """Returns the tensor `[height, width, channels]` of a prepared image, and two values of it.

        Args:
          is_training: whether the image is prepared for training.
        """
        return self.kept(f"{is_training}", lambda: _prepared(self.made_plugin(), is_training))


def _prepared(preprocessing: Any, is_training: bool) -> tuple[Any, Any]:
    picture = np.random.RandomState(0).randint(0, 256, [*_IMAGE, 3]).astype(np.uint8)
    with tf.Graph().as_default():
        image = tf.placeholder(tf.uint8, [None, None, 3])
        prepared = preprocessing(
            image,
            height=_SIZE[0],
            width=_SIZE[1],
            is_training=is_training,
            seed=tf.constant([1, 2], tf.int64),
        )
        assert prepared is not None, "the preprocessing returned None; return the image"
        with tf.Session() as session:
            return prepared, [session.run(prepared, {image: picture}) for _ in range(2)]
