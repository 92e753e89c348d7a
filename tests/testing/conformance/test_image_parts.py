"""Each check of networks and preprocessing finds its fault, and no other check fails on it."""

import pytest

from nonconforming import parts
from tf_frame.plugin.kinds import NETWORK, PREPROCESSING

SEED = "test_is_finite_and_depends_on_the_seed_alone"
FAULTS = [
    (NETWORK, parts.FlatWithOtherVariables, "test_builds_twice_in_fresh_graphs", "scale"),
    (NETWORK, parts.FlatWithABackgroundClass, "test_logits_have_the_declared_shape", r"\(2, 8\)"),
    (PREPROCESSING, parts.ResizeToSquares, "test_gives_the_declared_size", r"\[40, 40, 3\]"),
    (PREPROCESSING, parts.ResizeByChance, SEED, "stateless"),
]


@pytest.mark.parametrize(("kind", "plugin"), [(NETWORK, parts.Flat), (PREPROCESSING, parts.Resize)])
def test_a_healthy_part_passes(passes, kind, plugin):
    passes(kind, plugin)


@pytest.mark.parametrize(("kind", "plugin", "check", "problem"), FAULTS)
def test_only_the_check_of_the_rule_fails(fails_only, kind, plugin, check, problem):
    fails_only(check, problem, kind, plugin)
