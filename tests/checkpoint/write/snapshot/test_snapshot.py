import contextlib

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.write.snapshot import FiniteCheck, add_extras, copy_tensors, find_shards
from tf_frame.errors import NonFiniteError

pytestmark = pytest.mark.usefixtures("graph")


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("sharded", [False, True])
def test_the_names_of_a_snapshot_are_those_of_the_saver(sharded):
    weights = tf.get_variable("weights", [3])
    tf.get_variable("not_saved", [3])
    (shard,) = find_shards(tf.train.Saver({"other_name": weights}, sharded=sharded))
    assert shard.names == ["other_name"]
    assert shard.slices == [""]


def test_the_parts_of_a_variable_have_one_name_and_their_slices():
    tf.get_variable("parts", [5, 2], partitioner=tf.fixed_size_partitioner(2))
    (shard,) = find_shards(tf.train.Saver())
    assert shard.names == ["parts", "parts"]
    assert shard.slices == ["5 2 0,3:0,2", "5 2 3,2:0,2"]


def test_a_sharded_saver_has_a_shard_for_each_device():
    for index in range(2):
        with tf.device(f"/device:CPU:{index}"):
            tf.get_variable(f"weights_{index}", [1])
    shards = find_shards(tf.train.Saver(sharded=True))
    assert len(shards) == 2
    assert sorted(name for shard in shards for name in shard.names) == ["weights_0", "weights_1"]


def test_only_the_operations_of_this_saver_count():
    first, second = tf.get_variable("first", [1]), tf.get_variable("second", [1])
    tf.train.Saver([first])
    assert find_shards(tf.train.Saver([second]))[0].names == ["second"]
    with pytest.raises(ValueError, match="not by SaveV2"):
        find_shards(tf.train.Saver([first], write_version=tf.train.SaverDef.V1))


def test_extra_tensors_join_the_only_shard_and_make_up_one_beside_several():
    tf.get_variable("weights", [1])
    (shard,) = find_shards(tf.train.Saver())
    extras = {"position": tf.constant(b"x")}
    (joined,) = add_extras([shard], extras)
    assert joined.names == ["weights", "position"]
    assert [s.names for s in add_extras([shard, shard], extras)][2] == ["position"]
    assert add_extras([shard], {}) == [shard]
    with pytest.raises(ValueError, match="a variable is saved as 'weights' already"):
        add_extras([shard], {"weights": tf.constant(1)})


@pytest.mark.parametrize("kind", ["assign_add", "scatter_add", "optimizer", "momentum"])
@pytest.mark.usefixtures("variable_mode")
def test_later_steps_do_not_change_a_snapshot(kind):
    rows = tf.get_variable("rows", [64, 32], initializer=tf.ones_initializer())
    with_gradient = tf.reduce_sum(tf.gather(rows, [0, 1]) ** 2)
    step = {
        "assign_add": lambda: rows.assign_add(tf.ones([64, 32])),
        "scatter_add": lambda: tf.scatter_add(rows, [0, 1], tf.ones([2, 32])),
        "optimizer": lambda: tf.train.GradientDescentOptimizer(0.1).minimize(with_gradient),
        "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9).minimize(with_gradient),
    }[kind]()
    (shard,), check = find_shards(tf.train.Saver([rows])), FiniteCheck()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step)
            ((taken,), _) = copy_tensors(session, shard, check)
            before = taken.copy()
            for _ in range(3):
                session.run(step)
            np.testing.assert_array_equal(taken, before)
            assert np.abs(session.run(rows) - before).max() > 0


def test_a_snapshot_is_of_one_moment():
    first = tf.get_variable("first", [], initializer=tf.zeros_initializer())
    extras = {"twice": first.read_value() * 2}
    (shard,) = add_extras(find_shards(tf.train.Saver()), extras)
    check = FiniteCheck()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(first.assign(4.0))
        values, finite = copy_tensors(session, shard, check)
    assert [float(value) for value in values] == [4.0, 8.0]
    check.check(finite, 1)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_variables_that_are_not_finite_are_named(value):
    tf.get_variable("sound", initializer=tf.constant([1.0, 2.0]))
    tf.get_variable("poisoned", initializer=tf.constant([1.0, value]))
    tf.get_variable("half", initializer=tf.constant([value], tf.bfloat16))
    tf.get_variable("count", initializer=tf.constant(3))
    check = FiniteCheck()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(
            NonFiniteError, match="2 variables .* at global step 7, first poisoned, half;"
        ):
            check.check(session.run(check.fetch), 7)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(
    ("value", "trainable", "allow", "refused"),
    [
        ("inf", False, False, True),
        ("inf", False, True, False),
        ("inf", True, True, True),
        ("nan", False, True, True),
    ],
)
def test_infinity_may_be_allowed_where_nothing_is_trained(value, trainable, allow, refused):
    tf.get_variable("best", initializer=tf.constant(float(value)), trainable=trainable)
    check = FiniteCheck(allow_infinite_state=allow)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        sound = session.run(check.fetch)
    with pytest.raises(NonFiniteError, match="first best") if refused else contextlib.nullcontext():
        check.check(sound, 1)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("allow", [False, True])
def test_vectors_of_one_size_are_checked_together_and_named_in_the_order_of_the_model(allow):
    nan = float("nan")
    values = {"a": [1.0, 2.0], "b": [[nan]], "c": [nan, 0.0], "d": 1.0, "e": [3.0], "f": [0.0, nan]}
    for name, value in values.items():
        tf.get_variable(name, initializer=tf.constant(value), trainable=False)
    check = FiniteCheck(allow_infinite_state=allow)
    stacks = [op for op in tf.get_default_graph().get_operations() if op.type == "Pack"]
    # The vectors a, c, f, and the results of the others.
    assert sorted(len(op.inputs) for op in stacks) == [3, 3]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(NonFiniteError, match="3 variables .* first b, c, f;"):
            check.check(session.run(check.fetch), 7)


def test_a_graph_that_is_used_again_has_the_check_already():
    tf.get_variable("weights", [2])
    FiniteCheck()
    tf.get_variable("biases", [2])
    # Variables that are made later are checked as well.
    second = FiniteCheck()
    assert second.fetch.shape.as_list() == [2]
    tf.get_default_graph().finalize()
    assert FiniteCheck().fetch is second.fetch


@pytest.mark.usefixtures("variable_mode")
def test_a_variable_of_any_shape_is_checked():
    start = tf.placeholder_with_default(np.full([2, 3], np.nan, np.float32), shape=None)
    tf.get_variable("any", initializer=start, validate_shape=False)
    check = FiniteCheck()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(NonFiniteError, match="first any"):
            check.check(session.run(check.fetch), 1)


def test_the_check_has_two_operations_for_a_variable():
    for number in range(50):
        tf.get_variable(f"weights{number}", [2, number + 1])
    before = len(tf.get_default_graph().get_operations())
    FiniteCheck()
    # And the axes, which are those of all, and the answer.
    assert len(tf.get_default_graph().get_operations()) == before + 2 * 50 + 2


def test_without_floating_point_variables_nothing_is_bad():
    tf.get_variable("count", initializer=tf.constant(3))
    check = FiniteCheck()
    with tf.Session() as session:
        check.check(session.run(check.fetch), 1)
