"""`CheckpointHook`: saves at the start, every N steps or seconds, and at the end.

A run can always resume from the last good checkpoint: a checkpoint is kept only if every
floating-point variable is finite, and listed only when it is complete. Figures and summaries of its
steps are on disk before the checkpoint, so that a killed run lacks none of them. With
`--async_checkpoint` training goes on while the file is written.

    synchronous    write and check variables -> list -> delete old ones
    asynchronous   check and copy variables | in another thread: write -> list -> delete old ones
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import same_path
from tf_frame.checkpoint.names import checkpoint_path
from tf_frame.checkpoint.write.folder import KeptCheckpoints, atomic_checkpoint, remove_leftovers
from tf_frame.checkpoint.write.snapshot import (
    ArrayWriter,
    FiniteCheck,
    GraphWriter,
    add_extras,
    copy_tensors,
    find_shards,
)
from tf_frame.errors import CheckpointError, translated_write_errors
from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.background_writer import wait_for_background_writer
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence, Either, Follow, Multiples
from tf_frame.shell_text import shell_word
from tf_frame.text import short
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(eq=False)
class CheckpointHook(Hook):
    """Writes a checkpoint of the global step into a folder.

    The checkpoint has the variables of the scaffold's saver, which can restore it. With
    `asynchronous` training goes on as soon as the variables are copied; a failed write ends
    training at the next step. Only one write runs at a time: the next save, `wait`, `close` and
    `end` wait for the present write.

    Args:
      model_dir: the folder.
      scaffold: the `tf.compat.v1.train.Scaffold` with the saver.
      every_steps, every_secs: interval; with both, whichever ends first.
      multiples_of: also saves at the multiples of this number of steps, which do not postpone
        the interval; None: no multiples.
      follows: cadence of another hook; this hook saves at its steps, too. None: there is none.
      extras: name in the checkpoint -> further tensor, evaluated in every save. The mapping is
        read when the session is opened.
      listeners: `tf.compat.v1.train.CheckpointSaverListener`s, called as by TensorFlow's hook;
        `after_save` of an asynchronous save is called between two steps, after the checkpoint
        is complete.
      asynchronous: whether another thread writes. A saver with several shards, one for each
        parameter server, always writes synchronously.
      report: takes a line about a save that is synchronous because of shards.
      unless: called before every save; true skips the save and its listeners, such as after a
        loss that was not finite.
      max_to_keep: number of newest checkpoints that are kept. None or 0 deletes none, and the
        `checkpoint` file lists only the newest.
      keep_every_n_hours: keeps one older checkpoint for each period of so many hours, without
        listing it. None keeps no older checkpoint.

    Attributes:
      saved_step: the last step that was saved, or is being written; None: none yet.

    Raises:
      ValueError: neither steps nor seconds, or a number that is not positive.
    """

    phase = Phase.SAVE
    model_dir: str
    scaffold: Any
    _: dataclasses.KW_ONLY
    every_steps: int | None = None
    every_secs: float | None = None
    multiples_of: int | None = None
    follows: Cadence | None = None
    extras: Mapping[str, Any] | None = None
    listeners: Sequence[Any] = ()
    max_to_keep: int | None = 5
    keep_every_n_hours: float | None = None
    asynchronous: bool = False
    report: Callable[[str], None] = _LOG.warning
    unless: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        if self.every_steps is None and self.every_secs is None:
            raise ValueError("give every_steps, every_secs or both: how often to save")
        cadence = Cadence(every_steps=self.every_steps, every_secs=self.every_secs, first=False)
        also = [Multiples(self.multiples_of), Follow(self.follows or Cadence())]
        also = [each for each in also if each]
        super().__init__(Either(cadence, *also) if also else cadence)
        self.option = "--save_checkpoint_steps" if self.every_steps else "--save_checkpoint_secs"
        self._kept = KeptCheckpoints(
            self.model_dir,
            max_to_keep=self.max_to_keep,
            keep_every_n_hours=self.keep_every_n_hours,
        )
        # `should_stop` calls listeners after a save, and returns their requests to stop.
        self.asked_between_steps = self.asynchronous or bool(self.listeners)
        self.saved_step: int | None = None
        self._first_step: int | None = None
        # The checkpoint that another thread writes: future, step, and whether a listener may
        # stop training.
        self._pending: tuple[concurrent.futures.Future[None], int, bool] | None = None
        self._stop = False

    def begin(self) -> None:
        self._global_step = tf.train.get_global_step()
        self._check = FiniteCheck()
        self._shards = add_extras(find_shards(_find_saver(self.scaffold)), self.extras or {})
        if self.asynchronous and len(self._shards) > 1:
            self.asynchronous = False
            self.report(
                f"checkpoints are written synchronously: {len(self._shards)} devices write a "
                "shard each"
            )
        if self.asynchronous:
            self._array_writer = ArrayWriter(self._shards[0])
        else:
            self._graph_writer = GraphWriter(self._shards)
        for listener in self.listeners:
            listener.begin()

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._finish_save()
        self._session = session
        tf.io.gfile.makedirs(self.model_dir)
        self._folder = _identity(self.model_dir)
        remove_leftovers(self.model_dir)
        self._kept.recover()
        if any(same_path(path, self._prefix(step)) for path in self._kept.paths()):
            self.saved_step = step
        else:
            self._save(session, step, may_stop=False)
            self._first_step = step

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if step_after_run() is self._global_step:
            # Without a read after the update, the fetched value may be the step before.
            step = int(run_context.session.run(self._global_step))
        self._save(run_context.session, step, may_stop=True)
        if self._stop:
            run_context.request_stop()

    def should_stop(self) -> bool:
        if self._pending is not None and self._pending[0].done():
            self._finish_save()
        return self._stop

    def after_last_step(self, step: int) -> None:
        # Not in `end`: `end` of a script's hook may fail first.
        if step != self.saved_step:
            self._save(self._session, step, may_stop=False)

    def end(self, session: Session) -> None:
        step = int(session.run(self._global_step))
        self._session = session
        if step != self.saved_step:
            self._save(session, step, may_stop=False)
        self._finish_save()
        for listener in self.listeners:
            listener.end(session, step)

    def wait(self) -> None:
        """Waits until the checkpoint that is being written is complete.

        Raises:
          CheckpointError: it could not be written.
        """
        self._finish_save()

    def close(self) -> None:
        """Waits for a pending write, also after an error; only logs a failure of the write."""
        if self._pending is not None:
            (work, *_), self._pending = self._pending, None
            error = work.exception()
            if error is not None:
                _LOG.error("%s", error)

    def fail_before_first_step(self) -> None:
        # Then the same command with other options, which may not fit the checkpoint, can start.
        if self._first_step is not None and self.saved_step == self._first_step:
            self._kept.discard(self._prefix(self._first_step))

    def _prefix(self, step: int) -> str:
        return checkpoint_path(self.model_dir, step)

    def _save(self, session: Session, step: int, *, may_stop: bool) -> None:
        self._finish_save()
        if self.unless():
            _LOG.warning("global step %d is not saved", step)
            return
        wait_for_background_writer()
        for listener in self.listeners:
            listener.before_save(session, step)
        if self.asynchronous:
            values, is_finite = copy_tensors(session, self._shards[0], self._check)
            self._check.check(is_finite, step)
            # The interpreter waits for the thread before it exits.
            thread = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
            work = thread.submit(self._store, step, lambda to: self._array_writer.write(values, to))
            thread.shutdown(wait=False)
            self._pending = (work, step, may_stop)
        else:
            self._store(step, lambda to: self._write_checked(session, step, to))
            self._call_listeners(session, step, may_stop)
        self.saved_step = step

    def _write_checked(self, session: Session, step: int, prefix: str) -> None:
        """Writes a checkpoint; raises the error of a variable before the folder gets it."""
        is_finite = self._graph_writer.write(session, prefix, self._check.fetch)
        self._check.check(is_finite, step)

    def _store(self, step: int, write: Callable[[str], None]) -> None:
        if _identity(self.model_dir) != self._folder:
            raise CheckpointError(
                f"the folder {short(self.model_dir)} was removed or replaced while the run wrote "
                f"to it; global step {step} is not saved"
            )
        prefix = self._prefix(step)
        kept = [path for path in self._kept.paths() if path != prefix]
        remains = f"the last good checkpoint is {kept[-1]}" if kept else "there is none before it"
        with translated_write_errors(
            f"the checkpoint of global step {step} could not be written",
            f"{remains}; free space in {self.model_dir}, check that it can be written, and go "
            f"on with --model_dir {shell_word(self.model_dir)}",
            error_class=CheckpointError,
        ):
            atomic_checkpoint(prefix, write, publish=lambda: self._kept.add(prefix))
        _LOG.info("saved %s", prefix)

    def _finish_save(self) -> None:
        """Waits for a pending write, and calls the listeners."""
        if self._pending is not None:
            (work, step, may_stop), self._pending = self._pending, None
            work.result()
            self._call_listeners(self._session, step, may_stop)

    def _call_listeners(self, session: Session, step: int, may_stop: bool) -> None:
        stop_requests = [listener.after_save(session, step) for listener in self.listeners]
        # As in TensorFlow's hook, no request counts at the start or the end of a session.
        self._stop = self._stop or (may_stop and any(stop_requests))


def _identity(folder: str) -> tuple[int, int] | None:
    """Returns numbers that tell a folder from one that replaces it; None for a remote folder."""
    try:
        state = os.stat(folder)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _find_saver(scaffold: Any) -> Any:
    """Returns the saver that the scaffold has, or will take when it is finalized."""
    if scaffold.saver is not None:
        return scaffold.saver
    savers = tf.get_collection(tf.GraphKeys.SAVERS)
    if not savers:
        savers = [tf.train.Saver(sharded=True, save_relative_paths=True)]
        tf.add_to_collection(tf.GraphKeys.SAVERS, savers[0])
    return savers[0]
