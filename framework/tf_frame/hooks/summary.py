"""`SummaryHook` writes summaries in the background; `event_writer` returns a folder's writer.

The hook makes TensorBoard drop the summaries that a killed run wrote after its last checkpoint.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import short_reason
from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.types import Session, Tensor

_LOG = logging.getLogger("tf_frame")
# Seconds between two flushes of an event file.
_FLUSH_SECS = 1.0


@dataclasses.dataclass(eq=False)
class SummaryHook(Hook):
    """Writes the summary op every N steps or seconds, and at the first step of a session.

    A process writes its graph once into each folder.

    Args:
      model_dir: folder of the event file.
      summary_op: scalar string tensor, such as `tf.compat.v1.summary.merge_all` returns.
      every_steps: steps from one summary to the next.
      every_secs: seconds from one summary to the next; with both, whichever ends first.
      companions: tensors that are fetched together with the summaries, because another hook needs
        both at the first step: TensorFlow prepares the graph for each new set of fetches.
      name: folder within `model_dir`, such as `eval`; TensorBoard shows it as a separate run.
      report: takes a warning if summaries cannot be written; default: the log of tf-frame.

    Raises:
      ValueError: no folder; neither steps nor seconds, or one that is not positive.
    """

    phase = Phase.OBSERVE
    option = "--save_summaries_steps"

    model_dir: str
    summary_op: Tensor
    _: dataclasses.KW_ONLY
    every_steps: int | None = None
    every_secs: float | None = None
    companions: Sequence[Tensor] = ()
    name: str = ""
    report: Callable[[str], None] = _LOG.warning

    def __post_init__(self) -> None:
        if not self.model_dir:
            raise ValueError(f"model_dir is {self.model_dir!r}; summaries need a folder to go to")
        if self.every_steps is None and self.every_secs is None:
            raise ValueError("give every_steps, every_secs or both; no summary was asked for")
        super().__init__(Multiples(self.every_steps, first=1, every_secs=self.every_secs))

    def begin(self) -> None:
        folder = os.path.join(self.model_dir, self.name) if self.name else self.model_dir
        self._writer = event_writer(folder, report=self.report)

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        # TensorBoard drops the events of a killed run at this step and later steps.
        self._writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), step + 1)

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs([self.summary_op, *self.companions])

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        write_in_background(self._writer.add_summary, run_values.results[0], step)

    def end(self, session: Session) -> None:
        self.close()
        self._writer.flush()

    def close(self) -> None:
        """Closes the file after events in the background; raises the errors of that thread."""
        wait_for_background_writer()


def event_writer(folder: str, *, report: Callable[[str], None] | None = None) -> Any:
    """Returns the only `tf.compat.v1.summary.FileWriter` of a folder in this process.

    Only one, because TensorBoard reads the event files of a folder one after the other and never
    goes back. A new writer writes the default graph as it is now, in the background: with the
    shapes of its tensors that takes a tenth of a second for a large graph.

    If the file cannot be written, such as on a full disk, events are dropped with one warning:
    training goes on, and ends when a checkpoint cannot be written either.

    Args:
      folder: folder of the event file; is made if necessary.
      report: takes the warning; default: the log of tf-frame.
    """
    is_new = folder not in tf.summary.FileWriterCache._cache
    writer = cached_writer(folder, writes_graph=False)
    if is_new:
        writer.event_writer = _EventFile(writer.event_writer, folder)
        graph = tf.get_default_graph()
        write_in_background(_write_graph, writer, graph, graph.as_graph_def())
    if report is not None and isinstance(writer.event_writer, _EventFile):
        writer.event_writer.report = report
    return writer


def _write_graph(writer: Any, graph: Any, definition: Any) -> None:
    """Writes the definition of a graph with shapes, but for those within functions.

    The constructor of a `FileWriter` would write the graph once more, as a `MetaGraphDef`, which
    TensorBoard does not read.
    """
    for node in definition.node:
        outputs = graph.get_operation_by_name(node.name).outputs
        if outputs:
            shapes = [tensor.shape.as_proto() for tensor in outputs]
            node.attr["_output_shapes"].list.shape.extend(shapes)
    writer.add_event(tf.Event(wall_time=time.time(), graph_def=definition.SerializeToString()))


def cached_writer(folder: str, *, writes_graph: bool = True) -> Any:
    """Returns the `FileWriter` of a folder, as `tf.compat.v1.summary.FileWriterCache.get`.

    TensorFlow names an event file by the second and the host, and so a second file within this
    second, such as one of a run that was killed and resumed, would truncate the first. A suffix
    with the number of event files prevents that.

    Args:
      folder: folder of the event file; is made if necessary.
      writes_graph: whether a new writer writes the default graph.
    """
    # The cache has no public access, and other hooks use it.
    cache = tf.summary.FileWriterCache._cache
    if folder not in cache:
        count = len(tf.io.gfile.glob(os.path.join(folder, "events.out.tfevents.*")))
        cache[folder] = tf.summary.FileWriter(
            folder,
            graph=tf.get_default_graph() if writes_graph else None,
            filename_suffix=f".{count}" if count else None,
        )
    return cache[folder]


class _EventFile:
    """Wraps TensorFlow's writer of an event file; drops events that cannot be written.

    TensorFlow notices a full disk only when it flushes the file, by default every two minutes;
    the wrapper flushes every second.
    """

    def __init__(self, writer: Any, folder: str) -> None:
        self.report: Callable[[str], None] = _LOG.warning
        self._writer = writer
        self._folder = folder
        self._flush_at = time.monotonic() + _FLUSH_SECS
        self._failed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def add_event(self, event: Any) -> None:
        self._try(self._writer.add_event, event)
        if time.monotonic() > self._flush_at:
            self._try(self._writer.flush)
            self._flush_at = time.monotonic() + _FLUSH_SECS

    def flush(self) -> None:
        """Writes all events, also those in the background; raises the errors of that thread."""
        wait_for_background_writer()
        self._try(self._writer.flush)

    def close(self) -> None:
        """Closes the file after events in the background; raises the errors of that thread."""
        wait_for_background_writer()
        self._try(self._writer.close)

    def _try(self, function: Callable[..., object], *arguments: Any) -> None:
        if self._failed:
            return
        try:
            function(*arguments)
        except (OSError, RuntimeError, tf.errors.OpError) as error:
            self._failed = True
            self.report(
                f"warning: summaries cannot be written to {self._folder}: {short_reason(error)}; "
                "training goes on without them; free space there for the next checkpoint"
            )
