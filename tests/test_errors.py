import errno
import os
import subprocess
import sys

import pytest

from tf_frame.errors import ConfigError, TfFrameError, machine_error, short_reason, writing

FULL_DISK = """Graph execution error:

Detected at node 'save/SaveV2' defined at (most recent call last):
    File "train.py", line 5, in <module>
Node: 'save/SaveV2'
/data/model.ckpt-0.data-00000-of-00001; No space left on device
\t [[{{node save/SaveV2}}]]
"""


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (FULL_DISK, "/data/model.ckpt-0.data-00000-of-00001; No space left on device"),
        ("Graph execution error:\n\nUnknown image format\n\t [[x]]", "Unknown image format"),
        ("plain\nmore", "plain"),
        (
            "From /job:ps/replica:0/task:0:\n/data/x; No space left\n\t [[x]]",
            "/data/x; No space left",
        ),
        (
            "From /job:chief/replica:0/task:0:\n" + FULL_DISK,
            "/data/model.ckpt-0.data-00000-of-00001; No space left on device",
        ),
        (
            "Graph execution error:\n\nFrom /job:chief/replica:0/task:0:\nUnknown image\n\t [[x]]",
            "Unknown image",
        ),
        ("", "ValueError"),
        (
            "Graph execution error:\n\nassertion failed: [a/b.tfrecord: record 3 [2]]\n\t [[x]]",
            "a/b.tfrecord: record 3 [2]",
        ),
        (
            "Error in user-defined function passed to FlatMapDatasetV2:1 transformation with "
            "iterator: Iterator::Root: assertion failed: [a/b.tfrecord: record 3]\n\t [[x]]",
            "a/b.tfrecord: record 3",
        ),
        ("assertion failed: [too large] [x (input:0) = ] [[1 2]...]\n\t [[x]]", "too large"),
    ],
)
def test_the_reason_is_the_line_that_says_something(message, reason):
    assert short_reason(ValueError(message)) == reason


@pytest.mark.parametrize(
    ("number", "error_class", "remedy"),
    [
        (errno.ENOSPC, TfFrameError, "free space there, or choose another folder"),
        (errno.EDQUOT, TfFrameError, "free space there, or choose another folder"),
        (errno.EIO, TfFrameError, "choose another folder"),
        (errno.EACCES, ConfigError, "choose another folder"),
        (errno.EROFS, ConfigError, "choose another folder"),
    ],
)
def test_a_full_disk_is_no_wrong_option(number, error_class, remedy):
    with pytest.raises(TfFrameError) as error, writing("--model_dir runs"):
        raise OSError(number, os.strerror(number), "runs/a")
    assert type(error.value) is error_class
    assert (
        str(error.value) == f"--model_dir runs cannot be written: {os.strerror(number)}; {remedy}"
    )


def test_no_code_is_to_blame_for_a_full_disk_or_a_long_name():
    full = machine_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a"))
    assert full is not None and full.exit_code == 1 and str(full).startswith("a: No space left")
    with pytest.raises(OSError) as error:
        os.stat("x" * 5000)
    long = machine_error(error.value)
    assert long is not None and long.exit_code == 2 and len(str(long)) < 300
    assert machine_error(PermissionError(errno.EACCES, "no", "a")) is None
    assert machine_error(ConfigError("No space left on device")) is None


@pytest.mark.process
def test_a_deprecation_is_shown_by_default_unlike_those_of_python(tmp_path):
    (tmp_path / "plugin.py").write_text(
        "import warnings\n"
        "from tf_frame.errors import TfFrameDeprecationWarning\n"
        "def use():\n"
        "    warnings.warn(TfFrameDeprecationWarning('old() is new() since 0.2'))\n"
        "    warnings.warn(DeprecationWarning('of Python'))\n"
    )
    # The levels of a command, which hide the deprecations of TensorFlow's libraries.
    program = (
        "from tf_frame.tensorflow_log import set_log_level; set_log_level(None); "
        "import plugin; plugin.use()"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    environment.pop("PYTHONWARNINGS", None)
    errors = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    ).stderr
    assert "TfFrameDeprecationWarning: old() is new() since 0.2" in errors
    assert "of Python" not in errors
