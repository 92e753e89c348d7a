"""The model function and the data of `MirroredStrategy`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import tensorflow.compat.v1 as tf

from tf_frame.estimator.argument_checks import called_with
from tf_frame.estimator.model_function.spec import ModeKeys
from tf_frame.plugin import InputContext, Mode
from tf_frame_legacy.contrib.estimator.merged_specs import merge_training
from tf_frame_legacy.contrib.estimator.replicate import TowerDevices, build_towers
from tf_frame_legacy.contrib.estimator.tower_optimizer import apply_to_towers, current_towers


class MirroredSource:
    """An input whose elements are `((batch of clone 0, batch of clone 1, ...), None)`.

    Args:
      source: the input of one clone, a data set of pairs of features and labels.
      number: number of clones.
    """

    def __init__(self, source: Any, number: int) -> None:
        self._source, self._number = source, number

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def dataset(self, mode: Mode, context: InputContext) -> Any:
        """Returns the data set; see `tf_frame.Input.dataset`.

        Raises:
          ValueError: the input function does not return a data set.
        """
        batches = self._source.dataset(mode, context)
        if not isinstance(batches, tf.compat.v2.data.Dataset):
            raise ValueError("dataset_fn() must return a tf.data.Dataset when using a strategy.")
        # A last group without a batch for each clone is left out.
        windows = batches.window(self._number, drop_remainder=True)
        return windows.map(lambda *window: (self._elements(window), None))

    def _elements(self, window: Any) -> tuple[Any, ...]:
        elements = tf.compat.v2.data.Dataset.zip(window)
        return tuple(
            tf.data.experimental.get_single_element(elements.skip(index).take(1))
            for index in range(self._number)
        )


def mirrored_model_fn(model_fn: Callable[..., Any], devices: Sequence[str]) -> Callable[..., Any]:
    """Returns a model function that builds a clone on each device in training.

    Args:
      model_fn: builds one clone, and applies the gradients by a `tf.train.Optimizer`.
      devices: the devices; one of them evaluates and predicts.
    """
    tower_devices = TowerDevices(num_clones=len(devices), devices=tuple(devices))

    def mirrored(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        arguments = {"mode": mode, "params": params, "config": config}
        if mode != ModeKeys.TRAIN:
            with tf.device(devices[0]):
                return called_with(model_fn, features=features, labels=labels, **arguments)

        def build_tower(batch: tuple[Any, Any]) -> Any:
            with _own_losses():
                return called_with(model_fn, features=batch[0], labels=batch[1], **arguments)

        with _aggregating_optimizers():
            specs = build_towers(build_tower, features, tower_devices, sums=False)
        if len(specs) == 1:
            return specs[0]
        with tf.device(tower_devices.variables):
            return merge_training(specs)

    return mirrored


@contextlib.contextmanager
def _own_losses() -> Iterator[None]:
    """Hides the losses of other clones, so that `tf.losses.get_total_loss` leaves them out."""
    losses = tf.get_collection_ref(tf.GraphKeys.LOSSES)
    others = losses[:]
    del losses[:]
    try:
        yield
    finally:
        losses[:0] = others


@contextlib.contextmanager
def _aggregating_optimizers() -> Iterator[None]:
    """Lets each `tf.train.Optimizer` apply the gradients of all clones in the last one.

    The original did so inside the base class, which programs cannot wrap.
    """
    compute, apply = tf.train.Optimizer.compute_gradients, tf.train.Optimizer.apply_gradients

    def compute_gradients(self: Any, loss: Any, *args: Any, **kwargs: Any) -> Any:
        return compute(self, current_towers().scaled(loss), *args, **kwargs)

    def apply_gradients(
        self: Any, grads_and_vars: Any, global_step: Any = None, name: Any = None
    ) -> Any:
        def update(pairs: Any) -> Any:
            return apply(self, pairs, global_step=global_step, name=name)

        current_towers().used = True
        return apply_to_towers(grads_and_vars, update)

    with (
        mock.patch.object(tf.train.Optimizer, "compute_gradients", compute_gradients),
        mock.patch.object(tf.train.Optimizer, "apply_gradients", apply_gradients),
    ):
        yield
