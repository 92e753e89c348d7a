"""Creates the `MonitoredSession` of a training graph, which restores and recovers it.

Unlike `MonitoredTrainingSession` it adds no hooks, restores the newest checkpoint that can be
read after a lost session, and lists every variable that does not fit before it restores.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.checkpoint.find.reader import check_match, not_used
from tf_frame.cluster import Cluster
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.base import in_phase_order
from tf_frame.hooks.input_position import RestoredCheckpoint

logger = logging.getLogger("tf_frame")


@dataclasses.dataclass
class _ChiefCreator(tf.train.SessionCreator):
    """Makes the chief's sessions: the first from a given checkpoint, later ones from the newest.

    A session that is made after another one was lost may find a newer checkpoint.
    """

    graph: TrainGraph
    model_dir: str
    target: str
    config: Any
    first_checkpoint: str | None
    restored: RestoredCheckpoint
    report: Callable[[str], None]
    is_first: bool = True

    def create_session(self) -> Any:
        path = self.restored.path = self._checkpoint()
        if path is not None:
            check_match(path, tf.global_variables())
            unused = not_used(path, tf.global_variables())
            if unused:
                self.report(f"warning: {unused}")
        return tf.train.ChiefSessionCreator(
            self.graph.scaffold,
            master=self.target,
            config=self.config,
            checkpoint_filename_with_path=path,
        ).create_session()

    def _checkpoint(self) -> str | None:
        if self.is_first:
            self.is_first = False
            return self.first_checkpoint
        return newest_checkpoint(self.model_dir, self.report)


def monitored_session(
    graph: TrainGraph,
    *,
    hooks: Iterable[Any],
    model_dir: str,
    cluster: Cluster,
    config: Any,
    checkpoint: str | None = None,
    restored: RestoredCheckpoint | None = None,
    report: Callable[[str], None] = logger.warning,
) -> Any:
    """Creates the session of one worker.

    Args:
      graph: what to run; must be the default graph.
      hooks: called in phase order.
      model_dir: where the chief looks for a checkpoint after a lost session.
      cluster: this worker; others than the chief wait for its variables.
      config: the `ConfigProto`.
      checkpoint: restored by the chief's first session; None: the variables are new.
      restored: gets the path of the restored checkpoint, before any hook is called.
      report: takes a line about the checkpoint that is restored.

    Returns:
      A `tf.compat.v1.train.MonitoredSession`, to be used in a `with` block.
    """
    if cluster.is_chief:
        restored = restored or RestoredCheckpoint()
        creator: Any = _ChiefCreator(
            graph, model_dir, cluster.target, config, checkpoint, restored, report
        )
    else:
        creator = tf.train.WorkerSessionCreator(
            graph.scaffold, master=cluster.target, config=config
        )
    return tf.train.MonitoredSession(session_creator=creator, hooks=in_phase_order(hooks))
