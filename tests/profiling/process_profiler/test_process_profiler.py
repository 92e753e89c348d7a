import threading

import pytest
import tensorflow as tf
from tensorflow.python.profiler import profiler_v2
from tensorflow.python.profiler.internal import _pywrap_profiler

from tf_frame.profiling.process_profiler import (
    CaptureError,
    is_running,
    start_profiler,
    stop_profiler,
)


@pytest.fixture
def other_capture():
    """A capture such as the profiler's server makes for TensorBoard's button."""
    session = _pywrap_profiler.ProfilerSession()
    session.start("", {})
    yield session
    session.stop()


def stop():
    tf.profiler.experimental.stop(save=False)


def test_a_profiler_runs_until_it_is_stopped_or_followed(tmp_path):
    profiler = start_profiler(str(tmp_path), "step_1")
    assert is_running(profiler)
    stop()
    assert not is_running(profiler)
    first = start_profiler(str(tmp_path), "step_1")
    stop()
    second = start_profiler(str(tmp_path), "step_1")
    assert not is_running(first)
    assert is_running(second)
    stop()


@pytest.mark.usefixtures("other_capture")
def test_a_start_that_loses_against_a_server_says_so_and_leaves_nothing_behind(tmp_path):
    with pytest.raises(
        CaptureError, match="a profiler server is capturing .* TensorBoard's button"
    ):
        start_profiler(str(tmp_path), "step_1")
    assert profiler_v2._profiler is None


def test_a_start_waits_for_a_short_capture_to_end(tmp_path):
    session = _pywrap_profiler.ProfilerSession()
    session.start("", {})
    end = threading.Timer(0.05, session.stop)
    end.start()
    profiler = start_profiler(str(tmp_path), "step_1", wait_secs=30)
    end.join()
    stop_profiler(profiler)
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_a_start_that_loses_against_a_capture_says_which_and_since_when(tmp_path):
    first = start_profiler(str(tmp_path), "step_100")
    with pytest.raises(CaptureError, match=r"step_100 of .* since \d\d:\d\d:\d\d; .* try again"):
        start_profiler(str(tmp_path), "step_200")
    stop_profiler(first)
    assert list(tmp_path.rglob("*.xplane.pb"))


@pytest.mark.parametrize(
    "error", [RuntimeError("lost"), tf.errors.InternalError(None, None, "lost")]
)
def test_an_error_of_any_class_is_one_of_a_capture(tmp_path, monkeypatch, error):
    def fails(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(tf.profiler.experimental, "start", fails)
        with pytest.raises(CaptureError, match="did not start: lost"):
            start_profiler(str(tmp_path), "step_1")
    profiler = start_profiler(str(tmp_path), "step_1")
    with monkeypatch.context() as patched:
        patched.setattr(tf.profiler.experimental, "stop", fails)
        with pytest.raises(CaptureError, match="did not write: lost"):
            stop_profiler(profiler)
    stop_profiler(profiler)


def test_leftovers_are_no_obstacle_and_foreign_profilers_left_alone(tmp_path):
    # TensorFlow's own start leaks its profiler when it loses.
    session = _pywrap_profiler.ProfilerSession()
    session.start("", {})
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.profiler.experimental.start(str(tmp_path))
    session.stop()
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.profiler.experimental.start(str(tmp_path))
    assert is_running(start_profiler(str(tmp_path), "step_1"))
    stop()
    tf.profiler.experimental.start(str(tmp_path))
    theirs = id(profiler_v2._profiler)
    with pytest.raises(CaptureError, match="experimental.start in this process"):
        start_profiler(str(tmp_path), "step_1")
    assert id(profiler_v2._profiler) == theirs
    tf.profiler.experimental.stop()
    assert list(tmp_path.rglob("*.xplane.pb"))
