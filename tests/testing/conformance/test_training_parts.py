"""Each check of optimizers and learning rates finds its fault, and no other check fails on it."""

import pytest

from nonconforming import parts
from tf_frame.plugin.kinds import LEARNING_RATE, OPTIMIZER

OPTIONS = "test_options_have_help_and_usable_defaults"
TWICE = "test_builds_twice_in_fresh_graphs"
FAULTS = [
    (LEARNING_RATE, parts.ConstantIsANetwork, "test_definition_fits_the_contract", "is a network"),
    (LEARNING_RATE, parts.ConstantWithoutHelp, OPTIONS, "the options depth have no help"),
    (LEARNING_RATE, parts.ConstantWithAWrongDefault, OPTIONS, "'depth': its default is refused"),
    (LEARNING_RATE, parts.ConstantKeepsTensors, TWICE, "second graph"),
    (LEARNING_RATE, parts.ConstantOfFloat64, "test_is_a_scalar", "is float64 of shape"),
    (LEARNING_RATE, parts.FallsBelowZero, "test_is_finite_at_every_step", "at step 40 of 20"),
    (OPTIMIZER, parts.DescentKeepsTheOptimizer, TWICE, "second graph"),
    (OPTIMIZER, parts.DescentWithoutTheStep, "test_applies_gradients", "global step is 0"),
    (
        *(OPTIMIZER, parts.DescentWithLocalState, "test_restored_run_has_the_same_next_loss"),
        "local variable",
    ),
]


@pytest.mark.parametrize(
    ("kind", "plugin"), [(LEARNING_RATE, parts.Constant), (OPTIMIZER, parts.Descent)]
)
def test_a_healthy_part_passes(passes, kind, plugin):
    passes(kind, plugin)


@pytest.mark.parametrize(("kind", "plugin", "check", "problem"), FAULTS)
def test_only_the_check_of_the_rule_fails(fails_only, kind, plugin, check, problem):
    fails_only(check, problem, kind, plugin)
