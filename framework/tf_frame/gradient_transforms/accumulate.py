"""The gradient transform `accumulate`: one update from the gradients of several batches.

    --transform accumulate:4

Four batches of 8 then make the step of one batch of 32, in the memory of 8.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from tf_frame import GradientTransform, option
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars, dense

_SCOPE = "accumulate"
_COUNTER = "runs"


class Accumulate(GradientTransform):
    """Updates once every so many batches, with the mean of their gradients.

    A batch is a session run; the global step counts updates. See `accumulate_gradients`.

    Attributes:
      micro_batches: session runs that make one global step.
    """

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
        mean, self._ready = accumulate_gradients(grads_and_vars, self.params.steps)
        return mean

    def ready(self) -> Any:
        return self._ready


def accumulate_gradients(grads_and_vars: GradsAndVars, steps: int) -> tuple[GradsAndVars, Any]:
    """Adds up gradients over session runs.

    The sums and the count of runs are global variables (`accumulate/...`), so
    that a checkpoint holds them and a run may stop between two updates. A sum
    lies on the device of its variable and is dense even where the gradient is
    sparse. One worker only: several would add to the same sums at once.

    Args:
      grads_and_vars: pairs; None gradients pass.
      steps: runs from one update to the next; with 1 nothing is added.

    Returns:
      The pairs with the mean gradient of the runs since the last update, this
      one included, over `steps`; and `ready`, a scalar bool tensor, true in
      each `steps`-th run. Evaluating `ready` is what adds this run's gradients
      to the sums, or clears them when it is true; None if `steps` is 1.

    Raises:
      ConfigError: this graph accumulates already.
    """
    if steps == 1:
        return list(grads_and_vars), None
    import tensorflow.compat.v1 as tf

    # A reference variable is only read by `+`, which copies, and everything follows from that
    # one sum: no read may come before or after an update by chance.
    counter = _counter()
    count = counter + 1
    ready = tf.equal(count, steps)
    updates = [_keep(counter, count, ready)]
    means = []
    for gradient, variable in grads_and_vars:
        if gradient is not None:
            with tf.get_default_graph().colocate_with(variable.op):
                total = _total(gradient, variable)
                updates.append(_keep(*total, ready))
                gradient = total[1] / steps
        means.append((gradient, variable))
    with tf.control_dependencies(updates):
        return means, tf.identity(ready, name="accumulate/ready")


def _counter() -> Any:
    import tensorflow.compat.v1 as tf

    with tf.variable_scope(_SCOPE) as scope:
        name = f"{scope.name}/{_COUNTER}"
        if any(variable.op.name == name for variable in tf.global_variables()):
            raise ConfigError("accumulate is there twice; keep one, with the product of the steps")
        return _zeros(_COUNTER, [], tf.int64)


def _total(gradient: Any, variable: Any) -> tuple[Any, Any]:
    """The variable that holds the sum, and the sum with this run's gradient."""
    import tensorflow.compat.v1 as tf

    with tf.variable_scope(_SCOPE):
        held = _zeros(variable.op.name, variable.shape, gradient.dtype.base_dtype)
    return held, held + dense(gradient, variable)


def _zeros(name: str, shape: Any, dtype: Any) -> Any:
    import tensorflow.compat.v1 as tf

    zeros = tf.zeros_initializer()
    return tf.get_variable(name, shape, dtype, initializer=zeros, trainable=False)


def _keep(held: Any, value: Any, ready: Any) -> Any:
    """Stores the value for the next run, or zero where this one makes an update."""
    import tensorflow.compat.v1 as tf

    return tf.assign(held, tf.where_v2(ready, tf.zeros_like(value), value))
