"""The session and the learning phase of tf.keras.backend, which Keras 3 lacks.

The session is one of TensorFlow 1. Layers of Keras 3 take `training=True` instead of a phase.
"""

from __future__ import annotations

import logging
from typing import Any

import tensorflow.compat.v1 as tf

_LOG = logging.getLogger("tf_frame")
_phase = 0
_session: Any = None


def get_session(op_input_list: Any = ()) -> Any:
    """Returns the default session, else the one of `set_session`, else a new one.

    A new session has the default graph and initialises the variables that are uninitialised.

    Args:
      op_input_list: not used.
    """
    global _session
    session = tf.get_default_session() or _session
    if session is None or session.graph is not tf.get_default_graph():
        session = _session = tf.Session()
    _initialize(session)
    return session


def set_session(session: Any) -> None:
    """Sets the session that `get_session` returns."""
    global _session
    _session = session


def learning_phase() -> int:
    """Returns the value of `set_learning_phase`; 0 at first."""
    return _phase


def set_learning_phase(value: int | bool) -> None:
    """Sets the value of `learning_phase`; the layers of Keras 3 do not read it.

    Raises:
      ValueError: neither 0 nor 1.
    """
    global _phase
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    if value:
        _LOG.warning(
            "set_learning_phase(1): layers of Keras 3 do not read it; call them with training=True"
        )
    _phase = int(value)


def manual_variable_initialization(value: bool) -> None:
    """Accepts True and False; `get_session` initialises variables that are uninitialised."""


def _initialize(session: Any) -> None:
    with session.graph.as_default():
        variables = tf.global_variables()
        if not variables:
            return
        missing = set(session.run(tf.report_uninitialized_variables(variables)))
        new = [v for v in variables if v.op.name.encode() in missing]
        if new:
            session.run(tf.variables_initializer(new))
