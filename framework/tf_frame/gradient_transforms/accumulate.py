"""The gradient transform `accumulate`: one update from the gradients of several batches.

    --transform accumulate:4

Four batches of 8 examples then make the same step as one batch of 32, with the
memory of a batch of 8.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars, dense

_COUNTER = "runs"
# Variable that counts the runs since the last update; only in the checkpoints of such a training.
RUNS_SINCE_UPDATE = f"accumulate/{_COUNTER}"


class Accumulate(GradientTransform):
    """Updates once per several batches, with the mean of their gradients.

    Each batch is a session run; the global step counts updates.

    Attributes:
      micro_batches: session runs per global step.
    """

    check_options: ClassVar[Mapping[str, Any]] = {"steps": 2}
    makes_dense: ClassVar[bool] = True

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the transform."""

        steps: int = option(1, "batches whose mean gradient makes one update", min=1)

    name: ClassVar[str] = "accumulate"

    def __init__(self, *, params: Any) -> None:
        super().__init__(params=params)
        self.micro_batches: int = params.steps
        self._ready: Any = None

    def __call__(self, grads_and_vars: GradsAndVars) -> GradsAndVars:
        """Adds up gradients over session runs.

        The sums and the number of runs are global variables (`accumulate/...`), so that
        checkpoints contain them and a run may be interrupted between two updates. A sum
        is on the device of its variable, and is dense even for a sparse gradient. Supports
        one worker only: several workers would add to the same sums.

        Returns:
          The pairs, with the sum of the gradients since the last update (including this
          run) divided by `steps`; None gradients are kept.

        Raises:
          ConfigError: the graph already accumulates gradients.
        """
        if self.params.steps == 1:
            return list(grads_and_vars)
        import tensorflow.compat.v1 as tf

        if tf.global_variables(RUNS_SINCE_UPDATE):
            raise ConfigError(
                "the transform accumulate is given twice; keep one, with the product of the steps"
            )

        def stored_zeros(name: str, shape: Any, dtype: Any) -> Any:
            zeros = tf.zeros_initializer()
            with tf.variable_scope("accumulate"):
                return tf.get_variable(name, shape, dtype, initializer=zeros, trainable=False)

        def store(variable: Any, value: Any) -> Any:
            """Stores the value for the next run, or zero if this run makes an update."""
            return tf.assign(variable, tf.where_v2(ready, tf.zeros_like(value), value))

        # Each variable is read once, in an addition, and all operations depend on the sum: a second
        # read of a reference variable could come before or after its update.
        counter = stored_zeros(_COUNTER, [], tf.int64)
        count = counter + 1
        ready = tf.equal(count, self.params.steps)
        updates = [store(counter, count)]
        means = []
        for gradient, variable in grads_and_vars:
            if gradient is not None:
                with tf.get_default_graph().colocate_with(variable.op):
                    dtype = gradient.dtype.base_dtype
                    stored_sum = stored_zeros(variable.op.name, variable.shape, dtype)
                    new_sum = stored_sum + dense(gradient, variable)
                    updates.append(store(stored_sum, new_sum))
                    gradient = new_sum / self.params.steps
            means.append((gradient, variable))
        with tf.control_dependencies(updates):
            self._ready = tf.identity(ready, name="accumulate/ready")
        return means

    def ready(self) -> Any:
        """Returns a scalar bool tensor: true in every `steps`-th run; None if `steps` is 1.

        A run of the tensor adds the gradients to the sums, or clears the sums if it is true.
        """
        return self._ready
