"""`MovingAverageOptimizer`, and its Saver that writes the averages under the variables' names."""

from __future__ import annotations

import contextlib
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import switch_branches
from tf_frame_legacy.slim.variables import assign


class MovingAverageOptimizer(tf.train.Optimizer):
    """Applies gradients with another optimizer and keeps moving averages of the variables.

    The average of `X` is the variable `X/ExponentialMovingAverage`.

    Args:
      opt: the other optimizer.
      average_decay: share of the old average in the new one.
      num_updates: number of updates so far, which lowers the decay at first; None: no effect.
      sequential_update: whether the averages wait for the step, and take its results.
    """

    def __init__(
        self,
        opt: Any,
        average_decay: Any = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        super().__init__(use_locking=False, name="MovingAverage")
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update
        # Op name of a variable -> that of its average, and the reverse.
        self._swaps: dict[str, str] | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        pairs: list[tuple[Any, Any]] = self._optimizer.compute_gradients(*args, **kwargs)
        return pairs

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        pairs = list(grads_and_vars)
        step = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        changed = [variable for gradient, variable in pairs if gradient is not None]
        after = tf.control_dependencies([step] if self._sequential_update else [])
        # Branches that are functions cannot hold reference variables.
        with after, switch_branches():
            averages = self._ema.apply(changed)
        names = [(v.op.name, self._ema.average(v).op.name) for v in changed]
        self._swaps = {**dict(names), **{average: name for name, average in names}}
        return tf.group(step, averages, name="train_with_avg")

    def get_slot(self, var: Any, name: str) -> Any:
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> Any:
        return self._optimizer.get_slot_names()

    def variables(self) -> Any:
        return self._optimizer.variables()

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """Returns a Saver that exchanges the names of variables and averages.

        Its checkpoints have the averages under the names of the variables, for evaluations.

        Args:
          var_list: variables, or name in the checkpoint -> variable; None: all global variables.
          name: name of its operations.
          **kwargs: other arguments of `tf.train.Saver`.

        Raises:
          RuntimeError: there are no averages yet.
          ValueError: `var_list` has a variable but not its average.
        """
        if self._swaps is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        named = assign.by_saved_name(tf.global_variables() if var_list is None else var_list)
        by_op_name = {v.op.name: v for variables in named.values() for v in variables}
        swapped = {
            saved: assign.unpack([self._swapped(variable, by_op_name) for variable in variables])
            for saved, variables in named.items()
        }
        return tf.train.Saver(swapped, name=name, **kwargs)

    def _swapped(self, variable: Any, by_op_name: dict[str, Any]) -> Any:
        assert self._swaps is not None
        other = self._swaps.get(variable.op.name)
        if other is None:
            return variable
        with contextlib.suppress(KeyError):
            return by_op_name[other]
        raise ValueError(
            f"Variable to swap {other} is not part of variables to save. "
            "This breaks MovingAverageOptimizer."
        )
