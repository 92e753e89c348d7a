"""A monitored session over a training graph: created, restored, recovered by TensorFlow."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.match import check_match, not_used
from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.cluster import Cluster
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.base import in_phase_order

logger = logging.getLogger("tf_frame")


@dataclasses.dataclass
class Restored:
    """Where the variables of the present session came from.

    Attributes:
      path: path prefix of the checkpoint; None if they are new, or another task's.
    """

    path: str | None = None


class _NewestCheckpointCreator(tf.train.SessionCreator):
    """Makes the chief's sessions, each from the newest readable checkpoint.

    Asked again after a lost session, it finds what has been saved meanwhile.
    """

    def __init__(
        self,
        graph: TrainGraph,
        model_dir: str,
        target: str,
        config: Any,
        note: Callable[[str], None],
        restored: Restored,
    ) -> None:
        self._restored = restored
        self._lost_sessions = 0
        self._graph = graph
        self._model_dir = model_dir
        self._target = target
        self._config = config
        self._note = note

    def create_session(self) -> Any:
        # Of the first one a run has said what is damaged, when it looked how far it had come.
        note = self._note if self._lost_sessions else None
        self._lost_sessions += 1
        path = self._restored.path = newest_checkpoint(self._model_dir, note)
        if path is not None:
            check_match(path, tf.global_variables())
            unused = not_used(path, tf.global_variables())
            if unused:
                self._note(f"warning: {unused}")
        return tf.train.ChiefSessionCreator(
            self._graph.scaffold,
            master=self._target,
            config=self._config,
            checkpoint_filename_with_path=path,
        ).create_session()


def monitored_session(
    graph: TrainGraph,
    *,
    hooks: Iterable[Any],
    model_dir: str,
    cluster: Cluster,
    config: Any,
    note: Callable[[str], None] = logger.warning,
    restored: Restored | None = None,
) -> Any:
    """Creates the session of one worker.

    Args:
      graph: what to run; must be the default graph.
      hooks: called in phase order.
      model_dir: where the chief finds its checkpoint.
      cluster: this worker; others than the chief wait for its variables.
      config: the `ConfigProto`.
      note: takes a line about the checkpoint that is restored.
      restored: is told which one that is, before any hook hears of the session.

    Returns:
      A `tf.compat.v1.train.MonitoredSession`, to be used in a `with` block.
    """
    if cluster.is_chief:
        creator: Any = _NewestCheckpointCreator(
            graph, model_dir, cluster.target, config, note, restored or Restored()
        )
    else:
        creator = tf.train.WorkerSessionCreator(
            graph.scaffold, master=cluster.target, config=config
        )
    return tf.train.MonitoredSession(session_creator=creator, hooks=in_phase_order(hooks))
