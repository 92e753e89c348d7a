import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.profiling.failures import CaptureError, only_warns


@pytest.mark.parametrize(
    "error",
    [
        CaptureError("disk is full"),
        OSError("disk is full"),
        tf.errors.ResourceExhaustedError(None, None, "disk is full"),
    ],
)
def test_a_failure_is_logged_with_its_reason(caplog, error):
    with caplog.at_level(logging.WARNING, "tf_frame"), only_warns("the profile"):
        raise error
    assert caplog.messages == ["the profile was not written: disk is full; training goes on"]


def test_a_defect_is_not_hidden():
    with pytest.raises(KeyError), only_warns("the profile"):
        raise KeyError("defect")
