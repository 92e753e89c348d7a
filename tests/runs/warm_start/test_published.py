"""Scopes of a network in published weights and in a graph."""

import types

import pytest

from tf_frame.checkpoint.warm_start.plan import WarmStart
from tf_frame.checkpoint.warm_start.rows import Outcome, Row
from tf_frame.errors import CheckpointError
from tf_frame.runs.warm_start.published import (
    naming_network,
    notes_on_classes,
    options_for_weights,
)

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


@pytest.mark.parametrize(
    ("names", "outcome", "is_said"),
    [
        (["raccoon"], Outcome.RESTORED, True),
        (["pedestrian"], Outcome.RESTORED, False),
        (["raccoon"], Outcome.MISMATCHED, False),
        ([], Outcome.RESTORED, False),
    ],
)
def test_a_last_layer_of_other_classes_is_said(names, outcome, is_said):
    row = Row("Net/logits", [1], "Net/logits", outcome, "", ())
    weights = types.SimpleNamespace(class_names=lambda: ["pedestrian"])
    notes = list(notes_on_classes(WarmStart("c", [row], ()), weights, names))
    expected = "note: the last layer begins with what it knows of pedestrian, and learns raccoon"
    assert notes == [expected] * is_said


def test_an_error_names_the_network_of_the_weights():
    weights = types.SimpleNamespace(network="n")
    message = r"none fits\nThe weights w are those of the network n"
    with pytest.raises(CheckpointError, match=message), naming_network("w", weights):
        raise CheckpointError("none fits")
    with pytest.raises(CheckpointError, match="^none fits$"), naming_network("path", None):
        raise CheckpointError("none fits")


def test_scopes_of_many_variables_are_counted():
    rows = [Row(f"decoder/{n}", [1], "", Outcome.MISSING, "", ()) for n in range(9)]
    assert WarmStart("c", rows, ()).short_table().splitlines()[1:] == [
        "  missing decoder/...: 9 variables"
    ]
