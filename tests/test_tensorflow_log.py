import logging
import os
import subprocess
import sys

import pytest

from tf_frame.tensorflow_log import log_level, quiet_import

LOG_LINES = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1795232402.054472    3713 port.cc:153] oneDNN custom operations are on.
2026-01-31 12:00:00.000000: I tensorflow/core/platform/cpu_feature_guard.cc:210] AVX2
To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow.
"""


def test_log_lines_of_an_import_are_dropped_and_other_text_stays(capfd):
    with quiet_import():
        os.write(2, LOG_LINES.encode() + b"a plugin has something to say\n")
    assert capfd.readouterr().err == "a plugin has something to say\n"


def test_log_lines_stay_with_verbosity(capfd):
    with quiet_import("info"):
        os.write(2, LOG_LINES.encode())
    assert capfd.readouterr().err == LOG_LINES


def test_text_before_an_error_is_not_lost(capfd):
    with pytest.raises(KeyError), quiet_import():
        os.write(2, b"the reason\n")
        raise KeyError
    assert capfd.readouterr().err == "the reason\n"


def test_text_that_cannot_be_written_is_no_error(capfd):
    stderr = os.dup(2)
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), 2)
    try:
        with quiet_import():
            os.write(2, b"x\n")
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
    assert capfd.readouterr().err == ""


NOISY = (
    f"import os\nos.write(2, {(LOG_LINES + 'a reason').encode()!r})\nx = [[] for _ in range(99999)]"
)
IMPORTING = """
import gc, sys
from tf_frame.tensorflow_log import quiet_first_import, set_log_level
set_log_level(sys.argv[1])
quiet_first_import()
quiet_first_import()
finders, walked = len(sys.meta_path), []
gc.callbacks.append(lambda *_: walked.append(len(gc.get_objects(generation=0))))
import tensorflow.compat.v1
assert tensorflow.compat.v1.x == 1 and len(sys.meta_path) == finders - 1
assert gc.get_freeze_count() > 99999 and max(walked, default=0) < 9999
sys.exit("tf-frame: the error")
"""


@pytest.mark.parametrize(("verbosity", "shown"), [("none", ""), ("info", LOG_LINES)])
def test_the_first_import_is_quiet_wherever_it_stands(tmp_path, verbosity, shown):
    package = tmp_path / "tensorflow" / "compat"
    package.mkdir(parents=True)
    (tmp_path / "tensorflow" / "__init__.py").write_text(NOISY)
    (package / "__init__.py").touch()
    (package / "v1.py").write_text("x = 1")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING, verbosity],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stderr == f"{shown}a reasontf-frame: the error\n"


def test_the_level_of_a_logger_is_restored_after_an_error():
    logger = logging.getLogger("of_a_test")
    logger.setLevel(logging.WARNING)
    with pytest.raises(OSError), log_level("of_a_test", logging.DEBUG):
        assert logger.level == logging.DEBUG
        raise OSError
    assert logger.level == logging.WARNING
