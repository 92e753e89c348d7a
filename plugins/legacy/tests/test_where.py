"""`tf-frame legacy where`."""

import subprocess
import sys

import pytest

from tf_frame_legacy.cli import where


def test_names_of_tensorflow_2_and_of_nobody(capsys):
    assert where.main(["tf.nn.gelu", "tf.absent"]) == 1
    newer, unknown = capsys.readouterr().out.splitlines()
    assert newer.startswith("tf.nn.gelu: a name of TensorFlow 2, which TensorFlow 1.15 does not")
    assert unknown.startswith("tf.absent: not in the table")


@pytest.mark.process
def test_a_reader_that_stops_reading_is_no_fault():
    command = f"set -o pipefail; {sys.executable} -m tf_frame legacy where tf.contrib | true"
    process = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")
