"""`prepared_call`: a session call for every step, which resolves its fetches only once.

`tf.Session.run` checks and orders its fetches in every call, and `tf.Session.make_callable` does
half of this work in every call. The work takes longer than a small step; a prepared call omits it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tensorflow.core.protobuf import config_pb2


def prepared_call(
    session: Any,
    fetches: Iterable[str],
    *,
    targets: Iterable[str] = (),
    feeds: Iterable[str] = (),
    options: Any = None,
) -> Callable[..., list[Any]]:
    """Prepares a call of a session.

    Args:
      session: the `tf.Session`.
      fetches: names of tensors, each once.
      targets: names of operations that run too.
      feeds: names of tensors that are fed.
      options: `tf.compat.v1.RunOptions` of every run; None: the default.

    Returns:
      A function of the fed values, NumPy scalars or arrays; it returns the values of `fetches`.
    """
    call: Callable[..., list[Any]] = session._make_callable_from_options(
        config_pb2.CallableOptions(fetch=fetches, target=targets, feed=feeds, run_options=options)
    )
    return call
