"""Each check of gradient transforms finds its fault, and no other check fails on it."""

import re

import pytest

from nonconforming import transforms
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM

FAULTS = [
    pytest.param(
        transforms.InheritsFromAnotherKind,
        "test_definition_fits_the_contract",
        "is a hook",
        marks=pytest.mark.slow,
    ),
    (transforms.KeepsTensors, "test_builds_twice_in_fresh_graphs", "keep no tensors on it"),
    (transforms.Sorts, "test_keeps_the_order_of_the_pairs", "keep the order"),
    pytest.param(
        transforms.DropsPairs,
        "test_keeps_the_order_of_the_pairs",
        "embedding/weights are missing",
        marks=pytest.mark.slow,
    ),
    (transforms.GivesZerosForNone, "test_keeps_none", "unused/weights had no gradient"),
    (transforms.FailsOnNone, "test_keeps_none", "return its pair unchanged: .*AttributeError"),
    (transforms.FailsOnSlices, "test_keeps_sparse_gradients_sparse", "fails on tf.IndexedSlices"),
    (transforms.FailsOnFloat64, "test_keeps_types_and_shapes", "fails on a float64 gradient"),
    (transforms.CastsToFloat32, "test_keeps_types_and_shapes", "was float64 and is float32"),
    (transforms.MakesDense, "test_keeps_sparse_gradients_sparse", "makes_dense = True"),
    (transforms.DecaysWeights, "test_does_not_change_variables", "changes linear/weights"),
    (transforms.ReadyIsANumber, "test_trains", "ready"),
]


def test_a_healthy_transform_passes(results):
    found = results(GRADIENT_TRANSFORM, transforms.Halve)
    assert {each.state for each in found.values()} == {"ok"}, found


@pytest.mark.parametrize(("transform", "check", "problem"), FAULTS)
def test_only_the_check_of_the_rule_fails(only_failure, transform, check, problem):
    found = only_failure(check, GRADIENT_TRANSFORM, transform)
    assert re.search(problem, found, re.DOTALL), found


@pytest.mark.parametrize(
    ("transform", "declared"),
    [(transforms.DropsPairs, "removes_pairs"), (transforms.MakesDense, "makes_dense")],
)
def test_what_is_declared_is_no_fault(results, transform, declared):
    found = results(GRADIENT_TRANSFORM, type("Declared", (transform,), {declared: True}))
    assert {each.state for each in found.values()} == {"ok"}, found


def test_pairs_in_another_order_are_told_in_words(results):
    found = results(GRADIENT_TRANSFORM, transforms.SwapsThePairs)
    (failed,) = [each for each in found.values() if each.state == "failed"]
    assert failed.name == "test_builds_twice_in_fresh_graphs"
    assert "instead of a variable that it was given" in failed.problem
