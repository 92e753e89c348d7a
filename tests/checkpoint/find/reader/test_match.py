import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import check_match
from tf_frame.errors import CheckpointError


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
def test_a_checkpoint_may_hold_more_than_the_graph(path):
    check_match(path, variables(a=[2, 3], b=[]))
    check_match(path, variables(a=[2, 3]))


@pytest.mark.usefixtures("variable_mode")
def test_variables_that_are_missing_or_of_another_shape_are_listed(path):
    message = mismatch(path, a=[2, 3], c=[4])
    assert f"{path} is a checkpoint of another model: 1 variables differ\n" in message
    assert "\n  c [4]: not in the checkpoint\n" in message
    assert "another --model_dir" in message
    message = mismatch(path, a=[3, 2], b=[])
    assert "1 variables differ" in message
    assert "\n  a [3, 2]: [2, 3] in the checkpoint\n" in message


def test_a_long_list_is_cut(path):
    message = mismatch(path, **{f"new_{number}": [1] for number in range(8)})
    assert message.count("not in the checkpoint") == 8
    assert "more" not in message
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
