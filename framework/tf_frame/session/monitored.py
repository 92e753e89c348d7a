"""Creates the `MonitoredSession` of a training graph; restores checkpoints, also after a failure.

Unlike `MonitoredTrainingSession`, the session adds no hooks. An error lists all variables that do
not fit a checkpoint. After a lost session, the newest readable checkpoint is restored.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.checkpoint.find.reader import check_match, describe_unused
from tf_frame.graph.ready import add_ready_operations, needs_global_state
from tf_frame.graph.train_graph import TrainGraph
from tf_frame.hooks.base import in_phase_order
from tf_frame.hooks.input_position import RestoredCheckpoint
from tf_frame.session.job_member import JobMember

_LOOK_SECS, _TRY_SECS = 0.2, 1.0
# A session that is opened later than this after the last one follows another loss.
_OTHER_LOSS_SECS = 10.0


@dataclasses.dataclass
class _ChiefCreator(tf.train.SessionCreator):
    """Opens the chief's sessions: the first from a given checkpoint, later ones from the newest.

    After a lost session there may be a newer checkpoint.
    """

    graph: TrainGraph
    config: Any
    member: JobMember
    first_checkpoint: str | None
    restored: RestoredCheckpoint
    is_first: bool = True
    _said: str = ""
    _tried_at: float = 0.0

    def create_session(self) -> Any:
        self.member.wait_for_servers()
        add_ready_operations()
        path = self.restored.path = self._checkpoint()
        self.member.begin_session(path)
        if path is not None:
            check_match(path, tf.global_variables())
            unused = describe_unused(path, tf.global_variables())
            if unused:
                self.member.report(f"warning: {unused}")
        return _new_session(self.graph, self.config, self.member, path)

    def _checkpoint(self) -> str | None:
        if self.is_first:
            self.is_first = False
            return self.first_checkpoint
        path = newest_checkpoint(self.member.model_dir, self.member.report)
        self._report(f"a server was lost; training goes on from {path or 'new variables'}")
        return path

    def _report(self, text: str) -> None:
        """Reports a loss once: until a new server answers, a session fails again and again."""
        last, self._tried_at = self._tried_at, time.monotonic()
        if text != self._said or self._tried_at - last > _OTHER_LOSS_SECS:
            self.member.report(text)
        self._said = text


@dataclasses.dataclass
class _WorkerCreator(tf.train.SessionCreator):
    """Opens the sessions of another worker, once the chief has initialised the variables.

    TensorFlow's creator looks only every 30 seconds, and waits for two hours.
    """

    graph: TrainGraph
    config: Any
    member: JobMember

    def create_session(self) -> Any:
        self.member.wait_for_servers()
        add_ready_operations()
        scaffold = self.graph.scaffold
        scaffold.finalize()
        manager = tf.train.SessionManager(
            local_init_op=scaffold.local_init_op,
            local_init_feed_dict=scaffold.local_init_feed_dict,
            ready_op=scaffold.ready_op,
            ready_for_local_init_op=scaffold.ready_for_local_init_op,
            graph=self.graph.graph,
            recovery_wait_secs=_LOOK_SECS,
        )
        for _ in self.member.waiting_for_chief():
            session = self._with_variables(manager) if self.member.chief_is_ready() else None
            # Initialised variables may still get the values of a checkpoint.
            if session is not None and self.member.chief_is_ready():
                return session
            if session is not None:
                session.close()
            time.sleep(_LOOK_SECS)
        raise AssertionError("the wait ends with an error")

    def _with_variables(self, manager: Any) -> Any:
        """Returns a session once all variables have values; None if that takes too long."""
        try:
            return manager.wait_for_session(
                self.member.cluster.target, config=self.config, max_wait_secs=_TRY_SECS
            )
        except tf.errors.DeadlineExceededError:
            return None


class _AllReduceCreator(_WorkerCreator):
    """Opens the sessions of a worker that holds all variables; `BroadcastHook` copies values."""

    def create_session(self) -> Any:
        self.member.wait_for_servers()
        add_ready_operations()
        return _new_session(self.graph, self.config, self.member, None)


def _new_session(graph: TrainGraph, config: Any, member: JobMember, path: str | None) -> Any:
    """Opens a session, and initialises the variables or restores a checkpoint.

    As `ChiefSessionCreator`, but global variables are not looked at between their initialisation
    and that of local variables: the look before the first step names them, too. Nothing is looked
    at after TensorFlow's own initialisation, which sets all variables, in one run where the order
    does not matter.
    """
    scaffold = graph.scaffold
    sets_all = path is None and scaffold.init_op is None and scaffold.local_init_op is None
    scaffold.finalize()
    init_op, local_init_op = scaffold.init_op, scaffold.local_init_op
    is_plain = sets_all and scaffold.init_fn is None and not scaffold.local_init_feed_dict
    if is_plain and not needs_global_state(local_init_op):
        init_op, local_init_op = [init_op, local_init_op], None
    manager = tf.train.SessionManager(
        local_init_op=local_init_op,
        local_init_feed_dict=scaffold.local_init_feed_dict,
        ready_op=None if sets_all else scaffold.ready_op,
        graph=graph.graph,
    )
    return manager.prepare_session(
        member.cluster.target,
        saver=scaffold.saver,
        checkpoint_filename_with_path=path,
        config=config,
        init_op=init_op,
        init_feed_dict=scaffold.init_feed_dict,
        init_fn=scaffold.init_fn,
    )


def monitored_session(
    graph: TrainGraph,
    *,
    hooks: Iterable[Any],
    member: JobMember,
    config: Any,
    checkpoint: str | None = None,
    restored: RestoredCheckpoint | None = None,
) -> Any:
    """Creates the session of one worker.

    Args:
      graph: the training graph; must be the default graph.
      hooks: called in phase order.
      member: this worker in its job; workers other than the chief wait for the variables. After
        a lost session the chief restores the newest checkpoint in its folder.
      config: the `ConfigProto`.
      checkpoint: restored by the chief's first session; None: the variables are new.
      restored: gets the path of the restored checkpoint, before any hook is called.

    Returns:
      A `tf.compat.v1.train.MonitoredSession`, to be used in a `with` block.
    """
    if member.cluster.is_chief:
        restored = restored or RestoredCheckpoint()
        creator: Any = _ChiefCreator(graph, config, member, checkpoint, restored)
    elif member.cluster.all_reduces:
        creator = _AllReduceCreator(graph, config, member)
    else:
        creator = _WorkerCreator(graph, config, member)
    return tf.train.MonitoredSession(session_creator=creator, hooks=in_phase_order(hooks))
