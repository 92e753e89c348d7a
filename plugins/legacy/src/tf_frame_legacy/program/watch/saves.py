"""Watches `Saver.save`: saves once more when a signal ends the program, and checks the values."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.errors import NonFiniteError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.session.interrupts import Interrupted, Interrupts

_LOG = logging.getLogger("tf_frame")


class WatchedSaves:
    """Remembers how the program saves, and may check what it saves.

    Args:
      check_finite: whether to refuse variables that are NaN or infinite.
    """

    def __init__(self, *, check_finite: bool) -> None:
        self._check_finite = check_finite
        self._last: tuple[Any, str, bool] | None = None
        self._save = tf.train.Saver.save

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Watches all savers within the block."""
        watched = self

        @functools.wraps(self._save)
        def save(
            saver: Any, sess: Any, save_path: str, global_step: Any = None, *args: Any, **words: Any
        ) -> Any:
            if watched._check_finite:
                check_finite(saver, sess)
            watched._last = (saver, save_path, global_step is not None)
            return watched._save(saver, sess, save_path, global_step, *args, **words)

        tf.train.Saver.save = save
        try:
            yield
        finally:
            tf.train.Saver.save = self._save

    def save_again(self, session: Any, step: int) -> str | None:
        """Saves as the program did last; returns the path, or None if it has never saved."""
        if self._last is None:
            return None
        saver, path, has_step = self._last
        if self._check_finite:
            check_finite(saver, session)
        saved: str = self._save(saver, session, path, step if has_step else None)
        return saved


class StopAndSaveHook(Hook):
    """Saves and ends the program between two steps, once a signal has arrived.

    Raises:
      Interrupted: from `after_run`, after the save.
    """

    phase = Phase.STOP

    def __init__(self, saves: WatchedSaves, interrupts: Interrupts) -> None:
        super().__init__()
        self._saves = saves
        self._interrupts = interrupts

    def after_run(self, run_context: Any, run_values: Any) -> None:
        super().after_run(run_context, run_values)
        if self._interrupts.received is None:
            return
        path = self._saves.save_again(run_context.session, self._last)
        saved = f"saved {path}" if path else "nothing was saved: the program has not saved yet"
        raise Interrupted(self._interrupts.received, saved)


def check_finite(saver: Any, session: Any) -> None:
    """Checks the variables of a saver.

    Raises:
      NonFiniteError: one is NaN or infinite; the message names it.
    """
    with session.graph.as_default():
        variables = [v for v in tf.global_variables() if v.dtype.base_dtype.is_floating]
    for variable, value in zip(variables, session.run(variables), strict=True):
        if not np.isfinite(np.asarray(value, np.float64)).all():
            raise NonFiniteError(
                f"the variable {variable.op.name} is NaN or infinite; nothing was saved"
            )
