import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.graph.update.trainable import variables_to_train


@pytest.fixture(autouse=True)
def variables():
    """A graph with variables in three scopes, one of them not trainable."""
    with tf.Graph().as_default():
        for name in ("Net/Conv/weights", "Net/Conv/biases", "Logits/weights", "LogitsAux/weights"):
            tf.get_variable(name, [2])
        tf.get_variable("Net/moving_mean", [2], trainable=False)
        yield


def names(*scopes):
    return [v.op.name for v in variables_to_train(scopes)]


def test_without_scopes_every_trainable_variable_is_trained():
    assert names() == [v.op.name for v in tf.trainable_variables()]
    assert len(names()) == 4


def test_scopes_are_beginnings_of_names():
    assert names("Logits", "Net/Conv/b") == [
        "Logits/weights",
        "LogitsAux/weights",
        "Net/Conv/biases",
    ]


def test_no_variable_comes_twice():
    assert names("Logits/", "Logits") == ["Logits/weights", "LogitsAux/weights"]


def test_a_scope_without_variables_is_warned_of():
    with pytest.warns(UnmatchedPatternWarning, match="'Logit2' has no .* Logits, LogitsAux, Net"):
        assert names("Logit2", "LogitsAux") == ["LogitsAux/weights"]


def test_nothing_left_to_train_is_an_error():
    with (
        pytest.warns(UnmatchedPatternWarning),
        pytest.raises(ConfigError, match="--trainable_scopes a,b: no variable is left"),
    ):
        names("a", "b")
