"""`EvalSession`: gives each `tf.train.MonitoredSession` the same session, to save time.

A new session for each checkpoint would optimise the graph and fill the lookup tables again. A graph
with state that cannot be reset gets new sessions.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import READ_ERRORS, unreadable_error
from tf_frame.errors import CheckpointError, DataError
from tf_frame.graph.inference.eval_graph import EvalGraph, find_session_state
from tf_frame.graph.ready import (
    add_ready_operations,
    needs_global_state,
    uninitialized_names,
)

_LOG = logging.getLogger("tf_frame")
_FILLING_TABLES = ("InitializeTable", "LookupTableImport")


class EvalSession(tf.train.SessionCreator):
    """Gives each `tf.train.MonitoredSession` the same session of an evaluation graph.

    Restores the variables, and resets metrics and inputs. A graph with state that only a new
    session resets (a queue, random numbers) gets a new session each time.

    Args:
      graph: the graph, not finalized yet.
      config: a `ConfigProto`; None for the default, with soft placement.

    Attributes:
      extended: whether hooks have added operations to the graph.
    """

    def __init__(self, graph: EvalGraph, config: Any = None) -> None:
        self.graph = graph
        self._config = config or tf.ConfigProto(allow_soft_placement=True)
        self._checkpoint: str | None = None
        self._session: _KeptSession | None = None
        self._own_local_init_op = graph.inference.scaffold.local_init_op
        with graph.graph.as_default():
            self._variables = {variable.ref() for variable in tf.global_variables()}
            self._operations = _number_of_operations()
            self._keeps = find_session_state(graph.ends)
        self._prepared = self.extended = False
        self._without_value: Any = None
        if self._keeps:
            _LOG.info("each evaluation gets a new session, as the graph holds %s", self._keeps)

    def open(self) -> None:
        """Opens the session in advance, so that the first evaluation begins as soon as later ones.

        Does nothing where that could change the evaluation: a hook of the model may add operations,
        the model has a scaffold of its own, or initial values need restored variables.

        Raises:
          DataError: the data never ends.
        """
        output = self.graph.inference.output
        may_add = any(
            type(hook).begin is not tf.train.SessionRunHook.begin for hook in output.hooks
        )
        if self._keeps or may_add or output.scaffold is not None:
            return
        with self.graph.graph.as_default():
            self._finish_graph()
            if not needs_global_state(self._init_op):
                self._session = _KeptSession(config=self._config)
                self._initialise(self._session)
                # TensorFlow prepares the operation, which each evaluation runs in this session.
                self._session.run(self._again_op)

    def choose(self, checkpoint: str | None) -> None:
        """Sets the checkpoint that the next evaluation restores.

        Raises:
          CheckpointError: the checkpoint cannot be read, or belongs to another model.
        """
        if checkpoint is not None:
            self.graph.inference.check(checkpoint)
        self._checkpoint = checkpoint

    def create_session(self) -> Any:
        """Prepares the session; called by `tf.train.MonitoredSession`, after `begin` of hooks.

        Raises:
          CheckpointError: the checkpoint cannot be read, or does not set every variable.
          DataError: the data never ends.
        """
        self._finish_graph()
        anew = self._keeps or (self._checkpoint is None and self._initial_values_keep)
        if self._session is None or anew:
            self.close()
            self._session = _KeptSession(config=self._config)
            self._restore(self._session)
            self._initialise(self._session)
        else:
            self._restore(self._session)
            self._session.run(self._again_op)
            self._run_own_local_init(self._session)
        return self._session

    def close(self) -> None:
        """Closes the session; the next evaluation makes a new one."""
        if self._session is not None:
            tf.Session.close(self._session)
            self._session = None

    def _finish_graph(self) -> None:
        """Adds the operations that initialise, also for variables that hooks have added."""
        scaffold = self.graph.inference.scaffold
        extended = _number_of_operations() != self._operations
        self.extended |= extended
        if extended or not self._prepared:
            self.close()
            added = [v for v in tf.global_variables() if v.ref() not in self._variables]
            self._init_op = tf.group(
                tf.train.Scaffold.default_local_init_op(), tf.variables_initializer(added)
            )
            self._again_op = tf.group(tf.local_variables_initializer(), *_iterator_initializers())
            if self.graph.inference.output.scaffold is not None:
                every = (*tf.global_variables(), *tf.local_variables())
                self._without_value = uninitialized_names(every)
            add_ready_operations()
            self._prepared = True
            scaffold.finalize()
            # Random initial values are repeated only in a new session.
            self._initial_values_keep = find_session_state([scaffold.init_op])
        tf.get_default_graph().finalize()
        self._operations = _number_of_operations()

    def _initialise(self, session: Any) -> None:
        """Initialises what is not restored; raises the errors of `create_session`."""
        # In one run: each new set of fetches takes time for its graph.
        _, is_endless = session.run((self._init_op, self.graph.endless))
        self._run_own_local_init(session)
        # Only a scaffold of the model may leave variables out.
        missing = () if self._without_value is None else session.run(self._without_value)
        if len(missing):
            names = ", ".join(name.decode() for name in missing)
            raise CheckpointError(
                f"{self._checkpoint} leaves variables without a value: {names}; the saver of the "
                "model's scaffold has to restore them"
            )
        if is_endless:
            raise DataError(
                "the evaluation data never ends; say how much: --eval_steps N, or steps=N"
            )

    def _restore(self, session: Any) -> None:
        scaffold = self.graph.inference.scaffold
        if self._checkpoint is None:
            session.run(scaffold.init_op, scaffold.init_feed_dict)
            if scaffold.init_fn:
                scaffold.init_fn(session)
            return
        try:
            scaffold.saver.restore(session, self._checkpoint)
        except READ_ERRORS as error:
            raise unreadable_error(self._checkpoint, error) from error

    def _run_own_local_init(self, session: Any) -> None:
        """Runs the `local_init_op` of the model's scaffold after the default op."""
        if self._own_local_init_op is not None:
            feeds = self.graph.inference.scaffold.local_init_feed_dict
            session.run(self._own_local_init_op, feeds)


class _KeptSession(tf.Session):
    """A session that a `tf.train.MonitoredSession` does not close."""

    def close(self) -> None:
        pass


def _number_of_operations() -> int:
    return len(tf.get_default_graph().get_operations())


def _iterator_initializers() -> Sequence[Any]:
    """Returns the initializers of iterators; tables, of the same collection, stay filled."""
    initializers = tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)
    return [op for op in initializers if not op.type.startswith(_FILLING_TABLES)]
