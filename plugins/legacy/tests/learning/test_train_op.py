import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from sessions import initialized_session, run_initialized
from tf_frame_legacy import learning, training

from ..signatures import list_arguments

pytestmark = pytest.mark.usefixtures("graph")
MODULES = pytest.mark.parametrize("module", [learning, training])


def variable(name="w", value=3.0, **kwargs):
    return tf.get_variable(name, initializer=tf.constant(value), **kwargs)


def after_a_step(train_op, fetches):
    with initialized_session() as session:
        session.run(train_op)
        return session.run(fetches)


@MODULES
def test_each_gradient_is_clipped_to_the_norm_by_itself(module):
    sparse = tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([1, 0]), tf.constant([9, 1]))
    pairs = [(tf.constant([6.0, 8.0]), "a"), (None, "b"), (sparse, "c"), (tf.constant([0.5]), "d")]
    clipped = module.clip_gradient_norms(pairs, 1.0)
    assert [name for _, name in clipped] == ["a", "b", "c", "d"]
    assert isinstance(clipped, list) and isinstance(clipped[0], tuple)
    assert clipped[1][0] is None
    assert clipped[2][0].indices is sparse.indices
    assert clipped[2][0].dense_shape is sparse.dense_shape
    dense, slices, short = run_initialized([clipped[0][0], clipped[2][0].values, clipped[3][0]])
    np.testing.assert_allclose(dense, [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(slices, [[0.6], [0.8]], rtol=1e-6)
    np.testing.assert_allclose(short, [0.5])


@MODULES
def test_gradients_are_multiplied_by_variable_and_by_name(module):
    a, b, c = variable("a"), variable("b"), variable("c")
    sparse = tf.IndexedSlices(tf.constant([[3.0]]), tf.constant([1]))
    untouched = tf.constant([7.0])
    pairs = [(tf.constant([1.0, 2.0]), a), (sparse, b), (untouched, c)]
    factors = {a: 2.0, "a": 100.0, "b": tf.constant(0.5)}
    changed = module.multiply_gradients(pairs, factors)
    assert changed[2] == (untouched, c)
    dense, slices = run_initialized([changed[0][0], changed[1][0].values])
    np.testing.assert_allclose(dense, [2.0, 4.0])
    np.testing.assert_allclose(slices, [[1.5]])
    with pytest.raises(ValueError, match="Requested multiple of `None` gradient."):
        module.multiply_gradients([(None, a)], {"a": 2.0})


@MODULES
@pytest.mark.parametrize(
    ("pairs", "factors", "message"),
    [
        ((), {}, "`grads_and_vars` must be a list."),
        ([], None, "`gradient_multipliers` is empty."),
        ([], {}, "`gradient_multipliers` is empty."),
        ([], [("w", 2)], "`gradient_multipliers` must be a dict."),
        (None, {"w": 2.0}, "`grads_and_vars` must be a list."),
    ],
)
def test_wrong_arguments_of_multiply_gradients(module, pairs, factors, message):
    assert refusal(module.multiply_gradients, pairs, factors) == (ValueError, message)


@pytest.mark.parametrize(("module", "separator"), [(learning, "/"), (training, "_")])
def test_gradients_are_summarised(module, separator, caplog):
    sparse = tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([1, 1]))
    pairs = [(tf.constant([6.0, 8.0]), variable("a")), (sparse, variable("s"))]
    with caplog.at_level(logging.INFO, "tensorflow"):
        summaries = module.add_gradients_summaries([*pairs, (None, variable("none"))])
    assert "Var none has no gradient" in caplog.messages
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == summaries
    written = tf.Summary.FromString(run_initialized(tf.summary.merge(summaries)))
    values = {value.tag: value for value in written.value}
    names = [f"a{separator}gradient", f"s{separator}gradient"]
    assert sorted(values) == sorted([*names, *[f"{name}_norm" for name in names]])
    assert values[names[0]].histo.num == 2
    assert values[f"{names[0]}_norm"].simple_value == pytest.approx(10.0)
    assert values[f"{names[1]}_norm"].simple_value == pytest.approx(5.0)


def test_arguments_of_create_train_op_and_their_defaults():
    start = "total_loss, optimizer, global_step=0, update_ops=None, variables_to_train=None, "
    end = (
        f"summarize_gradients=False, gate_gradients={tf.train.Optimizer.GATE_OP}, "
        "aggregation_method=None, colocate_gradients_with_ops=False, "
    )
    assert list_arguments(learning.create_train_op) == (
        f"{start}clip_gradient_norm=0, {end}gradient_multipliers=None, check_numerics=True"
    )
    assert list_arguments(training.create_train_op) == (
        f"{start}transform_grads_fn=None, {end}check_numerics=True"
    )


@pytest.mark.usefixtures("variable_mode")
@MODULES
def test_the_train_op_makes_a_step_and_returns_the_loss_before_it(module):
    w = variable()
    train_op = module.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.25))
    assert train_op.op.name == "train_op/control_dependency"
    assert len([op for op in tf.get_collection(tf.GraphKeys.TRAIN_OP) if op is train_op]) == 1
    with initialized_session() as session:
        assert session.run(train_op) == pytest.approx(9.0)
        assert session.run([w, tf.train.get_global_step()]) == [pytest.approx(1.5), 1]


@pytest.mark.usefixtures("variable_mode")
@MODULES
def test_a_loss_that_is_not_finite_raises_and_changes_no_variable(module):
    w, bad = variable(), tf.placeholder_with_default(1.0, [])
    train_op = module.create_train_op(tf.log(bad) * w, tf.train.GradientDescentOptimizer(0.25))
    with initialized_session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
            session.run(train_op, {bad: -1.0})
        assert session.run([w, tf.train.get_global_step()]) == [3.0, 0]


@MODULES
def test_without_check_numerics_the_loss_may_be_anything(module):
    train_op = module.create_train_op(
        tf.log(-variable()), tf.train.GradientDescentOptimizer(0.25), check_numerics=False
    )
    assert np.isnan(run_initialized(train_op))


@pytest.mark.usefixtures("variable_mode")
@MODULES
def test_the_global_step_may_be_left_out_or_be_another(module):
    optimizer, loss = tf.train.GradientDescentOptimizer(0.25), tf.square(variable())
    steps = tf.get_variable("steps", initializer=tf.constant(5), trainable=False)
    uncounted = module.create_train_op(loss, optimizer, global_step=None)
    assert tf.train.get_global_step() is None
    counted = module.create_train_op(loss, optimizer, global_step=steps)
    assert after_a_step([uncounted, counted], steps) == 6


@pytest.mark.usefixtures("variable_mode")
@MODULES
def test_update_ops_of_the_graph_run_before_the_loss(module, caplog):
    order = []
    w = variable()
    update = tf.py_func(lambda: order.append("update"), [], [])
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
    train_op = module.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.25))
    barrier = tf.get_default_graph().get_operation_by_name("update_barrier")
    assert barrier.control_inputs == [update]
    run_initialized(train_op)
    assert order == ["update"]
    assert not [m for m in caplog.messages if "update_ops" in m]


@pytest.mark.usefixtures("variable_mode")
@MODULES
@pytest.mark.parametrize("chosen", ["none", "own"])
def test_update_ops_of_ones_own_replace_those_of_the_graph(module, chosen, caplog):
    w, missed, updated = variable(), variable("m", 0.0), variable("o", 0.0)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(missed, 1.0))
    update_ops = [tf.assign_add(updated, 1.0)] if chosen == "own" else []
    with caplog.at_level(logging.WARNING, "tensorflow"):
        train_op = module.create_train_op(
            tf.square(w),
            tf.train.GradientDescentOptimizer(0.25),
            update_ops=update_ops,
            variables_to_train=[w],
        )
    assert "update_ops in create_train_op does not contain all the update_ops" in caplog.text
    assert after_a_step(train_op, [missed, updated]) == [0.0, 1.0 if chosen == "own" else 0.0]


@pytest.mark.usefixtures("variable_mode")
@MODULES
def test_only_chosen_variables_are_trained(module):
    a, b = variable("a"), variable("b")
    train_op = module.create_train_op(
        a * b, tf.train.GradientDescentOptimizer(0.5), variables_to_train=[a]
    )
    assert after_a_step(train_op, [a, b]) == [1.5, 3.0]


@MODULES
def test_variables_to_train_must_be_trainable_and_some(module):
    fixed, optimizer = variable("fixed", trainable=False), tf.train.GradientDescentOptimizer(0.5)
    with pytest.raises(AssertionError, match="variables_to_train has fixed, which is not train"):
        module.create_train_op(tf.square(fixed), optimizer, variables_to_train=[fixed])
    with pytest.raises(AssertionError, match="there is no variable to train"):
        module.create_train_op(tf.square(fixed), optimizer)


@pytest.mark.usefixtures("variable_mode")
def test_slims_train_op_multiplies_and_then_clips():
    w, b = variable("w", [3.0, 4.0]), variable("b", [1.0])
    train_op = learning.create_train_op(
        tf.reduce_sum(tf.square(w)) + tf.reduce_sum(b),
        tf.train.GradientDescentOptimizer(1.0),
        gradient_multipliers={"w": 10.0, b: 0.25},
        clip_gradient_norm=4,
        summarize_gradients=True,
    )
    scopes = {op.name.split("/")[0] for op in tf.get_default_graph().get_operations()}
    assert {"multiply_grads", "clip_grads", "summarize_grads"} <= scopes
    with initialized_session() as session:
        summary = tf.Summary.FromString(session.run(tf.summary.merge_all()))
        session.run(train_op)
        now_w, now_b = session.run([w, b])
    # The gradients [60, 80] and [0.25]: only the first is longer than 4.
    np.testing.assert_allclose(now_w, [3.0 - 2.4, 4.0 - 3.2], rtol=1e-5)
    np.testing.assert_allclose(now_b, [0.75])
    norms = {v.tag: v.simple_value for v in summary.value if v.tag.endswith("norm")}
    assert norms == {
        "summarize_grads/w_gradient_norm": pytest.approx(4.0),
        "summarize_grads/b_gradient_norm": pytest.approx(0.25),
    }


def test_without_multipliers_and_norm_the_gradients_are_left_alone():
    learning.create_train_op(tf.square(variable()), tf.train.GradientDescentOptimizer(1.0))
    scopes = {op.name.split("/")[0] for op in tf.get_default_graph().get_operations()}
    assert not scopes & {"multiply_grads", "clip_grads", "summarize_grads"}
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == []


def test_a_transform_changes_the_gradients():
    transform, w = training.clip_gradient_norms_fn(0.5), variable()
    train_op = training.create_train_op(
        tf.square(w), tf.train.GradientDescentOptimizer(1.0), transform_grads_fn=transform
    )
    assert after_a_step(train_op, w) == pytest.approx(2.5)
