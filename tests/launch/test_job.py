import importlib

import pytest

from tf_frame.launch.job import OPTIONS, PLACES


@pytest.mark.parametrize("place", PLACES)
def test_the_options_of_a_place_are_valid(place):
    for option in (*OPTIONS, *importlib.import_module(PLACES[place]).OPTIONS):
        option.check_definition()
        assert option.help
