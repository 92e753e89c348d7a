from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import scalars, summary_tags
from refusals import refusal
from tf_frame_legacy import estimator

TRAIN = estimator.ModeKeys.TRAIN
TWO, FOUR, LAST = slice(0, 2), slice(2, 4), slice(4, 5)


def read_step(regressor):
    return int(regressor.get_variable_value("global_step"))


class Recorder(tf.train.SessionRunHook):
    """Writes down when it is called."""

    def __init__(self, name, calls):
        self._name, self._calls = name, calls

    def begin(self):
        self._calls.append(f"{self._name} begin")

    def after_create_session(self, session, coord):
        self._calls.append(f"{self._name} created")

    def before_run(self, run_context):
        self._calls.append(f"{self._name} before")

    def after_run(self, run_context, run_values):
        self._calls.append(f"{self._name} after")

    def end(self, session):
        self._calls.append(f"{self._name} end")


# How long


@pytest.mark.usefixtures("variable_mode")
def test_training_ends_with_the_input_and_saves(make, linear):
    regressor = make()
    assert regressor.train(linear.data()) is regressor
    assert read_step(regressor) == 3
    expected = linear.trained_weight([TWO, FOUR, LAST])
    np.testing.assert_allclose(regressor.get_variable_value("weight"), [expected], atol=1e-6)
    assert regressor.latest_checkpoint().endswith("model.ckpt-3")
    assert regressor.get_variable_names() == ["global_step", "weight"]


@pytest.mark.parametrize(
    ("repeat", "calls", "last"),
    [
        (None, [{"steps": 2}, {"steps": 3}], 5),
        pytest.param(None, [{"max_steps": 2}, {"max_steps": 3}], 3, marks=pytest.mark.slow),
        # The input ends before the steps.
        pytest.param(1, [{"steps": 100}, {"max_steps": 100}], 6, marks=pytest.mark.slow),
    ],
)
def test_steps_are_added_and_max_steps_are_those_of_all_calls(make, linear, repeat, calls, last):
    regressor = make()
    for options in calls:
        regressor.train(linear.data(repeat=repeat), **options)
    assert read_step(regressor) == last


def test_with_max_steps_behind_it_nothing_is_done(make, linear, messages):
    regressor = make()
    regressor.train(linear.data(), max_steps=2)

    def never():
        raise AssertionError

    assert regressor.train(never, max_steps=2) is regressor
    assert regressor.train(never, max_steps=1) is regressor
    assert "Skipping training since max_steps has already saved." in messages()


@pytest.mark.slow
def test_an_epoch_may_be_trained_call_by_call(make, linear):
    regressor = make()
    input_fn = estimator.inputs.numpy_input_fn(linear.x, linear.y, batch_size=2, shuffle=False)
    for _ in range(2):
        regressor.train(input_fn)
    assert read_step(regressor) == 6
    expected = linear.trained_weight([TWO, FOUR, LAST] * 2)
    np.testing.assert_allclose(regressor.get_variable_value("weight"), [expected], atol=1e-6)


def test_an_empty_input_is_warned_of(make, linear, messages):
    regressor = make()
    regressor.train(linear.data(repeat=0))
    assert read_step(regressor) == 0
    assert (
        "Training with estimator made no steps. Perhaps input is empty or misspecified."
    ) in messages()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 1, "max_steps": 1}, "Can not provide both steps and max_steps."),
        *(({"steps": number}, f"Must specify steps > 0, given: {number}") for number in (0, -1)),
        ({"max_steps": 0}, "Must specify max_steps > 0, given: 0"),
    ],
)
def test_wrong_numbers_of_steps_are_refused(make, linear, options, message):
    assert refusal(make().train, linear.data(), **options) == (ValueError, message)


def test_the_last_loss_is_logged(make, linear, messages):
    make().train(linear.data(), steps=1)
    (line,) = [line for line in messages() if line.startswith("Loss for final step: ")]
    assert float(line.removeprefix("Loss for final step: ").rstrip(".")) == pytest.approx(6.5)


# Hooks


def test_hooks_are_called_in_the_old_order(make, linear):
    calls = []

    def model_fn(features, labels, mode):
        return linear.model_fn(features, labels, mode)._replace(
            training_hooks=(Recorder("model", calls),),
            training_chief_hooks=(Recorder("chief", calls),),
        )

    hooks = [Recorder("first", calls), Recorder("second", calls)]
    make(model_fn).train(linear.data(), hooks=hooks, steps=1)
    names = ["chief", "first", "second", "model"]
    moments = ["begin", "created", "before", "after", "end"]
    assert calls == [f"{name} {moment}" for moment in moments for name in names]
    assert len(hooks) == 2


def test_only_hooks_are_taken_as_hooks(make, linear):
    message = "Hooks must be a SessionRunHook, given: hook"
    assert refusal(make().train, linear.data(), hooks=["hook"]) == (TypeError, message)


def test_a_hook_may_stop_training(make, linear):
    class Stop(estimator.SessionRunHook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    regressor = make()
    regressor.train(linear.data(repeat=None), hooks=(Stop(),))
    assert read_step(regressor) == 1


def test_a_hook_gets_what_it_asks_for_after_the_step(make, linear):
    seen = []

    class Steps(estimator.SessionRunHook):
        def before_run(self, run_context):
            return estimator.SessionRunArgs({"features": self._features}, feed_dict=None)

        def begin(self):
            self._features = tf.get_default_graph().get_tensor_by_name("features:0")

        def after_run(self, run_context, run_values):
            seen.append(run_values.results["features"].tolist())

    def model_fn(features, labels, mode):
        return linear.model_fn(tf.identity(features, name="features"), labels, mode)

    make(model_fn).train(linear.data(), hooks=[Steps()])
    assert seen == [[[1.0], [2.0]], [[3.0], [4.0]], [[5.0]]]


def test_a_loss_of_nan_ends_training(make, linear):
    def model_fn(features, labels, mode):
        return linear.model_fn(features * float("nan"), labels, mode)

    regressor = make(model_fn)
    with pytest.raises(estimator.NanLossDuringTrainingError):
        regressor.train(linear.data())


# The graph


def test_the_global_step_and_the_seed_are_there_for_input_and_model(make, linear):
    seen = []

    def look():
        step = tf.train.get_global_step()
        seen.append((step is not None, tf.get_default_graph().seed))

    def input_fn():
        look()
        return linear.data()()

    def model_fn(features, labels, mode):
        look()
        return linear.model_fn(features, labels, mode)

    regressor = make(model_fn, config=estimator.RunConfig(tf_random_seed=42))
    regressor.train(input_fn, steps=1)
    regressor.evaluate(input_fn)
    list(regressor.predict(input_fn))
    assert seen == [(True, 42)] * 6


def test_the_scaffold_of_the_model_initialises(make, linear):
    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        (weight,) = tf.trainable_variables()
        assign = weight.assign([5.0])
        scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(assign))
        return spec._replace(scaffold=scaffold)

    regressor = make(model_fn)
    regressor.train(linear.data(), steps=1)
    expected = linear.trained_weight([TWO], weight=5.0)
    np.testing.assert_allclose(regressor.get_variable_value("weight"), [expected], rtol=1e-6)


def test_summaries_of_the_model_and_the_loss_are_written_at_their_steps(make, linear):
    def model_fn(features, labels, mode):
        tf.summary.scalar("batch_size", tf.shape(features)[0])
        return linear.model_fn(features, labels, mode)

    regressor = make(model_fn, config=estimator.RunConfig(save_summary_steps=2))
    regressor.train(linear.data(repeat=None), steps=5)
    losses, sizes = (scalars(Path(regressor.model_dir), tag) for tag in ("loss", "batch_size"))
    # The first step, and then multiples; the old hook counted on from the first.
    assert sizes == [(1, 2.0), (2, 2.0), (4, 2.0)]
    assert [step for step, _ in losses] == [1, 2, 4]
    assert losses[0][1] == pytest.approx(6.5)


def test_how_often_is_told_by_steps_for_arrays_too(make, linear):
    regressor = make(config=estimator.RunConfig(log_step_count_steps=1))
    input_fn = estimator.inputs.numpy_input_fn(linear.x, linear.y, batch_size=1, shuffle=False)
    regressor.train(input_fn)
    assert summary_tags(Path(regressor.model_dir)) == {"loss", "global_step/sec"}


def test_hooks_of_users_see_the_step_whose_loss_is_nan(make, linear):
    calls = []

    class Looks(tf.train.SessionRunHook):
        def before_run(self, run_context):
            calls.append("before")

        def after_run(self, run_context, run_values):
            calls.append("after")

    def model_fn(features, labels, mode):
        return linear.model_fn(features * float("nan"), labels, mode)

    with pytest.raises(estimator.NanLossDuringTrainingError):
        make(model_fn).train(linear.data(), hooks=[Looks()])
    assert calls == ["before", "after"]


def test_the_seed_of_graphs_is_that_of_the_configuration(make, linear):
    seeds = []

    def model_fn(features, labels, mode):
        seeds.append(tf.get_default_graph().seed)
        return linear.model_fn(features, labels, mode)

    make(model_fn).train(linear.data(), steps=1)
    assert seeds == [estimator.RunConfig().tf_random_seed] == [1]


def test_a_task_that_says_that_it_is_no_chief_runs_no_hooks_of_chiefs(make, linear, monkeypatch):
    class NoChief(estimator.RunConfig):
        is_chief = property(lambda self: False)

    class Began(tf.train.SessionRunHook):
        def __init__(self):
            self.graph = None

        def begin(self):
            self.graph = tf.get_default_graph()

    chief_hook, hook = Began(), Began()

    def model_fn(features, labels, mode):
        spec = linear.model_fn(features, labels, mode)
        return spec._replace(training_chief_hooks=[chief_hook], training_hooks=[hook])

    def wait_for_session(manager, master, config=None, max_wait_secs=None):
        session = tf.Session(master, config=config)
        scaffold = tf.train.Scaffold().finalize()
        session.run(scaffold.init_op)
        session.run(scaffold.local_init_op)
        return session

    # Another task would initialise the variables.
    monkeypatch.setattr(tf.train.SessionManager, "wait_for_session", wait_for_session)
    regressor = make(model_fn, config=NoChief())
    regressor.train(linear.data(), steps=1)
    assert chief_hook.graph is None
    assert hook.graph is not None
    assert not tf.train.latest_checkpoint(regressor.model_dir)
