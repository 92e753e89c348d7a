"""Values from checkpoints and arrays go into the variables that they are meant for."""

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, save_variables
from tf_frame.errors import ConfigError
from tf_frame_legacy import slim

pytestmark = pytest.mark.usefixtures("variable_mode")

SAVED = {
    "model/weights": np.arange(8.0, dtype=np.float32).reshape(4, 2),
    "model/biases": np.array([3.0, 4.0], np.float32),
}


@pytest.fixture
def checkpoint(tmp_path):
    """A checkpoint with `model/weights` [4, 2] and `model/biases` [2]."""
    return save_variables(tmp_path / "saved" / "model.ckpt", SAVED)


def variable(name, shape, **kwargs):
    return slim.variable(name, shape, initializer=tf.constant_initializer(-1.0), **kwargs)


def after(assign, variables):
    """The variables' values after `assign`, a function of a session."""
    with initialized_session() as session:
        assign(session)
        return session.run(variables)


def run(op_and_feed):
    return lambda session: session.run(op_and_feed[0], op_and_feed[1])


def test_values_are_fed_and_reshaped_and_others_stay():
    weights, other = variable("a/weights", [2, 2]), variable("a/weights_2", [1])
    assign = slim.assign_from_values({"a/weights": np.arange(4.0)})
    now, untouched = after(run(assign), [weights, other])
    np.testing.assert_array_equal(now, [[0, 1], [2, 3]])
    assert untouched == [-1]
    assert "placeholder/a/weights" in [op.name for op in tf.get_default_graph().get_operations()]


def test_the_function_of_values_runs_them():
    weights = variable("weights", [2])
    init_fn = slim.assign_from_values_fn({"weights": [5.0, 6.0]})
    np.testing.assert_array_equal(after(init_fn, weights), [5, 6])


def test_values_for_a_name_that_is_no_variable_are_refused():
    variable("layer/weights", [2])
    variable("layer/weights_2", [2])
    with pytest.raises(ValueError, match="Variable nothing wasn't found"):
        slim.assign_from_values({"nothing": np.zeros(2)})
    with pytest.raises(ValueError, match="Variable layer/w doesn't uniquely identify a variable"):
        slim.assign_from_values({"layer/w": np.zeros(2)})
    with pytest.raises(ValueError, match=r"cannot reshape array of size 3"):
        slim.assign_from_values({"layer/weights": np.zeros(3)})


def test_a_checkpoint_is_assigned_by_name(checkpoint):
    with tf.variable_scope("model"):
        weights, biases = variable("weights", [4, 2]), variable("biases", [2])
    now = after(run(slim.assign_from_checkpoint(checkpoint, [weights, biases])), [weights, biases])
    np.testing.assert_array_equal(now[0], SAVED["model/weights"])
    np.testing.assert_array_equal(now[1], SAVED["model/biases"])


def test_one_saved_value_may_go_to_several_variables(checkpoint):
    first, second = variable("first", [2]), variable("second", [2])
    assign = slim.assign_from_checkpoint(checkpoint, {"model/biases": [first, second]})
    np.testing.assert_array_equal(after(run(assign), [first, second]), [[3, 4], [3, 4]])


def test_parts_of_a_partitioned_variable_get_their_parts(checkpoint):
    with tf.variable_scope("model", partitioner=tf.fixed_size_partitioner(2)):
        whole = variable("weights", [4, 2])
    for chosen in (list(whole), [whole], {"model/weights": whole}):
        now = after(run(slim.assign_from_checkpoint(checkpoint, chosen)), list(whole))
        np.testing.assert_array_equal(np.concatenate(now), SAVED["model/weights"])
    init_fn = slim.assign_from_checkpoint_fn(checkpoint, list(whole), ignore_missing_vars=True)
    np.testing.assert_array_equal(
        np.concatenate(after(init_fn, list(whole))), SAVED["model/weights"]
    )


def test_a_variable_that_the_checkpoint_lacks_is_an_error_or_a_warning(checkpoint, caplog):
    caplog.set_level(logging.WARNING, "tensorflow")
    biases, missing = variable("model/biases", [2]), variable("missing", [1])
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[missing\]"):
        slim.assign_from_checkpoint(checkpoint, [biases, missing])
    assign = slim.assign_from_checkpoint(checkpoint, [biases, missing], ignore_missing_vars=True)
    now = after(run(assign), [biases, missing])
    assert (now[0].tolist(), now[1].tolist()) == ([3, 4], [-1])
    assert "Checkpoint is missing variable [missing]" in caplog.text


def test_another_shape_is_refused_with_both_shapes(checkpoint):
    with pytest.raises(
        ValueError,
        match=r"unchanged for model/weights lh_shape: \[\(4, 2\)\], rh_shape: \[\(2, 4\)\]",
    ):
        slim.assign_from_checkpoint(checkpoint, [variable("model/weights", [2, 4])])


def test_nothing_to_assign_does_nothing(checkpoint):
    assign_op, feed_dict = slim.assign_from_checkpoint(checkpoint, [])
    assert feed_dict == {}
    with tf.Session() as session:
        assert session.run(assign_op) is None


def test_the_function_of_a_checkpoint_restores_a_list_or_renamed_variables(checkpoint):
    weights, renamed = variable("model/weights", [4, 2]), variable("other", [2])
    np.testing.assert_array_equal(
        after(slim.assign_from_checkpoint_fn(checkpoint, [weights]), weights),
        SAVED["model/weights"],
    )
    init_fn = slim.assign_from_checkpoint_fn(checkpoint, {"model/biases": renamed})
    np.testing.assert_array_equal(after(init_fn, renamed), [3, 4])


def test_the_function_restores_what_is_there_and_is_none_when_nothing_is(checkpoint, caplog):
    caplog.set_level(logging.WARNING, "tensorflow")
    biases, missing = variable("model/biases", [2]), variable("missing", [1])
    for chosen in ([biases, missing], {"model/biases": biases, "missing": missing}):
        caplog.clear()
        init_fn = slim.assign_from_checkpoint_fn(checkpoint, chosen, ignore_missing_vars=True)
        now = after(init_fn, [biases, missing])
        assert (now[0].tolist(), now[1].tolist()) == ([3, 4], [-1])
        assert f"Variable missing missing in checkpoint {checkpoint}" in caplog.text
    assert slim.assign_from_checkpoint_fn(checkpoint, [missing], ignore_missing_vars=True) is None
    assert "No Variables to restore" in caplog.text
    with pytest.raises(ValueError, match="var_list cannot be empty"):
        slim.assign_from_checkpoint_fn(checkpoint, [])


def test_the_function_raises_tensorflows_errors_for_missing_variables_and_shapes(checkpoint):
    missing, turned = variable("missing", [1]), variable("model/weights", [2, 4])
    with pytest.raises(tf.errors.NotFoundError):
        after(slim.assign_from_checkpoint_fn(checkpoint, [missing]), missing)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2, 4\], and \[4, 2\]"):
        after(slim.assign_from_checkpoint_fn(checkpoint, [turned]), turned)
    reshaped = slim.assign_from_checkpoint_fn(checkpoint, [turned], reshape_variables=True)
    np.testing.assert_array_equal(after(reshaped, turned), SAVED["model/weights"].reshape(2, 4))


def test_a_folder_means_its_newest_checkpoint_and_a_wrong_path_is_named(checkpoint, tmp_path):
    biases = variable("model/biases", [2])
    init_fn = slim.assign_from_checkpoint_fn(str(tmp_path / "saved"), [biases])
    np.testing.assert_array_equal(after(init_fn, biases), [3, 4])
    with pytest.raises(ConfigError, match="there is no checkpoint"):
        slim.assign_from_checkpoint_fn(str(tmp_path / "elsewhere" / "model.ckpt"), [biases])
