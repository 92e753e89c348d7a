"""`SummaryHook`: writes summaries in the background; and the event writer of a folder.

TensorBoard then drops the summaries that a killed run wrote after its last checkpoint.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import reason_of
from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples

_LOG = logging.getLogger("tf_frame")
# Seconds between two flushes of an event file.
_FLUSH_SECS = 1.0


class SummaryHook(Hook):
    """Writes the summary op every N steps or seconds, and at the first step of a session.

    A process writes its graph once into each folder, so a resumed run adds the graph
    that it trains.

    Args:
      model_dir: where the event file goes.
      summary_op: scalar string tensor, such as `tf.compat.v1.summary.merge_all` returns.
      every_steps: steps from one summary to the next.
      every_secs: seconds likewise; of both, whichever comes first.
      name: folder within `model_dir`, such as `eval`, for another phase than
        training; TensorBoard shows it as a run of its own.
      report: takes a warning if summaries cannot be written; default: the log of tf-frame.

    Raises:
      ValueError: no folder; neither steps nor seconds, or one that is not positive.
    """

    phase = Phase.OBSERVE
    option = "--save_summaries_steps"

    def __init__(
        self,
        model_dir: str,
        summary_op: Any,
        *,
        every_steps: int | None = None,
        every_secs: float | None = None,
        name: str | None = None,
        report: Callable[[str], None] = _LOG.warning,
    ) -> None:
        if not model_dir:
            raise ValueError(f"model_dir is {model_dir!r}; summaries need a folder to go to")
        if every_steps is None and every_secs is None:
            raise ValueError("give every_steps, every_secs or both; no summary was asked for")
        super().__init__(Multiples(every_steps, first=1, every_secs=every_secs))
        self._folder = os.path.join(model_dir, name) if name else model_dir
        self._summary_op = summary_op
        self._report = report

    def begin(self) -> None:
        self._writer = event_writer(self._folder, report=self._report)

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        # TensorBoard drops events at or after this step: a killed run left those behind.
        self._writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), step + 1)

    def before_step(self, run_context: Any, step: int) -> Any:
        return tf.train.SessionRunArgs(self._summary_op)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        write_in_background(self._writer.add_summary, run_values.results, step)

    def end(self, session: Any) -> None:
        self.close()
        self._writer.flush()

    def close(self) -> None:
        wait_for_background_writer()


def event_writer(folder: str, *, report: Callable[[str], None] | None = None) -> Any:
    """The one `tf.compat.v1.summary.FileWriter` of a folder in this process.

    One, because TensorBoard reads the event files of a folder one after the
    other and never goes back. Making it writes the default graph.

    TensorFlow names an event file by the second and the host: a second one made
    within that second would truncate the first. So each is numbered here by the
    event files that are there before it.

    Once the file cannot be written, such as on a full disk, events are dropped with one warning:
    training goes on, and ends when a checkpoint cannot be written either.

    Args:
      folder: where the event file goes; is made if need be.
      report: takes the warning; default: the log of tf-frame.
    """
    # There is no public way to ask or to tell the cache; other hooks look there.
    cache = tf.summary.FileWriterCache._cache
    if folder not in cache:
        before = len(tf.io.gfile.glob(os.path.join(folder, "events.out.tfevents.*")))
        cache[folder] = tf.summary.FileWriter(
            folder, graph=tf.get_default_graph(), filename_suffix=f".{before}" if before else None
        )
        cache[folder].event_writer = _EventFile(cache[folder].event_writer, folder)
    if report is not None and isinstance(cache[folder].event_writer, _EventFile):
        cache[folder].event_writer.report = report
    return cache[folder]


class _EventFile:
    """TensorFlow's writer of an event file, which drops events that cannot be written.

    TensorFlow notices a full disk only when it flushes the file, by default every two minutes.

    Args:
      writer: the `event_writer` of a `FileWriter`.
      folder: its folder, for the warning.
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
            self.flush()
            self._flush_at = time.monotonic() + _FLUSH_SECS

    def flush(self) -> None:
        self._try(self._writer.flush)

    def close(self) -> None:
        self._try(self._writer.close)

    def _try(self, function: Callable[..., object], *arguments: Any) -> None:
        if self._failed:
            return
        try:
            function(*arguments)
        except (OSError, RuntimeError, tf.errors.OpError) as error:
            self._failed = True
            self.report(
                f"warning: summaries cannot be written to {self._folder}: {reason_of(error)}; "
                "training goes on without them; free space there for the next checkpoint"
            )
