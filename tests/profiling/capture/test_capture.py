import logging
import socket

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame.profiling import capture as module
from tf_frame.profiling.capture import Capture, CaptureError, step_marker, warn_only
from xplane import event_names, marked_steps


@pytest.fixture
def one_second(monkeypatch):
    """Makes the clock stand still for the names of files."""
    monkeypatch.setattr(module.time, "strftime", lambda *_: "2026_01_02_03_04_05")


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path, monkeypatch):
    """Folder of the temporary files of a capture."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(module.tempfile, "tempdir", str(folder))
    return folder


def captured(folder, *, label="step_1", task="worker_0", run=lambda: None, **levels):
    capture = Capture(str(folder), label=label, task=task, **levels)
    capture.start()
    run()
    return capture.save()


@pytest.fixture
def capture(tmp_path):
    return Capture(str(tmp_path), label="step_1", task="worker_0")


@pytest.mark.usefixtures("one_second")
def test_a_capture_is_named_by_time_label_host_and_task(tmp_path):
    path = captured(tmp_path, label="step_9", task="worker_3")
    run = tmp_path / "plugins" / "profile" / "2026_01_02_03_04_05_step_9"
    assert path == str(run / f"{socket.gethostname()}_worker_3.xplane.pb")
    assert [file.name for file in run.iterdir()] == [path.rsplit("/", 1)[1]]


@pytest.mark.usefixtures("one_second")
def test_two_captures_within_one_second_are_two_files(tmp_path):
    first, second = captured(tmp_path), captured(tmp_path)
    assert len(list(tmp_path.glob("plugins/profile/*/*.xplane.pb"))) == 2
    assert first != second


@pytest.mark.usefixtures("one_second")
def test_two_tasks_of_one_second_share_a_run_and_have_a_file_each(tmp_path):
    captured(tmp_path, task="worker_0")
    captured(tmp_path, task="worker_1")
    (run,) = (tmp_path / "plugins" / "profile").iterdir()
    assert len(list(run.iterdir())) == 2


def test_steps_are_marked_and_operations_recorded(tmp_path, small_graph):
    session, train_op, _ = small_graph

    def run():
        for step in (7, 8, 9):
            with step_marker(step):
                session.run(train_op)

    path = captured(tmp_path, run=run, host_tracer_level=3)
    assert marked_steps(path) == [7, 8, 9]
    assert any("MatMul" in name for name in event_names(path))


def test_what_a_capture_records(tmp_path, small_graph):
    session, train_op, _ = small_graph

    def run():
        session.run(train_op)

    seen = {
        level: event_names(captured(tmp_path, run=run, host_tracer_level=level)) for level in (1, 3)
    }
    assert not any("MatMul" in name for name in seen[1])
    assert any("MatMul" in name for name in seen[3])

    def some_function_of_python():
        return sum(range(10))

    for level, expected in ((0, False), (1, True)):
        path = captured(tmp_path, run=some_function_of_python, python_tracer_level=level)
        names = event_names(path)
        assert any("some_function_of_python" in name for name in names) == expected


def test_nothing_temporary_is_left(tmp_path, temporary_folder):
    captured(tmp_path)
    assert not list(temporary_folder.iterdir())


def test_a_busy_profiler_is_an_error_and_stays_as_it_is(tmp_path, temporary_folder, capture):
    tf2.profiler.experimental.start(str(tmp_path / "other"))
    try:
        with pytest.raises(CaptureError, match="makes one capture at a time"):
            capture.start()
        assert not list(temporary_folder.iterdir())
    finally:
        tf2.profiler.experimental.stop()
    assert list((tmp_path / "other").rglob("*.xplane.pb"))
    assert captured(tmp_path)


def test_a_capture_that_somebody_else_stopped_is_an_error(tmp_path, capture):
    capture.start()
    tf2.profiler.experimental.stop(save=False)
    with pytest.raises(CaptureError, match="someone else stopped it"):
        capture.save()
    assert captured(tmp_path)


def test_folders_that_cannot_be_written_are_errors(tmp_path, temporary_folder):
    (tmp_path / "file").touch()
    ran = []
    with pytest.raises(CaptureError, match="file"):
        captured(tmp_path / "file", run=lambda: ran.append(True))
    assert not ran
    assert not list(temporary_folder.iterdir())

    def replaced_by_a_file():
        (tmp_path / "plugins" / "profile").rmdir()
        (tmp_path / "plugins" / "profile").touch()

    with pytest.raises(CaptureError):
        captured(tmp_path, run=replaced_by_a_file)
    assert not list(temporary_folder.iterdir())
    assert captured(tmp_path / "other")


@pytest.mark.parametrize("size_bytes", [0, 4])
def test_an_empty_file_of_the_profiler_is_an_error(tmp_path, monkeypatch, size_bytes):
    real = tf2.profiler.experimental.stop

    def stop():
        real()
        (file,) = (tmp_path / "temporary").rglob("*.xplane.pb")
        file.write_bytes(bytes(size_bytes))

    monkeypatch.setattr(module.tf.profiler.experimental, "stop", stop)
    with pytest.raises(CaptureError, match="recorded nothing"):
        captured(tmp_path)
    assert not list((tmp_path / "plugins" / "profile").iterdir())


def test_defects_are_not_hidden_and_missing_room_is_an_error(tmp_path, monkeypatch, capture):
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(CaptureError, match="missing"):
        capture.start()
    with pytest.raises(KeyError), warn_only("the profile"):
        raise KeyError("defect")


@pytest.mark.parametrize(
    "error",
    [
        CaptureError("disk is full"),
        OSError("disk is full"),
        tf.errors.ResourceExhaustedError(None, None, "disk is full"),
    ],
)
def test_a_failure_is_logged_with_its_reason(caplog, error):
    with caplog.at_level(logging.WARNING, "tf_frame"), warn_only("the profile"):
        raise error
    assert caplog.messages == ["the profile was not written: disk is full; training goes on"]


def test_a_capture_that_cannot_be_written_leaves_no_file_behind(
    tmp_path, monkeypatch, full_after_half, capture
):
    def copy(source, target, overwrite):
        with full_after_half(target, "wb"):
            pass

    capture.start()
    monkeypatch.setattr(module.tf.io.gfile, "copy", copy)
    with pytest.raises(CaptureError, match="No space left"):
        capture.save()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
