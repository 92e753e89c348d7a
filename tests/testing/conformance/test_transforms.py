"""Each check of gradient transforms finds its fault, and no other check fails on it."""

import pytest

from nonconforming import transforms
from slow_cases import slow, slow_but
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM

ORDER = "test_keeps_the_order_of_the_pairs"
FAULTS = [
    slow(transforms.InheritsFromAnotherKind, "test_definition_fits_the_contract", "is a hook"),
    (transforms.KeepsTensors, "test_builds_twice_in_fresh_graphs", "keep no tensors on it"),
    (transforms.Sorts, ORDER, "keep the order"),
    slow(transforms.DropsPairs, ORDER, "embedding/weights are missing"),
    (transforms.GivesZerosForNone, "test_keeps_none", "unused/weights had no gradient"),
    (transforms.FailsOnNone, "test_keeps_none", "return its pair unchanged: .*AttributeError"),
    (transforms.FailsOnSlices, "test_keeps_sparse_gradients_sparse", "fails on tf.IndexedSlices"),
    (transforms.FailsOnFloat64, "test_keeps_types_and_shapes", "fails on a float64 gradient"),
    (transforms.CastsToFloat32, "test_keeps_types_and_shapes", "was float64 and is float32"),
    (transforms.MakesDense, "test_keeps_sparse_gradients_sparse", "makes_dense = True"),
    (transforms.DecaysWeights, "test_does_not_change_variables", "changes linear/weights"),
    (transforms.ReadyIsANumber, "test_trains", "ready"),
]


def test_a_healthy_transform_passes(passes):
    passes(GRADIENT_TRANSFORM, transforms.Halve)


@pytest.mark.parametrize(
    ("transform", "check", "problem"), slow_but((0, 3, 6, -1), FAULTS, several=True)
)
def test_only_the_check_of_the_rule_fails(fails_only, transform, check, problem):
    fails_only(check, problem, GRADIENT_TRANSFORM, transform)


@pytest.mark.parametrize(
    ("transform", "declared"),
    [(transforms.DropsPairs, "removes_pairs"), (transforms.MakesDense, "makes_dense")],
)
def test_a_declared_deviation_is_no_fault(passes, transform, declared):
    passes(GRADIENT_TRANSFORM, type("Declared", (transform,), {declared: True}))


def test_pairs_in_another_order_are_told_in_words(fails_one):
    problem = "instead of a variable that it was given"
    fails_one(
        "test_builds_twice_in_fresh_graphs", problem, GRADIENT_TRANSFORM, transforms.SwapsThePairs
    )
