import logging
import socket

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame.profiling import capture as module
from tf_frame.profiling.capture import Capture, CaptureError, step_marker, warn_only
from xplane import event_names, marked_steps


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


def test_a_capture_has_a_unique_name_of_time_label_host_and_task(
    tmp_path, monkeypatch, temporary_folder
):
    monkeypatch.setattr(module.time, "strftime", lambda *_: "2026_01_02_03_04_05")
    tasks = ("worker_0", "worker_3", "worker_3")
    paths = [captured(tmp_path, label="step_9", task=task) for task in tasks]
    # Tasks share a folder; a second capture in the same second has another folder.
    run = str(tmp_path / "plugins" / "profile" / "2026_01_02_03_04_05_step_9")
    host = socket.gethostname()
    assert paths == [
        f"{run}/{host}_worker_0.xplane.pb",
        f"{run}/{host}_worker_3.xplane.pb",
        f"{run}_2/{host}_worker_3.xplane.pb",
    ]
    assert sorted(map(str, tmp_path.glob("plugins/profile/*/*"))) == paths
    assert not list(temporary_folder.iterdir())


def test_a_capture_records_marked_steps_operations_and_python_by_its_levels(tmp_path, small_graph):
    session, train_op, _ = small_graph

    def some_function_of_python():
        for step in (7, 8, 9):
            with step_marker(step):
                session.run(train_op)

    for host, python in ((1, 0), (3, 1)):
        levels = {"host_tracer_level": host, "python_tracer_level": python}
        path = captured(tmp_path, run=some_function_of_python, **levels)
        for word, is_recorded in (("MatMul", host == 3), ("some_function_of_python", python == 1)):
            assert any(word in name for name in event_names(path)) == is_recorded
    assert marked_steps(path) == [7, 8, 9]


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
