"""A check of calls that are refused."""

import pytest

from tf_frame.errors import TfFrameError


def refusal(call, *arguments, **more):
    """The class and the message of the error that a call with wrong arguments raises."""
    with pytest.raises((TypeError, ValueError, RuntimeError, TfFrameError)) as error:
        call(*arguments, **more)
    return type(error.value), str(error.value)
