"""The model and the converters of this package keep their contracts."""

import pytest

from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import CONVERTER
from tf_frame.testing.conformance import ModelConformance, check_plugin

CONVERTERS = [
    info
    for info in find_plugins()
    if info.kind == CONVERTER and info.distribution == "tf-frame-detection"
]


@pytest.mark.slow
class TestDetection(ModelConformance):
    plugin = "detection"


class Rotated(ModelConformance):
    plugin = "detection"
    options = {"model.name": "rotated_retinanet"}


def test_options_to_check_with_fit_the_input_of_a_variant():
    assert Rotated.configured().input.name == "nuclei_boxes"


@pytest.mark.slow
class TestRotated(Rotated):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("info", CONVERTERS, ids=lambda info: info.name)
def test_converters_pass(info):
    assert {check.state for check in check_plugin(info, {})} == {"ok"}
