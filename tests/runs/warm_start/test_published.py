"""Scopes of a network in published weights and in a graph."""

import pytest

from tf_frame.runs.warm_start.published import options_for_weights

_NETWORK = ["Net/conv/weights", "Net/conv/biases"]


@pytest.mark.parametrize(
    ("names", "published", "rule"),
    [
        ([*_NETWORK, "Net/logits"], [*_NETWORK, "Net/logits"], ()),
        ([*_NETWORK, "decoder/b"], [f"Features/{n}" for n in _NETWORK], (r"(.*)=Features/\1",)),
        ([*(f"Features/{n}" for n in _NETWORK), "boxes/b"], _NETWORK, (r"Features/(.*)=\1",)),
        (["other/weights", "v"], _NETWORK, ()),
    ],
)
def test_the_scope_of_the_network_is_found(names, published, rule):
    options = options_for_weights(names, published)
    assert options["warm_start_map"] == rule
    assert options["warm_start_ignore_missing"] and options["warm_start_skip_mismatched"]
