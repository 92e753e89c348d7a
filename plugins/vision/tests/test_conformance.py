"""The networks and preprocessing of this package keep their contracts."""

import pytest

from slow_cases import slow_but
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import NETWORK, PREPROCESSING
from tf_frame.testing.conformance import check_plugin

OWN = [info for info in find_plugins() if info.distribution == "tf-frame-vision"]
SMALL = ("cifarnet", "lenet")


@pytest.mark.parametrize(
    "info",
    [
        pytest.param(info, id=info.name, marks=[] if info.name in SMALL else [pytest.mark.slow])
        for info in OWN
        if info.kind == NETWORK
    ],
)
def test_networks_pass(info):
    assert {check.state for check in check_plugin(info, {})} == {"ok"}


@pytest.mark.parametrize(
    "info",
    slow_but((0, -1), [info for info in OWN if info.kind == PREPROCESSING]),
    ids=lambda info: info.name,
)
def test_preprocessing_passes(info):
    assert {check.state for check in check_plugin(info, {})} == {"ok"}
