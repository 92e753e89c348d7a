"""`tf.compat.v1.train.CheckpointSaverHook` without its extra session call in every step.

Scripts and `tf_frame_legacy.training` use this hook. Runs of tf-frame save with
`hooks.checkpoint.CheckpointHook`, unless a script passes this hook.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.checkpoint.names import PREFIX
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.summary import cached_writer
from tf_frame.types import Session


def write_graph(graph: Any, folder: str) -> None:
    """Writes a graph with its shapes as text, to `graph.pbtxt` in a folder.

    `tf.train.write_graph` takes ten times as long, because it sorts the attributes.
    """
    text = str(graph.as_graph_def(add_shapes=True))
    write_file(os.path.join(folder, "graph.pbtxt"), text)


@dataclasses.dataclass(eq=False)
class CheckpointSaverHook(Hook):
    """Saves with a `tf.compat.v1.train.Saver` every N steps or seconds.

    Arguments, errors, files, calls of listeners and saved steps follow TensorFlow's hook
    (python/training/basic_session_run_hooks.py). TensorFlow's hook reads the global step in every
    step with an extra session call; this hook only in steps that may be saved.

    Args:
      checkpoint_dir: the folder.
      save_secs, save_steps: seconds or steps between checkpoints; give one of the two.
      saver: the saver; default: the saver of the scaffold, or the only saver in the
        collection SAVERS.
      checkpoint_basename: prefix of the file names.
      scaffold: a `tf.compat.v1.train.Scaffold`.
      listeners: `tf.compat.v1.train.CheckpointSaverListener`s.
      save_graph_def: whether to write `graph.pbtxt`, and a `.meta` for every checkpoint.

    Raises:
      ValueError: both of saver and scaffold, or not exactly one of steps and seconds.
      RuntimeError: from `begin`: the graph has no global step. Without saver and scaffold, the
        collection SAVERS has none or several.
    """

    phase = Phase.SAVE
    both_protocols = True

    checkpoint_dir: str
    save_secs: float | None = None
    save_steps: int | None = None
    saver: Any = None
    checkpoint_basename: str = PREFIX
    scaffold: Any = None
    listeners: Sequence[Any] | None = None
    save_graph_def: bool = True

    def __post_init__(self) -> None:
        if self.saver is not None and self.scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        # The timer raises the errors of TensorFlow's hook.
        tf.train.SecondOrStepTimer(every_secs=self.save_secs, every_steps=self.save_steps)
        cadence = Cadence(every_steps=self.save_steps, every_secs=self.save_secs, first=False)
        super().__init__(cadence)
        self._path = os.path.join(self.checkpoint_dir, self.checkpoint_basename)
        # The name of TensorFlow's hook, to which a run adds its listeners.
        self._listeners = self.listeners or []

    def begin(self) -> None:
        self._writer = cached_writer(self.checkpoint_dir)
        self._global_step = tf.train.get_global_step()
        if self._global_step is None:
            raise RuntimeError("Global step should be created to use CheckpointSaverHook.")
        for listener in self._listeners:
            listener.begin()

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._write_graph()
        self._save(session, step)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if step != self._saved_step and self._save(run_context.session, step):
            run_context.request_stop()

    # Graphs of scripts have no read of the global step after the update, which `Hook` needs. So
    # the step before the update decides whether to read the step again.

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if not self.cadence.wants(int(run_values.results) + 1):
            return
        step = int(run_context.session.run(self._global_step))
        if step != self._saved_step and self.cadence.wants(step):
            self.cadence.mark(step)
            self.after_step(run_context, run_values, step)

    def end(self, session: Session) -> None:
        step = int(session.run(self._global_step))
        if step != self._saved_step:
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _write_graph(self) -> None:
        graph = tf.get_default_graph()
        if self.save_graph_def:
            write_graph(graph, self.checkpoint_dir)
        self._writer.add_graph(graph)
        self._writer.add_meta_graph(
            tf.train.export_meta_graph(graph=graph, saver_def=self._get_saver().saver_def)
        )

    def _save(self, session: Session, step: int) -> bool:
        """Saves, and returns whether a listener wants training to end."""
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(
            session, self._path, global_step=step, write_meta_graph=self.save_graph_def
        )
        self._saved_step = step
        log = tf.SessionLog(status=tf.SessionLog.CHECKPOINT, checkpoint_path=self._path)
        self._writer.add_session_log(log, step)
        stops = [listener.after_save(session, step) for listener in self._listeners]
        return any(stops)

    def _get_saver(self) -> Any:
        if self.saver is None and self.scaffold is not None:
            return self.scaffold.saver
        if self.saver is None:
            self.saver = _only_saver()
        return self.saver


def _only_saver() -> Any:
    savers = tf.get_collection(tf.GraphKeys.SAVERS)
    if not savers:
        raise RuntimeError(
            f"No items in collection {tf.GraphKeys.SAVERS}. Please add a saver to the collection "
            "or provide a saver or scaffold."
        )
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {tf.GraphKeys.SAVERS}. Please indicate which one "
            "to use by passing it to the constructor."
        )
    return savers[0]
