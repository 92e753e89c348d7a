from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.platform import tf_logging

from event_files import scalars, summaries
from refusals import refusal
from tf_frame_legacy import estimator

# Of the rows 1..5 in batches of two, with labels 2 x + 1 and the weight 1.
LOSSES = [(4 + 9) / 2, (16 + 25) / 2, 36.0]
MAE = (2 + 3 + 4 + 5 + 6) / 5


class Counter(tf.train.SessionRunHook):
    def __init__(self):
        self.runs = self.begun = self.ended = 0

    def begin(self):
        self.begun += 1

    def after_run(self, run_context, run_values):
        self.runs += 1

    def end(self, session):
        self.ended += 1


def at_start(regressor, linear):
    """Saves the model as it begins, at step 0."""
    return regressor.train(linear.data(repeat=0))


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
def test_metrics_the_mean_loss_and_the_step_are_returned(make, linear):
    regressor = make().train(linear.data(), steps=2)
    weight = float(regressor.get_variable_value("weight")[0])
    results = regressor.evaluate(linear.data())
    errors = linear.x[:, 0] * weight - linear.y[:, 0]
    losses = [np.mean(part**2) for part in np.split(errors, [2, 4])]
    assert results.keys() == {"loss", "mae", "global_step"}
    assert results["loss"] == pytest.approx(np.mean(losses), rel=1e-5)
    assert results["mae"] == pytest.approx(np.abs(errors).mean(), rel=1e-5)
    assert results["global_step"] == 2


def test_steps_limit_the_batches(make, linear):
    regressor = at_start(make(), linear)
    assert regressor.evaluate(linear.data(), steps=1)["loss"] == pytest.approx(LOSSES[0])
    assert regressor.evaluate(linear.data(), steps=2)["loss"] == pytest.approx(np.mean(LOSSES[:2]))
    assert regressor.evaluate(linear.data(), steps=9)["loss"] == pytest.approx(np.mean(LOSSES))
    assert regressor.evaluate(linear.data(repeat=None), steps=4)["loss"] == pytest.approx(
        # The third batch has rows 5 and 1, the fourth 2 and 3.
        np.mean([*LOSSES[:2], (36 + 4) / 2, (9 + 16) / 2])
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["data set", "tensors"])
def test_hooks_and_updates_run_once_for_each_of_the_steps(make, linear, kind):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        count = tf.get_variable(
            "count", [], collections=["local_variables"], initializer=tf.zeros_initializer()
        )
        counted = (count.read_value(), tf.assign_add(count, 1))
        return spec._replace(eval_metric_ops={"updates": counted})

    counter = Counter()
    regressor = at_start(make(model_fn), linear)
    endless = {
        "data set": linear.data(repeat=None),
        "tensors": lambda: (tf.constant(linear.x), tf.constant(linear.y)),
    }
    for _ in range(2):
        results = regressor.evaluate(endless[kind], steps=3, hooks=[counter])
        assert results["updates"] == 3
    assert (counter.begun, counter.runs, counter.ended) == (2, 6, 2)
    # The data has three batches: the fourth run finds its end, and a hook does not see it.
    regressor.evaluate(linear.data(), steps=9, hooks=[counter])
    assert counter.runs == 9


@pytest.mark.slow
def test_a_metric_may_be_a_structure(make, linear):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        value, update = tf.metrics.mean(features)
        nested = {"nested": ((value, (2 * value,)), update)}
        return spec._replace(eval_metric_ops=nested)

    regressor = at_start(make(model_fn), linear)
    assert regressor.evaluate(linear.data())["nested"] == (3.0, (6.0,))


@pytest.mark.parametrize("steps", [0, -3])
def test_steps_must_be_positive(make, linear, steps):
    message = f"Must specify steps > 0, given: {steps}"
    assert refusal(make().evaluate, linear.data(), steps=steps) == (ValueError, message)


def test_tensors_without_end_are_evaluated_for_so_many_steps(make, linear):
    regressor = at_start(make(), linear)
    results = regressor.evaluate(lambda: (tf.constant(linear.x), tf.constant(linear.y)), steps=3)
    assert results["loss"] == pytest.approx(np.mean([4, 9, 16, 25, 36]))


def test_without_a_checkpoint_initial_values_are_evaluated(make, linear, messages):
    regressor = make()
    results = regressor.evaluate(linear.data())
    assert results["loss"] == pytest.approx(np.mean(LOSSES))
    assert results["mae"] == pytest.approx(MAE)
    assert results["global_step"] == 0
    assert (
        f"Could not find trained model in model_dir: {regressor.model_dir}, "
        "running initialization to evaluate."
    ) in messages()


@pytest.mark.slow
def test_an_older_checkpoint_may_be_evaluated(make, linear):
    regressor = make(config=estimator.RunConfig(save_checkpoints_steps=1)).train(linear.data())
    older = f"{regressor.model_dir}/model.ckpt-0"
    results = regressor.evaluate(linear.data(), checkpoint_path=older)
    assert results["global_step"] == 0
    assert results["mae"] == pytest.approx(MAE)
    assert regressor.evaluate(linear.data())["global_step"] == 3


@pytest.mark.slow
def test_hooks_of_the_call_and_of_the_model_are_called(make, linear):
    call_hook, model_hook = Counter(), Counter()

    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        return spec._replace(evaluation_hooks=[model_hook])

    regressor = at_start(make(model_fn), linear)
    regressor.evaluate(linear.data(), hooks=[call_hook])
    assert (call_hook.begun, call_hook.runs, call_hook.ended) == (1, 3, 1)
    assert (model_hook.begun, model_hook.runs, model_hook.ended) == (1, 3, 1)
    message = "Hooks must be a SessionRunHook, given: hook"
    assert refusal(regressor.evaluate, linear.data(), hooks=["hook"]) == (TypeError, message)


@pytest.mark.slow
def test_the_same_evaluation_again_reads_the_data_anew_and_the_newer_variables(make, linear):
    regressor, input_fn = make(), linear.data()
    regressor.train(linear.data(), steps=1)
    first, again = regressor.evaluate(input_fn), regressor.evaluate(input_fn)
    assert first == again
    regressor.train(linear.data(), steps=1)
    later = regressor.evaluate(input_fn)
    assert later["global_step"] == 2 and later["loss"] < first["loss"]


@pytest.mark.slow
def test_results_are_written_as_they_were_called(make, linear):
    regressor = at_start(make(), linear)
    regressor.evaluate(linear.data(), name="test")
    written = summaries(Path(regressor.eval_dir("test")))
    assert {step for step, _ in written} == {0}
    values = {value.tag: value for _, value in written}
    assert values["loss"].simple_value == pytest.approx(np.mean(LOSSES))
    assert values["mae"].simple_value == pytest.approx(MAE)
    assert values["checkpoint_path"].tensor.string_val == [regressor.latest_checkpoint().encode()]
    assert "global_step" not in values
    assert not tf.io.gfile.exists(regressor.eval_dir())


def with_metric(linear, name):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        return spec._replace(eval_metric_ops={name: tf.metrics.mean(features)})

    return model_fn


def test_names_of_the_estimators_own_metrics_are_refused(make, linear):
    for name, quoted in [("loss", '"loss"'), ("global_step", "`global_step`")]:
        assert refusal(make(with_metric(linear, name)).evaluate, linear.data()) == (
            ValueError,
            f"Metric with name {quoted} is not allowed, because Estimator already defines a "
            "default metric with the same name.",
        )


@pytest.mark.slow
def test_a_metric_may_be_an_array(make, linear):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        means = tf.metrics.mean_tensor(tf.reduce_mean(tf.concat([features, labels], 1), 0))
        return spec._replace(eval_metric_ops={"means": means})

    regressor = at_start(make(model_fn), linear)
    results = regressor.evaluate(linear.data(batch_size=5))
    np.testing.assert_allclose(results["means"], [3.0, 7.0])


@pytest.mark.slow
def test_the_local_init_op_of_a_scaffold_runs_beside_the_default_one(make, linear):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        if mode != estimator.ModeKeys.EVAL:
            return spec
        counter = tf.Variable(0, collections=["mine"], trainable=False)
        start = counter.assign(7)
        return spec._replace(
            scaffold=tf.train.Scaffold(local_init_op=start),
            eval_metric_ops={
                "mae": spec.eval_metric_ops["mae"],
                "seven": (counter + 0, tf.no_op()),
            },
        )

    regressor = at_start(make(model_fn), linear)
    results = regressor.evaluate(linear.data())
    assert results["seven"] == 7 and results["mae"] == pytest.approx(MAE)


def summarising(linear):
    """The model with a summary of a batch that is called like a metric of all batches."""

    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        tf.summary.scalar("mae", spec.eval_metric_ops["mae"][1])
        never_fed = tf.placeholder(tf.float32, [])
        if mode == "eval":
            tf.summary.scalar("fed", never_fed)
        return spec

    return model_fn


@pytest.mark.slow
def test_summaries_of_the_model_function_are_not_mixed_with_the_metrics(make, linear):
    regressor = at_start(make(summarising(linear)), linear)
    regressor.evaluate(linear.data())
    folder = Path(regressor.eval_dir())
    assert scalars(folder, "mae") == [(0, pytest.approx(MAE))]
    assert scalars(folder, "fed") == []


def test_nor_in_memory(make, linear):
    regressor = make(summarising(linear))
    hook = estimator.experimental.InMemoryEvaluatorHook(regressor, linear.data(), every_n_iter=100)
    regressor.train(linear.data(), hooks=[hook], steps=1)
    steps = [step for step, _ in scalars(Path(regressor.eval_dir()), "mae")]
    assert steps == sorted(set(steps)) and len(steps) >= 1


@pytest.mark.slow
def test_a_metric_whose_value_reads_the_input_is_warned_of(make, linear, monkeypatch):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        return spec._replace(eval_metric_ops={"mean": (tf.reduce_mean(features), tf.no_op())})

    warnings = []
    monkeypatch.setattr(tf_logging, "warning", lambda text, *_: warnings.append(text))
    regressor = at_start(make(model_fn), linear)
    with pytest.raises(tf.errors.OutOfRangeError):
        regressor.evaluate(linear.data())
    assert [text for text in warnings if "have a dependency back to some input source" in text]
