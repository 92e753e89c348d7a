"""The fixture of the variables' kind and a check of refusals, for the tests of this folder."""

import pytest

from variable_modes import variable_mode_fixture

# Which kind it is matters to the updates of the graph, whose tests always have both.
variable_mode = variable_mode_fixture(on_demand="reference")


def refusal(call, *arguments, **more):
    """The class and the message of the error that a call with wrong arguments raises."""
    with pytest.raises((TypeError, ValueError)) as error:
        call(*arguments, **more)
    return type(error.value), str(error.value)
