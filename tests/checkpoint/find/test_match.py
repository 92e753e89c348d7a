import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.match import available_in_checkpoint, check_match
from tf_frame.errors import CheckpointError, ConfigError


def variables(**shapes):
    with tf.Graph().as_default():
        return [tf.get_variable(name, shape) for name, shape in shapes.items()]


def mismatch(path, **shapes):
    with pytest.raises(CheckpointError) as error:
        check_match(path, variables(**shapes))
    return str(error.value)


@pytest.fixture
def path(save):
    (path,) = save(5, a=np.zeros([2, 3], np.float32), b=np.zeros([], np.float32))
    return path


@pytest.mark.usefixtures("variable_mode")
def test_variables_with_the_same_names_and_shapes_match(path):
    check_match(path, variables(a=[2, 3], b=[]))


@pytest.mark.usefixtures("variable_mode")
def test_a_checkpoint_may_hold_more_than_the_graph(path):
    check_match(path, variables(a=[2, 3]))


@pytest.mark.usefixtures("variable_mode")
def test_a_variable_that_is_missing_is_listed(path):
    message = mismatch(path, a=[2, 3], c=[4])
    assert f"{path} is a checkpoint of another model: 1 variables differ\n" in message
    assert "\n  c [4]: not in the checkpoint\n" in message
    assert "another --model_dir" in message


@pytest.mark.usefixtures("variable_mode")
def test_a_variable_of_another_shape_is_listed_with_both(path):
    message = mismatch(path, a=[3, 2], b=[])
    assert "1 variables differ" in message
    assert "\n  a [3, 2]: [2, 3] in the checkpoint\n" in message


def test_a_list_of_eight_is_shown_whole(path):
    message = mismatch(path, **{f"new_{number}": [1] for number in range(8)})
    assert message.count("not in the checkpoint") == 8
    assert "more" not in message


def test_a_long_list_is_cut(path):
    message = mismatch(path, **{f"new_{number}": [1] for number in range(11)})
    assert message.count("not in the checkpoint") == 8
    assert "11 variables differ" in message
    assert "\n  and 3 more\n" in message


@pytest.mark.usefixtures("variable_mode")
def test_the_parts_of_a_partitioned_variable_match_what_is_saved_as_one(path):
    with tf.Graph().as_default():
        tf.get_variable("a", [2, 3], partitioner=tf.fixed_size_partitioner(2))
        check_match(path, tf.global_variables())
        assert len(tf.global_variables()) == 2


def test_a_partitioned_variable_of_another_shape_is_listed_with_the_whole_shape(path):
    with tf.Graph().as_default():
        tf.get_variable("a", [4, 3], partitioner=tf.fixed_size_partitioner(2))
        with pytest.raises(CheckpointError, match=r"\n  a \[4, 3\]: \[2, 3\] in the checkpoint"):
            check_match(path, tf.global_variables())


@pytest.fixture
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture
def saved(save):
    values = {"b": np.zeros([3], np.float32), "a": np.zeros([2, 2], np.float32)}
    return save(5, **values)[0]


def names(variables):
    return [variable.op.name for variable in variables]


@pytest.mark.usefixtures("variable_mode", "graph")
def test_a_list_comes_back_as_a_list_ordered_by_name(saved):
    variables = [tf.get_variable("b", [3]), tf.get_variable("a", [2, 2])]
    available = available_in_checkpoint(variables, saved)
    assert isinstance(available, list)
    assert names(available) == ["a", "b"]


@pytest.mark.usefixtures("variable_mode", "graph")
def test_a_dict_comes_back_as_a_dict_by_the_names_in_the_checkpoint(saved):
    x, y = tf.get_variable("x", [3]), tf.get_variable("y", [2, 2])
    available = available_in_checkpoint({"b": x, "a": y}, saved)
    assert list(available) == ["a", "b"]
    assert available["a"] is y
    assert available["b"] is x


@pytest.mark.usefixtures("graph")
def test_missing_and_mismatched_variables_are_left_out_with_a_warning(saved, caplog):
    variables = [tf.get_variable("a", [2, 3]), tf.get_variable("c", [1]), tf.get_variable("b", [3])]
    with caplog.at_level(logging.WARNING, logger="tf_frame"):
        assert names(available_in_checkpoint(variables, saved)) == ["b"]
    assert caplog.messages == [
        "Variable [a] is available in checkpoint, but has an incompatible shape with model "
        "variable. Checkpoint shape: [[2, 2]], model variable shape: [[2, 3]]. This variable "
        "will not be initialized from the checkpoint.",
        "Variable [c] is not available in checkpoint",
    ]


@pytest.mark.usefixtures("variable_mode", "graph")
def test_partitioned_variables_go_by_their_full_name(saved):
    whole = tf.get_variable("a", [2, 2], partitioner=tf.fixed_size_partitioner(2))
    parts = list(whole)
    assert available_in_checkpoint([whole], saved) == [whole]
    assert names(available_in_checkpoint(parts, saved)) == ["a/part_0", "a/part_1"]
    assert list(available_in_checkpoint({"a": parts}, saved)) == ["a"]
    assert available_in_checkpoint({"b": whole}, saved) == {}


@pytest.mark.usefixtures("graph")
def test_the_global_step_counts_unless_it_is_left_out(saved):
    variables = [tf.train.create_global_step(), tf.get_variable("b", [3])]
    assert names(available_in_checkpoint(variables, saved)) == ["b", "global_step"]
    assert names(available_in_checkpoint(variables, saved, include_global_step=False)) == ["b"]
    named = {"global_step": variables[0]}
    assert available_in_checkpoint(named, saved, include_global_step=False) == {}


@pytest.mark.usefixtures("graph")
def test_what_is_available_can_be_restored(saved):
    variable = tf.get_variable("b", [3], initializer=tf.ones_initializer())
    missing = tf.get_variable("c", [3])
    saver = tf.train.Saver(available_in_checkpoint([variable, missing], saved))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.restore(session, saved)
        np.testing.assert_array_equal(session.run(variable), np.zeros([3]))


@pytest.mark.usefixtures("graph")
def test_a_folder_may_be_given(saved, tmp_path):
    assert names(available_in_checkpoint([tf.get_variable("b", [3])], str(tmp_path))) == ["b"]


@pytest.mark.parametrize("variables", [None, (), "b"])
@pytest.mark.usefixtures("graph")
def test_other_containers_are_refused(saved, variables):
    with pytest.raises(ValueError, match="^`variables` is expected to be a list or dict.$"):
        available_in_checkpoint(variables, saved)


@pytest.mark.usefixtures("graph")
def test_a_missing_checkpoint_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="there is no checkpoint"):
        available_in_checkpoint([], str(tmp_path / "none"))
