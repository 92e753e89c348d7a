"""`OptimizerConformance`, `LearningRateConformance`: suites that train the toy model."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.graph.update.train_step import checked_optimizer
from tf_frame.plugin.kinds import LEARNING_RATE, OPTIMIZER
from tf_frame.plugin.training_contracts import ScheduleContext
from tf_frame.testing.conformance.outcomes import fails_as, reported_by
from tf_frame.testing.conformance.resumed_training import train_and_resume
from tf_frame.testing.conformance.suite import Conformance
from tf_frame.testing.toy import build_toy_graph

_RATE = 0.1
_CONTEXT = ScheduleContext(learning_rate=_RATE, num_steps=20, steps_per_epoch=5.0)


class OptimizerConformance(Conformance):
    """The checks of optimizers."""

    kind = OPTIMIZER

    def test_builds_twice_in_fresh_graphs(self) -> None:
        """The same object makes the same variables in a second graph."""
        plugin = self.made_plugin()
        with fails_as("the optimizer cannot be built"):
            first = _variables(_updated(plugin))
        with fails_as("the same object fails in a second graph; keep no tensors on it"):
            second = _variables(_updated(plugin))
        assert first == second, (
            f"the optimizer makes other variables in a second graph: {sorted(first ^ second)[:3]}"
        )

    def test_applies_gradients(self) -> None:
        """Dense and sparse gradients change their variables, and the global step counts."""
        with reported_by("test_builds_twice_in_fresh_graphs"):
            graph, update = _updated(self.made_plugin())
        with graph.as_default(), tf.Session() as session:
            variables = tf.trainable_variables()
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            before = session.run(variables)
            with fails_as("the update fails"):
                session.run(update)
            after, step = session.run([variables, tf.train.get_global_step()])
        pairs = list(zip(variables, before, after, strict=True))
        same = [v.op.name for v, old, new in pairs if np.array_equal(old, new)]
        assert not same, f"a gradient does not change its variable ({', '.join(same)})"
        wrong = [v.op.name for v, _, new in pairs if not np.all(np.isfinite(new))]
        assert not wrong, f"a finite gradient makes variables not finite ({', '.join(wrong)})"
        assert step == 1, (
            f"the global step is {step} after an update; apply_gradients() has to add 1 to its "
            "argument global_step"
        )

    def test_restored_run_has_the_same_next_loss(self) -> None:
        """After saving and restoring, the next steps have exactly the same losses as before."""
        with reported_by("test_builds_twice_in_fresh_graphs"):
            config = RunOptions(train_batch_size=4, learning_rate=_RATE, clone_on_cpu=True)
            graph = build_toy_graph(config, optimizer=self.made_plugin())
        with fails_as("a training of the toy model fails"):
            training = train_and_resume(graph)
        training.check()


class LearningRateConformance(Conformance):
    """The checks of learning-rate schedules."""

    kind = LEARNING_RATE

    def test_builds_twice_in_fresh_graphs(self) -> None:
        """The same object works in a second graph."""
        schedule = self.made_plugin(context=_CONTEXT)
        for words in ("the schedule fails", "the same object fails in a second graph"):
            with fails_as(words):
                _rates(schedule, [0.0])

    def test_is_a_scalar(self) -> None:
        """The learning rate is a scalar of type float32."""
        with reported_by("test_builds_twice_in_fresh_graphs"):
            rate, _ = _rates(self.made_plugin(context=_CONTEXT), [])
        assert rate.dtype == tf.float32 and rate.shape.rank == 0, (
            f"the learning rate is {rate.dtype.name} of shape {rate.shape}; return a scalar of "
            "type float32"
        )

    def test_is_finite_at_every_step(self) -> None:
        """The rate is finite and not negative at the first steps, the last step, and after it."""
        last = _CONTEXT.num_steps
        steps = [0.0, 1.0, last / 2, last - 1.0, 2.0 * last]
        with reported_by("test_builds_twice_in_fresh_graphs"):
            _, rates = _rates(self.made_plugin(context=_CONTEXT), steps)
        wrong = [(s, r) for s, r in zip(steps, rates, strict=True) if not 0 <= np.max(r) < np.inf]
        assert not wrong, (
            f"the learning rate is {wrong[0][1]} at step {wrong[0][0]:g} of {_CONTEXT.num_steps}; "
            "it must be finite and not below 0, also after the last step"
        )


def _updated(plugin: Any) -> tuple[Any, Any]:
    """Returns a graph with dense and sparse gradients, and the operation that applies them."""
    with tf.Graph().as_default() as graph:
        step = tf.train.create_global_step()
        dense = tf.get_variable("dense/weights", [3, 2])
        sparse = tf.get_variable("sparse/weights", [4, 2])
        rows = tf.gather(sparse, [1, 3])
        optimizer = checked_optimizer(plugin(tf.constant(_RATE)), plugin)
        loss = tf.reduce_sum(tf.square(dense - 3.0)) + tf.reduce_sum(tf.square(rows - 3.0))
        pairs = optimizer.compute_gradients(loss, [dense, sparse])
        return graph, optimizer.apply_gradients(pairs, global_step=step)


def _variables(graph_and_update: tuple[Any, Any]) -> set[str]:
    variables = graph_and_update[0].get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    return {f"{variable.op.name} {variable.shape}" for variable in variables}


def _rates(schedule: Any, steps: list[float]) -> tuple[Any, list[Any]]:
    """Returns the tensor of the learning rate, and its values at steps."""
    with tf.Graph().as_default():
        tf.train.create_global_step()
        step = tf.placeholder(tf.float32, [])
        returned = schedule(step)
        assert returned is not None, "the schedule returned None; return a scalar tensor"
        rate = tf.convert_to_tensor(returned)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return rate, [session.run(rate, {step: value}) for value in steps]
