"""The loop of `learning.train`: sessions of TensorFlow's supervisor, and the steps in them."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.update.sync_replicas import SyncReplicasHook
from tf_frame.legacy.learning.finite import FiniteModel
from tf_frame.legacy.learning.services import Services


@dataclasses.dataclass
class Loop:
    """Trains until a step says to stop, the input ends, or a thread of the supervisor fails.

    Attributes:
      supervisor: a `tf.compat.v1.train.Supervisor`, which has no services to start.
      step: runs one step in a session; returns the loss and whether to stop.
      master, session_config: of the sessions.
      session_wrapper: replaces each session by another; or None.
      model: what is looked at before it is saved.
      save_interval_secs, save_summaries_secs: from one to the next.
      startup_delay_steps: global step that workers other than the chief wait for.
      sync_hooks: begin synchronous training in each session.
      ignore_live_threads: whether threads may go on after the end.
      loss: of the last step; None before the first.
    """

    supervisor: Any
    step: Callable[[Any], tuple[Any, Any]]
    master: str
    session_config: Any
    session_wrapper: Callable[[Any], Any] | None
    model: FiniteModel
    save_interval_secs: float | None
    save_summaries_secs: float | None
    startup_delay_steps: int
    sync_hooks: Sequence[SyncReplicasHook]
    ignore_live_threads: bool
    loss: Any = None

    def run(self) -> Any:
        """Trains, and returns the last loss; None if no step was run."""
        while True:
            try:
                self._run_a_session()
                return self.loss
            except tf.errors.AbortedError:
                # A server was restarted; the variables come from the last checkpoint.
                tf.logging.info("Retrying training!")

    def _run_a_session(self) -> None:
        failure = None
        with self.supervisor.managed_session(
            self.master, config=self.session_config, start_standard_services=False
        ) as session:
            try:
                self._train(session)
            except Exception as error:
                failure = error
                raise
        # The supervisor keeps to itself what fails after a request to stop, as a save may.
        if failure is not None:
            raise failure

    def _train(self, session: Any) -> None:
        supervisor = self.supervisor
        tf.logging.info("Starting Session.")
        if self.session_wrapper is not None:
            tf.logging.info("Wrapping session with wrapper function: %s", self.session_wrapper)
            session = self.session_wrapper(session)
        services = self._start(session)
        supervisor.start_queue_runners(session)
        tf.logging.info("Starting Queues.")
        with _coordinator_of_session(supervisor.coord) as coordinator:
            for hook in self.sync_hooks:
                hook.after_create_session(session, coordinator)
            self._run_steps(session, services)
        if services is not None:
            tf.logging.info("Finished training! Saving model to disk.")
            services.save(session)
            # The managed session closes the writer.
            supervisor.stop(
                close_summary_writer=False, ignore_live_threads=self.ignore_live_threads
            )

    def _start(self, session: Any) -> Services | None:
        """Starts what the chief does beside the steps; another worker waits."""
        supervisor = self.supervisor
        if not supervisor.is_chief:
            _wait_for_step(session, supervisor.global_step, self.startup_delay_steps)
            return None
        if not supervisor.save_path:
            return None
        supervisor.start_standard_services(session)
        return Services(
            supervisor,
            self.model,
            save_interval_secs=self.save_interval_secs,
            save_summaries_secs=self.save_summaries_secs,
        )

    def _run_steps(self, session: Any, services: Services | None) -> None:
        while not self.supervisor.should_stop():
            try:
                if services is not None:
                    services.run_due(session)
                self.loss, should_stop = self.step(session)
            except tf.errors.OutOfRangeError as error:
                tf.logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
                return
            if should_stop:
                tf.logging.info("Stopping Training.")
                self.supervisor.request_stop()
                return


class _SessionCoordinator:
    """The supervisor's coordinator, for the threads of one session.

    What a thread of a lost session runs into must not end the next one.
    """

    def __init__(self, coordinator: Any) -> None:
        self._coordinator = coordinator
        self.ended = False

    def should_stop(self) -> bool:
        return self.ended or bool(self._coordinator.should_stop())

    def request_stop(self, error: BaseException) -> None:
        if not self.ended:
            self._coordinator.request_stop(error)

    def wait_for_stop(self) -> None:
        self._coordinator.wait_for_stop()

    def register_thread(self, thread: Any) -> None:
        self._coordinator.register_thread(thread)


@contextlib.contextmanager
def _coordinator_of_session(coordinator: Any) -> Iterator[_SessionCoordinator]:
    of_session = _SessionCoordinator(coordinator)
    try:
        yield of_session
    finally:
        of_session.ended = True


def startup_delay(startup_delay_steps: int, number_of_steps: int | None) -> int:
    """The global step to wait for, which must come before training ends."""
    return min(startup_delay_steps, number_of_steps or sys.maxsize)


def _wait_for_step(session: Any, global_step: Any, step: int) -> None:
    while step > 0 and tf.train.global_step(session, global_step) < step:
        time.sleep(1)
