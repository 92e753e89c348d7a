import dataclasses
import logging

import pytest
import tensorflow.compat.v1 as tf

from recorded_steps import Recording
from tf_frame import ModelOutput
from tf_frame.testing.toy import ToyModel

from .conftest import changed, expected_metrics, figures, toy


def test_hooks_get_their_whole_life_those_of_the_caller_before_the_models(save):
    def hooked(output):
        return ModelOutput(loss=output.loss, hooks=[Recording("model ", calls)])

    calls = []
    evaluator = toy(changed(hooked), num_examples=6)
    expected = [f"{who}{call}" for call in ("begin", "created") for who in ("", "model ")]
    expected += ["before", "model before", "after", "model after"] * 2
    # The run that found the end of the data has no after_run.
    expected += ["before", "model before", "end", "model end"]
    for _ in range(2):
        del calls[:]
        evaluator.evaluate(save(1), hooks=[Recording(calls=calls)])
        assert calls == expected
    assert evaluator.model.calls == 1


@pytest.mark.slow
@pytest.mark.parametrize("end", [StopIteration, tf.errors.OutOfRangeError(None, None, "the end")])
def test_a_hook_may_say_that_the_data_ends(save, end):
    class Feeds(tf.train.SessionRunHook):
        batches = 0

        def before_run(self, run_context):
            self.batches += 1
            if self.batches == 3:
                raise end

    evaluated = toy(steps=None, num_examples=20).evaluate(save(1), hooks=[Feeds()])
    two = toy(steps=2, num_examples=20).evaluate(save(1))
    assert evaluated.metrics == two.metrics


def test_metrics_are_read_when_the_other_hooks_have_ended(save):
    class Sets(tf.train.SessionRunHook):
        def end(self, session):
            session.run(self.op)

    hook = Sets()

    def add_late_metric(output):
        late = tf.get_variable("late", initializer=0.0, collections=["local_variables"])
        hook.op = late.assign(7.0).op
        metrics = {**output.metrics, "late": (late.read_value(), tf.no_op())}
        return dataclasses.replace(output, metrics=metrics)

    assert toy(changed(add_late_metric)).evaluate(save(1), hooks=[hook]).metrics["late"] == 7.0


def test_a_hook_may_end_an_evaluation(save):
    class Stop(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    class Number(ToyModel):
        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            batches = tf.Variable(0.0, collections=["local_variables"])
            one = tf.cast(tf.shape(features)[0] > 0, tf.float32)
            return ModelOutput(metrics={"n": (batches.read_value(), batches.assign_add(one))})

    evaluator = toy(Number)
    assert evaluator.evaluate(save(1), hooks=[Stop()]).metrics == {"n": 1}
    assert evaluator.evaluate(save(1)).metrics == {"n": 3}


class Adding(tf.train.SessionRunHook):
    """Adds a variable of the evaluation and one of the graph, and counts batches with both."""

    def begin(self):
        with tf.variable_scope("adding", reuse=tf.AUTO_REUSE):
            zero = tf.zeros_initializer()
            of_evaluation = tf.get_variable(
                "a", [], initializer=zero, collections=["local_variables"]
            )
            of_graph = tf.get_variable("b", [], initializer=zero)
        self.count = [of_evaluation.assign_add(1), of_graph.assign_add(1)]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.count)

    def after_run(self, run_context, run_values):
        self.counted = run_values.results


@pytest.mark.slow
def test_a_hook_that_adds_operations_works_and_costs_the_next_evaluation_a_graph(
    save, variable_mode, caplog
):
    evaluator, hook, path = toy(), Adding(), save(1, 2.0)
    evaluator.evaluate(path)
    with caplog.at_level(logging.WARNING, "tf_frame"):
        for builds in (1, 2, 3):
            assert expected_metrics(2.0) == figures(evaluator, path, hooks=[hook])
            assert hook.counted == [3, 3]
            assert evaluator.model.calls == builds
    assert expected_metrics(2.0) == figures(evaluator, path)
    assert evaluator.model.calls == 4
    assert [r.message for r in caplog.records if "adds operations in begin" in r.message] == [
        "a hook of the evaluation adds operations in begin(), so each evaluation needs a new "
        "graph; to keep the graph, let the model make the operations"
    ]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("begin", marks=pytest.mark.slow),
        pytest.param("after_create_session", marks=pytest.mark.slow),
        "before_run",
        pytest.param("after_run", marks=pytest.mark.slow),
        "end",
    ],
)
def test_a_hook_that_fails_does_not_harm_the_next_evaluation(save, call):
    evaluator, path = toy(), save(1, 2.0)
    evaluator.evaluate(path)
    hook = tf.train.SessionRunHook()

    def fail(*arguments):
        raise ZeroDivisionError("of the hook")

    setattr(hook, call, fail)
    with pytest.raises(ZeroDivisionError, match="of the hook"):
        evaluator.evaluate(path, hooks=[hook])
    # Not even for one that adds operations to the graph.
    assert expected_metrics(2.0) == figures(evaluator, path, hooks=[Adding()])
