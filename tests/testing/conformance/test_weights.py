"""Each check of weights finds its fault, and no other check fails on it."""

import pytest

from nonconforming import parts
from tf_frame.plugin.kinds import WEIGHTS

SAYS, FILE = "test_says_what_the_values_are", "test_the_file_can_be_checked"
FAULTS = [
    (parts.WeightsWithoutALicence, SAYS, "licence is empty"),
    (parts.WeightsOfNoNetwork, SAYS, "the network no_such_network cannot be loaded"),
    (parts.WeightsWithFewNames, SAYS, "there are 2 names for 3 classes"),
    (parts.WeightsInTheClear, FILE, "give one that begins with https://"),
    (parts.VerifiedWithoutAHash, FILE, "verified is True, but size or sha256"),
    (
        parts.WeightsOfAnotherNetwork,
        "test_the_network_has_the_values",
        "variables of the network mobilenet_v1_050 have no value, or one of another shape",
    ),
]


def test_healthy_weights_pass(passes):
    passes(WEIGHTS, parts.GoodWeights)


@pytest.mark.parametrize(("plugin", "check", "problem"), FAULTS)
def test_only_the_check_of_the_rule_fails(fails_only, plugin, check, problem):
    fails_only(check, problem, WEIGHTS, plugin)
