"""How the chief of a cluster tells the workers that training is over.

It sets a variable of the old name, `signal_early_stopping/STOP`, which stands
beside the global step, where all tasks find it. It is in no collection of
variables to be saved or initialised: checkpoints are the same with such a hook
as without, and a run that goes on from one is not stopped by what once stopped
another, as it would be with tf.estimator's.
"""

from __future__ import annotations

import logging
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.early_stopping import EarlyStoppingHook

_LOG = logging.getLogger("tf_frame")
_COLLECTION = "tf_frame/early_stopping"


class TellWorkersHook(Hook):
    """Stops the chief as another hook says, and tells the workers.

    Args:
      hook: decides.
    """

    phase = Phase.STOP

    def __init__(self, hook: EarlyStoppingHook) -> None:
        self._hook = hook
        super().__init__(hook.cadence)

    def begin(self) -> None:
        signal = _signal()
        self._set, self._unset = signal.assign(True).op, signal.assign(False).op

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        # The variable may hold what stopped a training before this one.
        session.run(self._unset)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._hook.after_step(run_context, run_values, step)
        if self._hook.reason:
            run_context.session.run(self._set)


class FollowChiefHook(Hook):
    """Stops a worker once the chief has said so."""

    phase = Phase.STOP

    def __init__(self) -> None:
        super().__init__(Cadence(every_steps=1))

    def begin(self) -> None:
        signal = _signal()
        # Until the chief has set it, it has no value.
        with tf.device(signal.device):
            self._stop = tf.cond(
                signal.is_initialized(), signal.read_value, lambda: tf.constant(False)
            )

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self._stop)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if run_values.results:
            _LOG.info("Early stopping requested, suspending run.")
            run_context.request_stop()


def _signal() -> Any:
    """The variable by which the chief tells the workers, where all of them find it.

    Raises:
      RuntimeError: the graph has no global step.
    """
    global_step = tf.train.get_global_step()
    if global_step is None:
        raise RuntimeError("early stopping in a cluster needs a global step in the graph")
    with (
        tf.device(global_step.device),
        tf.variable_scope("signal_early_stopping", reuse=tf.AUTO_REUSE),
    ):
        return tf.get_variable(
            "STOP",
            shape=[],
            dtype=tf.bool,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[_COLLECTION],
            use_resource=True,
        )
