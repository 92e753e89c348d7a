import pytest
import tensorflow as tf
from tensorflow.python.profiler import profiler_v2
from tensorflow.python.profiler.internal import _pywrap_profiler

from tf_frame.profiling.capture import is_running, start_profiler


@pytest.fixture
def other_capture():
    """A capture such as the profiler's server makes for TensorBoard's button."""
    session = _pywrap_profiler.ProfilerSession()
    session.start("", {})
    yield session
    session.stop()


def stop():
    tf.profiler.experimental.stop(save=False)


def test_a_profiler_runs_until_it_is_stopped(tmp_path):
    profiler = start_profiler(str(tmp_path))
    assert is_running(profiler)
    stop()
    assert not is_running(profiler)


def test_a_profiler_that_another_one_followed_does_not_run(tmp_path):
    first = start_profiler(str(tmp_path))
    stop()
    second = start_profiler(str(tmp_path))
    assert not is_running(first)
    assert is_running(second)
    stop()


def test_a_start_that_loses_against_a_server_leaves_nothing_behind(tmp_path, other_capture):
    with pytest.raises(tf.errors.AlreadyExistsError):
        start_profiler(str(tmp_path))
    assert profiler_v2._profiler is None


def test_what_another_start_left_behind_is_no_obstacle(tmp_path):
    # TensorFlow's own start leaks its profiler when it loses.
    session = _pywrap_profiler.ProfilerSession()
    session.start("", {})
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.profiler.experimental.start(str(tmp_path))
    session.stop()
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.profiler.experimental.start(str(tmp_path))
    assert is_running(start_profiler(str(tmp_path)))
    stop()


def test_somebody_elses_profiler_is_left_alone(tmp_path):
    tf.profiler.experimental.start(str(tmp_path))
    theirs = id(profiler_v2._profiler)
    with pytest.raises(tf.errors.AlreadyExistsError):
        start_profiler(str(tmp_path))
    assert id(profiler_v2._profiler) == theirs
    tf.profiler.experimental.stop()
    assert list(tmp_path.rglob("*.xplane.pb"))
