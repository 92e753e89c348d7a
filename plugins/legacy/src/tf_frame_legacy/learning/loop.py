"""The training loop of `learning.train`, in sessions of TensorFlow's supervisor.

It is not `session.loop`: slim calls the script's `train_step_fn` for every step, in a session that
`session_wrapper` may replace.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import FiniteCheck
from tf_frame_legacy.learning.services import Services
from tf_frame_legacy.learning.sync_hook import SyncReplicasHook


@dataclasses.dataclass
class Loop:
    """Trains until a step requests a stop, the input ends, or a thread of the supervisor fails.

    Attributes:
      supervisor: a `tf.compat.v1.train.Supervisor` without services of its own.
      step: runs one step in a session; returns the loss and whether to stop.
      master, session_config: arguments of the sessions.
      session_wrapper, save_interval_secs, save_summaries_secs, startup_delay_steps,
        ignore_live_threads: see `learning.train`.
      finite_check: checks the variables before they are saved.
      sync_hooks: start synchronous training in each session.
      loss: the loss of the last step; None before the first step.
    """

    supervisor: Any
    step: Callable[[Any], tuple[Any, Any]]
    master: str
    session_config: Any
    session_wrapper: Callable[[Any], Any] | None
    finite_check: FiniteCheck
    save_interval_secs: float | None
    save_summaries_secs: float | None
    startup_delay_steps: int
    sync_hooks: Sequence[SyncReplicasHook]
    ignore_live_threads: bool
    loss: Any = None

    def run(self) -> Any:
        """Trains; returns the loss of the last step, None if no step was run."""
        while True:
            try:
                self._run_a_session()
                return self.loss
            except tf.errors.AbortedError:
                # A server was restarted; the next session restores the last checkpoint.
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
        # After a stop request the supervisor swallows errors, for example of the last save.
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
        with _session_coordinator(supervisor.coord) as coordinator:
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
        """Starts the services of the chief; other workers wait for their first step."""
        supervisor = self.supervisor
        if not supervisor.is_chief:
            _wait_for_step(session, supervisor.global_step, self.startup_delay_steps)
            return None
        if not supervisor.save_path:
            return None
        supervisor.start_standard_services(session)
        return Services(
            supervisor,
            self.finite_check,
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

    An error in a thread of a lost session must not end the next session.
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
def _session_coordinator(coordinator: Any) -> Iterator[_SessionCoordinator]:
    session_coordinator = _SessionCoordinator(coordinator)
    try:
        yield session_coordinator
    finally:
        session_coordinator.ended = True


def startup_delay(startup_delay_steps: int, number_of_steps: int | None) -> int:
    """Returns the global step to wait for, at most the last one."""
    return min(startup_delay_steps, number_of_steps or sys.maxsize)


def _wait_for_step(session: Any, global_step: Any, step: int) -> None:
    while step > 0 and tf.train.global_step(session, global_step) < step:
        time.sleep(1)
