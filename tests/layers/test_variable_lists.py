import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


@pytest.fixture(autouse=True)
def graph(variable_mode):
    with tf.Graph().as_default():
        tf.get_variable("weights", [2])
        with tf.variable_scope("a"):
            layers.model_variable("weights", [2])
            layers.model_variable("moving", [2], trainable=False)
        with tf.variable_scope("ab"):
            layers.model_variable("my_weights", [2])
            layers.local_variable([0.0], name="count")
        yield


def names(variables):
    return [variable.op.name for variable in variables]


def test_by_scope_and_suffix():
    assert names(layers.get_variables()) == ["weights", "a/weights", "a/moving", "ab/my_weights"]
    assert names(layers.get_variables("a")) == ["a/weights", "a/moving", "ab/my_weights"]
    assert names(layers.get_variables("a/")) == ["a/weights", "a/moving"]
    with tf.variable_scope("ab") as scope:
        assert names(layers.get_variables(scope)) == ["ab/my_weights"]
    assert names(layers.get_variables("a/", suffix="moving")) == ["a/moving"]
    assert names(layers.get_variables_by_suffix("weights", "a")) == ["a/weights", "ab/my_weights"]
    layers.get_variables().clear()
    assert len(layers.get_variables()) == 4


def test_by_name_means_the_whole_name_after_the_scopes():
    assert names(layers.get_variables_by_name("weights")) == ["weights", "a/weights"]
    assert names(layers.get_variables_by_name("weights", "a")) == ["a/weights"]
    assert names(layers.get_variables_by_name("eights")) == []


def test_by_collection():
    assert names(layers.get_model_variables()) == ["a/weights", "a/moving", "ab/my_weights"]
    assert names(layers.get_model_variables("a/", "weights")) == ["a/weights"]
    assert names(layers.get_trainable_variables("a/")) == ["a/weights"]
    assert names(layers.get_local_variables()) == ["ab/count"]
    assert names(layers.get_local_variables("a/")) == []


def test_the_one_variable_of_a_name():
    assert layers.get_unique_variable("a/weights") is layers.get_variables("a/weights")[0]
    (variable,) = layers.get_variables("a/moving")
    assert layers.get_variable_full_name(variable) == "a/moving"
    with pytest.raises(ValueError, match="Couldn't find variable b/weights"):
        layers.get_unique_variable("b/weights")
    with pytest.raises(ValueError, match=r"a/w does not uniquely identify .*a/weights"):
        layers.get_unique_variable("a/w")


def test_to_restore_are_the_included_without_the_excluded():
    every = names(layers.get_variables())
    assert names(layers.get_variables_to_restore()) == every
    included = layers.get_variables_to_restore(include=["a/", "weights"])
    assert names(included) == ["a/weights", "a/moving", "weights"]
    assert names(layers.get_variables_to_restore(exclude=("a/", "ab"))) == ["weights"]
    included = layers.get_variables_to_restore(["a"], ["a/moving"])
    assert names(included) == ["a/weights", "ab/my_weights"]
    for argument in ("include", "exclude"):
        with pytest.raises(TypeError, match=f"{argument} is provided but is not a list or a tuple"):
            layers.get_variables_to_restore(**{argument: "a"})


def test_filter_searches_or_matches_patterns():
    variables = layers.get_variables()

    def kept(*patterns, **how):
        return names(layers.filter_variables(variables, *patterns, **how))

    assert kept() == names(variables)
    assert kept(["weights"]) == ["weights", "a/weights", "ab/my_weights"]
    assert kept(["weights"], reg_search=False) == ["weights"]
    assert kept(["weights", "moving"], ["^a/w", "my"]) == ["weights", "a/moving"]
    assert kept(None, iter(["a/"])) == ["weights", "ab/my_weights"]
    assert kept([]) == []
