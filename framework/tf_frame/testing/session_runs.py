"""A counter of session calls, for tests and benchmarks of the training loop.

A needless call or graph optimisation shows in the counts, and not only in noisy times.

    with counted_runs() as count:
        ...
    assert count.calls == 20
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from tensorflow.python.client import session as tf_session


@dataclasses.dataclass
class Count:
    """Numbers of session calls.

    Attributes:
      runs: calls of `Session.run`.
      calls: calls that were prepared by `Session.make_callable`, or by tf-frame.
      prepared: preparations of such calls, each with a graph that TensorFlow optimises.
    """

    runs: int = 0
    calls: int = 0
    prepared: int = 0


@contextlib.contextmanager
def counted_runs() -> Iterator[Count]:
    """Counts the calls of all sessions inside the block."""
    # The base class of all sessions; it has no public name.
    base, count = tf_session.BaseSession, Count()
    run = base.run

    def counted_run(session: Any, *args: Any, **kwargs: Any) -> Any:
        count.runs += 1
        return run(session, *args, **kwargs)

    def counted(make: Callable[..., Any]) -> Callable[..., Any]:
        def counted_make(session: Any, *args: Any, **kwargs: Any) -> Any:
            count.prepared += 1
            call = make(session, *args, **kwargs)

            def counted_call(*more: Any, **options: Any) -> Any:
                count.calls += 1
                return call(*more, **options)

            return counted_call

        return counted_make

    with mock.patch.multiple(
        base,
        run=counted_run,
        make_callable=counted(base.make_callable),
        _make_callable_from_options=counted(base._make_callable_from_options),
    ):
        yield count
