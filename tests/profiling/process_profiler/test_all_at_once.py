"""All profilers at the same moment: hooks, a capture by hand, and TensorBoard's button.

TensorBoard's button makes the same call as `tf.profiler.experimental.client.trace`.
"""

import logging
import threading

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame.graph.global_step import read_step_after
from tf_frame.hooks.profile import ProfileHook
from tf_frame.hooks.timeline import TimelineHook
from tf_frame.launch.ports import free_ports
from tf_frame.profiling.capture import Capture
from tf_frame.profiling.process_profiler import CaptureError, is_any_profiler_active
from tf_frame.testing.local_job import wait_for
from xplane import marked_steps

_LAST = 12


@pytest.fixture(scope="module")
def address():
    """The profiler's server of this process, which cannot be stopped."""
    (port,) = free_ports(1)
    tf2.profiler.experimental.server.start(port)
    return f"grpc://localhost:{port}"


class Button(threading.Thread):
    """Captures this process as TensorBoard's button does.

    Attributes:
      refused: the reason, or None.
    """

    def __init__(self, address, folder, duration_ms=400):
        super().__init__()
        self._arguments = (address, str(folder), duration_ms)
        self.refused = None

    def run(self):
        try:
            tf2.profiler.experimental.client.trace(*self._arguments, num_tracing_attempts=1)
        except (RuntimeError, tf.errors.OpError) as error:
            self.refused = str(error)


@pytest.fixture
def profile_steps(tmp_path, caplog):
    """Trains with both hooks; returns the steps and the warnings of what was not written."""

    def profile_steps(target="", at_step=None):
        with tf.Graph().as_default():
            step = tf.train.create_global_step()
            moves = tf.assign_add(step, 1)
            read_step_after([moves], step)
            hooks = [
                ProfileHook(str(tmp_path), at_steps=[3], num_steps=8),
                TimelineHook(str(tmp_path), every_steps=1),
            ]
            creator = tf.train.ChiefSessionCreator(master=target)
            with (
                caplog.at_level(logging.WARNING, "tf_frame"),
                tf.train.MonitoredSession(creator, hooks=hooks) as session,
            ):
                steps = 0
                while steps < _LAST:
                    steps = int(session.run(moves))
                    if at_step is not None:
                        at_step(steps)
        return steps, [message for message in caplog.messages if "training goes on" in message]

    return profile_steps


@pytest.fixture(params=["in_process", pytest.param("server", marks=pytest.mark.slow)])
def target(request):
    return "" if request.param == "in_process" else tf.train.Server.create_local_server().target


def captures(folder):
    return sorted(folder.glob("plugins/profile/*/*.xplane.pb"))


def timelines(folder):
    return len(list(folder.glob("tf_trace-*.json")))


def test_the_button_is_refused_while_a_hook_captures(tmp_path, profile_steps, address, target):
    button = Button(address, tmp_path / "button")
    by_hand = []

    def at_step(step):
        if step == 5:
            button.start()
            button.join()
            with pytest.raises(CaptureError) as refused:
                Capture(str(tmp_path), label="by_hand", task="worker_0").start()
            by_hand.append(str(refused.value))

    steps, warnings = profile_steps(target, at_step)
    assert (steps, warnings) == (_LAST, [])
    assert "UNAVAILABLE" in button.refused and captures(tmp_path / "button") == []
    assert by_hand[0].startswith("the capture step_3 of this process has been active since ")
    (capture,) = captures(tmp_path)
    assert marked_steps(str(capture)) == list(range(3, 11))
    assert timelines(tmp_path) == _LAST
    assert not is_any_profiler_active()


@pytest.mark.slow
def test_a_hook_is_refused_while_the_button_captures(tmp_path, profile_steps, address, target):
    button = Button(address, tmp_path / "button", duration_ms=2000)

    def at_step(step):
        if step == 1:
            button.start()
            wait_for(is_any_profiler_active, "the capture of the button", 20)
        elif step == _LAST:
            assert button.is_alive()

    steps, warnings = profile_steps(target, at_step)
    button.join()
    assert steps == _LAST
    (warning,) = warnings
    assert "the profile from step 3 was not written: a profiler server is capturing" in warning
    assert button.refused is None and len(captures(tmp_path / "button")) == 1
    assert captures(tmp_path) == [] and timelines(tmp_path) == _LAST
    assert not is_any_profiler_active()


def test_all_begin_at_the_same_moment(tmp_path, profile_steps, address):
    """Chance gives the profiler to one; the other one is refused, and training goes on."""
    button = Button(address, tmp_path / "button")

    def at_step(step):
        if step == 2:
            button.start()

    steps, warnings = profile_steps("", at_step)
    button.join()
    assert steps == _LAST and timelines(tmp_path) == _LAST
    assert len(captures(tmp_path)) == 1 - len(warnings)
    # A capture that begins as the last step ends is written, and reported as one without an event.
    assert captures(tmp_path / "button") or "UNAVAILABLE" in button.refused
    assert captures(tmp_path) or captures(tmp_path / "button")
    assert not is_any_profiler_active()
