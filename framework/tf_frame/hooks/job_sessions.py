"""Hooks that connect the session of a worker with the sessions of the other workers of its job."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.agreement import Agreement
from tf_frame.hooks.base import Hook, Phase
from tf_frame.types import Session, Tensor


@dataclasses.dataclass(eq=False)
class BroadcastHook(tf.train.SessionRunHook):
    """Copies the chief's variables to every worker, if each worker has variables of its own.

    Args:
      broadcast: the operation; waits for all workers.
      check_error: called with an error of the operation; may raise another error instead.
    """

    phase = Phase.TRANSFORM
    broadcast: Any
    check_error: Callable[[Exception], None]

    def after_create_session(self, session: Session, coord: Any) -> None:
        try:
            session.run(self.broadcast)
        except tf.errors.OpError as error:
            self.check_error(error)
            raise


@dataclasses.dataclass(eq=False)
class OpenSessionHook(tf.train.SessionRunHook):
    """Lets the other workers begin when a session of the chief is ready.

    Until then some variables may be restored and others not.
    """

    phase = Phase.STOP
    agreement: Agreement

    def after_create_session(self, session: Session, coord: Any) -> None:
        self.agreement.open_session()


class WatchingHook(Hook):
    """Runs a tensor with every step, because all workers must run the same collectives.

    Args:
      watched: scalar float tensor, always finite.
    """

    def __init__(self, watched: Tensor) -> None:
        super().__init__()
        self.watched = watched
