import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.warm_start.available import available_in_checkpoint
from tf_frame.errors import ConfigError


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def path(save):
    values = {"b": np.zeros([3], np.float32), "a": np.zeros([2, 2], np.float32)}
    return save(5, **values)[0]


def names(variables):
    return [variable.op.name for variable in variables]


@pytest.mark.usefixtures("variable_mode")
def test_a_list_comes_back_as_a_list_ordered_by_name(path):
    variables = [tf.get_variable("b", [3]), tf.get_variable("a", [2, 2])]
    available = available_in_checkpoint(variables, path)
    assert isinstance(available, list)
    assert names(available) == ["a", "b"]


@pytest.mark.usefixtures("variable_mode")
def test_a_dict_comes_back_as_a_dict_by_the_names_in_the_checkpoint(path):
    x, y = tf.get_variable("x", [3]), tf.get_variable("y", [2, 2])
    available = available_in_checkpoint({"b": x, "a": y}, path)
    assert list(available) == ["a", "b"]
    assert available["a"] is y
    assert available["b"] is x


def test_missing_and_mismatched_variables_are_left_out_with_a_warning(path, caplog):
    variables = [tf.get_variable("a", [2, 3]), tf.get_variable("c", [1]), tf.get_variable("b", [3])]
    with caplog.at_level(logging.WARNING, logger="tf_frame"):
        assert names(available_in_checkpoint(variables, path)) == ["b"]
    assert caplog.messages == [
        "Variable [a] is available in checkpoint, but has an incompatible shape with model "
        "variable. Checkpoint shape: [[2, 2]], model variable shape: [[2, 3]]. This variable "
        "will not be initialized from the checkpoint.",
        "Variable [c] is not available in checkpoint",
    ]


@pytest.mark.usefixtures("variable_mode")
def test_partitioned_variables_go_by_their_full_name(path):
    whole = tf.get_variable("a", [2, 2], partitioner=tf.fixed_size_partitioner(2))
    parts = list(whole)
    assert available_in_checkpoint([whole], path) == [whole]
    assert names(available_in_checkpoint(parts, path)) == ["a/part_0", "a/part_1"]
    assert list(available_in_checkpoint({"a": parts}, path)) == ["a"]
    assert available_in_checkpoint({"b": whole}, path) == {}


def test_the_global_step_counts_unless_it_is_left_out(path):
    variables = [tf.train.create_global_step(), tf.get_variable("b", [3])]
    assert names(available_in_checkpoint(variables, path)) == ["b", "global_step"]
    assert names(available_in_checkpoint(variables, path, include_global_step=False)) == ["b"]
    named = {"global_step": variables[0]}
    assert available_in_checkpoint(named, path, include_global_step=False) == {}


def test_what_is_available_can_be_restored(path):
    variable = tf.get_variable("b", [3], initializer=tf.ones_initializer())
    missing = tf.get_variable("c", [3])
    saver = tf.train.Saver(available_in_checkpoint([variable, missing], path))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(variable), np.zeros([3]))


def test_a_folder_may_be_given(path, tmp_path):
    assert names(available_in_checkpoint([tf.get_variable("b", [3])], str(tmp_path))) == ["b"]


@pytest.mark.parametrize("variables", [None, (), "b"])
def test_other_containers_are_refused(path, variables):
    with pytest.raises(ValueError, match="^`variables` is expected to be a list or dict.$"):
        available_in_checkpoint(variables, path)


def test_a_missing_checkpoint_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="there is no checkpoint"):
        available_in_checkpoint([], str(tmp_path / "none"))
