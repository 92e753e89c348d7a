"""A check of calls that are refused."""

import pytest


def refusal(call, *arguments, **more):
    """The class and the message of the error that a call with wrong arguments raises."""
    with pytest.raises((TypeError, ValueError)) as error:
        call(*arguments, **more)
    return type(error.value), str(error.value)
