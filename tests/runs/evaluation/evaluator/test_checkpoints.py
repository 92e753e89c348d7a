import dataclasses
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from recorded_steps import Recording
from tf_frame import ModelOutput
from tf_frame.errors import CheckpointError
from tf_frame.testing.session_runs import counted_runs
from tf_frame.testing.toy import WEIGHTS, ToyModel

from .conftest import changed, expected_metrics, figures, toy


def test_the_scaffold_of_a_model_restores_and_initialises(save, variable_mode):
    def with_scaffold(output):
        five = tf.Variable(1.0, collections=["local_variables"])
        by_name = {v.op.name: v for v in tf.global_variables()}
        by_name["other"] = by_name.pop("linear/biases")
        fed = tf.placeholder(tf.float32, [])
        scaffold = tf.train.Scaffold(
            saver=tf.train.Saver(by_name),
            local_init_op=five.assign(fed).op,
            local_init_feed_dict={fed: 5.0},
        )
        read = tf.identity(five)
        return ModelOutput(loss=output.loss, metrics={"five": (read, read.op)}, scaffold=scaffold)

    evaluator = toy(changed(with_scaffold))
    for other in (4.0, 1.0):
        metrics = evaluator.evaluate(save(1, other=[other])).metrics
        assert metrics == pytest.approx({"five": 5.0, "loss": (other - 3) ** 2}, abs=1e-5)
    assert evaluator.model.calls == 1


def test_a_saver_of_the_models_own_has_to_restore_every_variable(save):
    def without_biases(output):
        saver = tf.train.Saver(tf.global_variables("linear/weights"))
        return ModelOutput(loss=output.loss, scaffold=tf.train.Scaffold(saver=saver))

    with pytest.raises(CheckpointError, match="without a value: .*linear/biases"):
        toy(changed(without_biases)).evaluate(save(1))


def test_one_run_less_without_a_scaffold_that_could_leave_variables_out(save):
    def with_scaffold(output):
        return dataclasses.replace(output, scaffold=tf.train.Scaffold())

    runs = []
    for model in (ToyModel, changed(with_scaffold)):
        with counted_runs() as count:
            toy(model, num_examples=5).evaluate(save(1))
        runs.append(count.runs)
    assert runs[1] == runs[0] + 1


def test_initial_values_are_evaluated_where_there_is_no_checkpoint(save):
    def with_scaffold(output):
        weights, biases = tf.trainable_variables()
        fed = tf.placeholder(tf.float32, [3, 1])
        step = tf.train.get_global_step()
        init_op = tf.group(weights.assign(fed), biases.initializer, step.initializer)

        def init_fn(scaffold, session):
            biases.load(np.array([7.0], np.float32), session)

        scaffold = tf.train.Scaffold(
            init_op=init_op, init_feed_dict={fed: WEIGHTS}, init_fn=init_fn
        )
        return ModelOutput(loss=output.loss, scaffold=scaffold)

    evaluator = toy(changed(with_scaffold))
    evaluated = evaluator.evaluate(None)
    assert evaluated.metrics["loss"] == pytest.approx(16.0, abs=1e-5)  # Seven is not three.
    assert evaluated.global_step == 0
    assert evaluator.evaluate(save(1, 2.0)).metrics["loss"] == pytest.approx(4.0, abs=1e-5)
    assert evaluator.evaluate(None).metrics["loss"] == pytest.approx(16.0, abs=1e-5)


def test_initial_values_take_a_new_session_only_where_they_are_random(save):
    class Random(ToyModel):
        initializer = tf.random_uniform_initializer()

        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            drawn = tf.get_variable("drawn", [], initializer=self.initializer)
            return ModelOutput(metrics={"drawn": (drawn.read_value(), tf.no_op())})

    class Ones(Random):
        initializer = tf.ones_initializer()

    for model, sessions in [(Random, 2), (Ones, 1)]:
        evaluator, hook = toy(model), Recording()
        first, second = (evaluator.evaluate(None, hooks=[hook]).metrics for _ in range(2))
        assert first == second
        assert len(set(map(id, hook.sessions))) == sessions


def test_moving_averages_stand_for_the_variables(save):
    averages = {
        "linear/weights/ExponentialMovingAverage": WEIGHTS,
        "linear/biases/ExponentialMovingAverage": [4.0],
    }
    evaluator = toy(moving_average_decay=0.9)
    with pytest.raises(CheckpointError, match="holds no moving averages"):
        evaluator.evaluate(save(1))
    assert expected_metrics(1.0) == figures(evaluator, save(2, 5.0, **averages))
    raw = toy(moving_average_decay=0.9, eval_moving_averages=False)
    assert expected_metrics(5.0) == figures(raw, save(2, 5.0, **averages))


def test_a_checkpoint_may_hold_more_and_lie_in_another_folder(save):
    evaluator = toy()
    evaluator.evaluate(save(1))
    assert expected_metrics(2.0) == figures(
        evaluator, save(5, 2.0, folder="elsewhere", momentum=[1.0])
    )


def invert(content):
    return bytes(byte ^ 0xFF for byte in content)


@pytest.mark.parametrize(
    ("files", "harm"),
    [
        pytest.param("*", None, marks=pytest.mark.slow, id="deleted"),
        pytest.param("index", lambda content: b"nothing", marks=pytest.mark.slow),
        ("data*", invert),
        ("data*", lambda content: content[:3]),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_an_unreadable_checkpoint_is_an_error_and_the_next_one_is_evaluated(
    save, files, harm, first
):
    evaluator = toy()
    if not first:
        evaluator.evaluate(save(1))
    path = save(2)
    for file in Path(path).parent.glob(f"{Path(path).name}.{files}"):
        file.write_bytes(harm(file.read_bytes())) if harm else file.unlink()
    with pytest.raises(CheckpointError, match=r"model.ckpt-2 cannot be read: \S+"):
        evaluator.evaluate(path)
    assert expected_metrics(2.0) == figures(evaluator, save(3, 2.0))


def test_a_checkpoint_of_another_model_is_an_error_and_the_next_one_is_evaluated(save):
    class Bigger(ToyModel):
        def build(self, features, labels, mode):
            tf.get_variable("another", [])
            return super().build(features, labels, mode)

    evaluator = toy(Bigger)
    with pytest.raises(CheckpointError, match=r"another \[\]: not in the checkpoint"):
        evaluator.evaluate(save(1))
    assert expected_metrics(2.0) == figures(evaluator, save(2, 2.0, another=1.0))
    assert evaluator.model.calls == 1
