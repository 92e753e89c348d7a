"""`TowerOptimizer`: gradients of all towers, applied once.

A tower is a clone of `replicate_model_fn`. Each tower calls the optimizer; the calls before the
last tower's only record their gradients.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.update.gradients import sum_gradients

_COLLECTION = "tf_frame_legacy/towers"


@dataclasses.dataclass
class Towers:
    """The towers that are being built in the default graph.

    Attributes:
      number: number of towers.
      sums: whether losses and gradients are added up; else they are averaged.
      tower: index of the tower that is being built.
      scopes: variable scope and name scope of the first tower.
      calls: the gradients of each call of `apply_gradients`, for each tower.
      used: whether a `TowerOptimizer` made a gradient or an update.
    """

    number: int = 1
    sums: bool = False
    tower: int = 0
    scopes: tuple[Any, str] = (None, "")
    calls: list[list[Any]] = dataclasses.field(default_factory=list)
    used: bool = False

    @contextlib.contextmanager
    def building(self) -> Iterator[None]:
        """Makes these the towers of the default graph."""
        towers = tf.get_collection_ref(_COLLECTION)
        towers.append(self)
        try:
            yield
        finally:
            # A collection with an object of Python cannot be exported.
            tf.get_default_graph().clear_collection(_COLLECTION)

    def begin(self) -> None:
        """Notes that the next tower begins, in the default scopes."""
        self.tower = len(self.calls)
        self.calls.append([])
        if self.tower == 0:
            scope = tf.get_variable_scope()
            self.scopes = scope, tf.get_default_graph().get_name_scope()

    def latest_gradients(self) -> list[list[Any]]:
        """Returns the gradients of each tower for the latest call of the last tower."""
        index = len(self.calls[-1]) - 1
        self.check_same_calls(all(len(calls) > index for calls in self.calls))
        return [calls[index] for calls in self.calls]

    def check_same_calls(self, same: bool | None = None) -> None:
        """Raises a ValueError unless each tower has called as many optimizers as the others."""
        if same is None:
            same = len({len(calls) for calls in self.calls}) <= 1
        if not same:
            raise ValueError(
                "Each invocation of model_fn was supposed to make the same optimizer calls."
            )

    def scaled(self, loss: Any) -> Any:
        """Returns the part of the loss of one tower in the loss of all."""
        if loss is None or self.number == 1 or self.sums:
            return loss
        return tf.divide(loss, float(self.number), name="averaged_loss")


class TowerOptimizer(tf.train.Optimizer):  # type: ignore[misc]
    """Applies the gradients of all towers in the last one; without towers, the wrapped optimizer.

    Every tower has to call the same optimizers in the same order.

    Args:
      optimizer_or_optimizer_fn: the optimizer, or a function without arguments that returns it.
    """

    def __init__(self, optimizer_or_optimizer_fn: Any | Callable[[], Any]) -> None:
        self._optimizer_or_optimizer_fn = optimizer_or_optimizer_fn

    @staticmethod
    def has_been_used() -> bool:
        """Returns whether the towers of the default graph have called a `TowerOptimizer`."""
        return current_towers().used

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the pairs of gradient and variable of one tower."""
        return self._get_optimizer().compute_gradients(
            current_towers().scaled(loss), *args, **kwargs
        )

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any) -> Any:
        """Returns the update in the last tower, and an operation without effect in others."""
        optimizer = self._get_optimizer()

        def update(pairs: Any) -> Any:
            return optimizer.apply_gradients(pairs, global_step=global_step, **kwargs)

        return apply_to_towers(grads_and_vars, update)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a slot of the wrapped optimizer."""
        return self._get_optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the names of the slots of the wrapped optimizer."""
        return self._get_optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the name of the wrapped optimizer."""
        return self._get_optimizer().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the variables of the wrapped optimizer."""
        return self._get_optimizer().variables(*args, **kwargs)

    def _get_optimizer(self) -> Any:
        if callable(self._optimizer_or_optimizer_fn):
            # Not earlier: the function is called in the graph of the model.
            self._optimizer_or_optimizer_fn = self._optimizer_or_optimizer_fn()
        current_towers().used = True
        return self._optimizer_or_optimizer_fn


def current_towers() -> Towers:
    """Returns the towers of the default graph; a single tower if it has none."""
    towers = tf.get_collection(_COLLECTION)
    return towers[-1] if towers else Towers()


def apply_to_towers(grads_and_vars: Any, update: Callable[[Any], Any]) -> Any:
    """Returns the update of the gradients of all towers; before the last one only records them.

    Args:
      grads_and_vars: the gradients of the tower that is being built.
      update: applies gradients, as `apply_gradients`.
    """
    towers = current_towers()
    if towers.number == 1:
        return update(grads_and_vars)
    pairs = [pair for pair in grads_and_vars if pair[0] is not None]
    towers.calls[towers.tower].append(pairs)
    if towers.tower < towers.number - 1:
        with tf.control_dependencies([gradient for gradient, _ in pairs]):
            return tf.no_op(name="train_op_placeholder")
    variable_scope, name_scope = towers.scopes
    # Slots and update have the names that they have without towers.
    with tf.variable_scope(variable_scope), tf.name_scope(f"{name_scope}/".lstrip("/")):
        with tf.name_scope("gradient_aggregating"):
            summed = sum_gradients(_aligned(towers.latest_gradients()))
        return update(summed)


def _aligned(gradients: list[list[Any]]) -> list[list[Any]]:
    """Returns the pairs of each tower in the same order; None for a missing gradient."""
    variables = {variable.ref(): variable for pairs in gradients for _, variable in pairs}
    by_variable = [{variable.ref(): gradient for gradient, variable in p} for p in gradients]
    return [[(found.get(key), v) for key, v in variables.items()] for found in by_variable]
