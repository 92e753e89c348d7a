"""Saves checkpoints: at the start, by steps or seconds, and at the end.

A checkpoint is only written when every floating-point variable is finite, and
only counted when it is complete: a save that fails leaves the one before.
"""

from __future__ import annotations

import contextlib
import logging
import os
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.newest import known_checkpoints
from tf_frame.errors import CheckpointError, NonFiniteError, reason_of
from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.base import Cadence, Hook, Phase

_LOG = logging.getLogger("tf_frame")


class CheckpointHook(Hook):
    """Writes `model.ckpt-<global step>` into a folder.

    Args:
      model_dir: the folder.
      scaffold: whose saver writes.
      every_steps, every_secs: how often; give one.
    """

    phase = Phase.SAVE

    def __init__(
        self,
        model_dir: str,
        scaffold: Any,
        *,
        every_steps: int | None = None,
        every_secs: float | None = None,
    ) -> None:
        self._model_dir = model_dir
        self._scaffold = scaffold
        self._cadence = Cadence(every_steps=every_steps, every_secs=every_secs)
        self._saved_step: int | None = None

    def begin(self) -> None:
        self._global_step = tf.train.get_global_step()
        self._step = step_after_run()
        self._floats = [v for v in tf.global_variables() if v.dtype.base_dtype.is_floating]
        # One scalar a variable: run only when saving, and small to fetch.
        self._finite = [tf.reduce_all(tf.is_finite(v)) for v in self._floats]

    def after_create_session(self, session: Any, coord: Any) -> None:
        step = int(session.run(self._global_step))
        if self._prefix(step) in known_checkpoints(self._model_dir):
            self._saved_step = step
        else:
            self._save(session, step)
        self._cadence.mark(step)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_values.results)
        if self._cadence.wants(step):
            self._save(run_context.session, step)
            self._cadence.mark(step)

    def end(self, session: Any) -> None:
        step = int(session.run(self._global_step))
        if step != self._saved_step:
            self._save(session, step)

    def _prefix(self, step: int) -> str:
        return os.path.join(self._model_dir, f"model.ckpt-{step}")

    def _save(self, session: Any, step: int) -> None:
        self._check_finite(session, step)
        try:
            self._scaffold.saver.save(
                session,
                os.path.join(self._model_dir, "model.ckpt"),
                global_step=step,
                write_meta_graph=False,
            )
        except (tf.errors.AbortedError, tf.errors.UnavailableError):
            raise  # A lost worker or parameter server: the session is made anew.
        except (tf.errors.OpError, ValueError, OSError) as error:
            raise self._failed(step, error) from error
        self._saved_step = step
        _LOG.info("saved %s", self._prefix(step))

    def _check_finite(self, session: Any, step: int) -> None:
        finite = np.array(session.run(self._finite), dtype=bool)
        if not finite.all():
            bad = [v.op.name for v, ok in zip(self._floats, finite, strict=True) if not ok]
            raise NonFiniteError(
                f"{len(bad)} variables hold NaN or infinity at global step {step}, first "
                f"{', '.join(bad[:3])}; the step was not saved. Lower --learning_rate"
            )

    def _failed(self, step: int, error: Exception) -> CheckpointError:
        """Removes what the failed save left behind, and says what remains."""
        prefix = self._prefix(step)
        _remove_leftovers(prefix)
        kept = [path for path in known_checkpoints(self._model_dir) if path != prefix]
        remains = f"the last good checkpoint is {kept[-1]}" if kept else "there is none before it"
        return CheckpointError(
            f"the checkpoint of global step {step} could not be written: "
            f"{reason_of(error)}\n{remains}; free space in {self._model_dir}, check that it "
            "can be written, and run the same command again"
        )


def _remove_leftovers(prefix: str) -> None:
    """Removes what it can; the failure of the save is the one to report."""
    for leftover in tf.io.gfile.glob(prefix + ".*"):
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(leftover)
    with contextlib.suppress(tf.errors.OpError):
        tf.io.gfile.rmtree(prefix + "_temp")  # The shards of a sharded saver.
