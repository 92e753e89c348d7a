import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.gradient_transforms.freeze import Freeze

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def pairs(variable):
    names = ["MobilenetV2/Conv/weights", "MobilenetV2/Conv/biases", "logits/weights"]
    return [(tf.ones([3, 2]), variable(name)) for name in names]


def make(*patterns):
    return Freeze(params=Freeze.Params(patterns=patterns))


@pytest.mark.usefixtures("variable_mode")
def test_pairs_of_names_that_match_are_left_out_and_logged(pairs, caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    assert make("MobilenetV2/.*")(pairs) == pairs[2:]
    assert [record.getMessage() for record in caplog.records] == [
        "Freezing variable [MobilenetV2/Conv/weights]",
        "Freezing variable [MobilenetV2/Conv/biases]",
    ]


def test_any_of_several_patterns_freezes_from_the_start_of_the_name(pairs):
    assert make("logits/", ".*/biases")(pairs) == pairs[:1]
    with pytest.warns(UnmatchedPatternWarning, match="freeze: .* 'biases' .* similar names: Mob"):
        assert make("biases")(pairs) == pairs


def test_no_pattern_and_wrong_patterns_are_refused():
    with pytest.raises(ConfigError, match="freeze: no pattern is given; give some like"):
        make()
    with pytest.raises(ConfigError, match=r"freeze: the pattern '\[' is not a regular expression"):
        make("[")
