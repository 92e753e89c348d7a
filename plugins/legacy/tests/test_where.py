"""`tf-frame legacy where`."""

import subprocess
import sys

import pytest


@pytest.mark.process
def test_a_reader_that_stops_reading_is_no_fault():
    command = f"set -o pipefail; {sys.executable} -m tf_frame legacy where tf.contrib | true"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
