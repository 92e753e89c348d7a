import inspect
import types

import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from slow_cases import slow, slow_but
from tf_frame.estimator import early_stopping
from tf_frame.estimator.early_stopping import (
    FollowChiefHook,
    TellWorkersHook,
    make_early_stopping_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.run_config.run_config import RunConfig
from tf_frame.estimator.train_and_eval.executor import train_and_evaluate
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec
from tf_frame.hooks.by_name.early_stopping import EarlyStoppingHook
from tf_frame.runs.evaluation.results import write_evaluation
from tf_frame.testing.one_weight import batches, input_fn, loss_after, model_fn

BY_STEPS = {"run_every_secs": None, "run_every_steps": 1}


@pytest.fixture
def estimator(tmp_path):
    config = RunConfig(save_checkpoints_steps=2)
    return Estimator(model_fn, model_dir=str(tmp_path), config=config)


def read_steps(estimator):
    return int(estimator.get_variable_value("global_step"))


class TaskEstimator(Estimator):
    """An estimator that is one task of a cluster, as far as a hook asks."""

    def __init__(self, *, is_chief, workers=2):
        self._task = types.SimpleNamespace(is_chief=is_chief, num_worker_replicas=workers)

    config = property(lambda self: self._task)

    def eval_dir(self, name=None):
        return "eval"


def test_a_function_ends_training(estimator):
    answers = iter([False, False, True])
    hook = make_early_stopping_hook(estimator, lambda: next(answers), **BY_STEPS)
    estimator.train(input_fn, hooks=[hook], max_steps=9)
    assert read_steps(estimator) == 3
    assert hook.reason == "should_stop_fn returned true"


def test_the_function_is_called_every_so_many_steps_or_every_minute_by_default(estimator):
    calls = []
    hook = make_early_stopping_hook(
        estimator, lambda: calls.append(1), run_every_secs=None, run_every_steps=4
    )
    estimator.train(input_fn, hooks=[hook], max_steps=9)
    assert len(calls) == 3  # After steps 1, 5 and 9.
    cadence = make_early_stopping_hook(estimator, lambda: False).cadence
    assert (cadence.every_secs, cadence.every_steps) == (60, None)


@pytest.mark.parametrize(
    ("make", "stops_at"),
    slow_but(
        0,
        [
            # The loss is 1 after step 2 and 1/16 after step 4; the weight 3 and 3.75.
            (lambda e: stop_if_lower_hook(e, "loss", 0.5, **BY_STEPS), 4),
            slow(lambda e: stop_if_lower_hook(e, "loss", 2.0, min_steps=3, **BY_STEPS), 4),
            slow(lambda e: stop_if_higher_hook(e, "weight", 2.9, **BY_STEPS), 2),
            (lambda e: stop_if_higher_hook(e, "weight", 3.9, **BY_STEPS), 6),
            (lambda e: stop_if_no_increase_hook(e, "loss", 4, **BY_STEPS), 6),
            slow(lambda e: stop_if_no_decrease_hook(e, "weight", 2, **BY_STEPS), 4),
            slow(lambda e: stop_if_no_decrease_hook(e, "loss", 2, **BY_STEPS), 8),
            (lambda e: stop_if_no_increase_hook(e, "weight", 2, **BY_STEPS), 8),
        ],
        several=True,
    ),
)
def test_an_evaluation_ends_the_training_that_it_belongs_to(estimator, make, stops_at):
    spec = EvalSpec(batches, throttle_secs=0)
    train = TrainSpec(input_fn, max_steps=8, hooks=[make(estimator)])
    metrics, _ = train_and_evaluate(estimator, train, spec)
    assert metrics["global_step"] == stops_at
    assert metrics["loss"] == loss_after(stops_at)


@pytest.mark.slow
def test_evaluations_may_be_in_another_folder(estimator, tmp_path):
    hooks = [
        stop_if_lower_hook(estimator, "loss", 0.5, eval_dir=str(tmp_path / name), **BY_STEPS)
        for name in ("eval", "eval_holdout")
    ]
    for step in (1, 2):
        write_evaluation(str(tmp_path / "eval_holdout"), {"loss": 1 / step / 2}, None, step)
    estimator.train(input_fn, hooks=hooks[:1], max_steps=4)
    assert read_steps(estimator) == 4
    # The evaluations are read before the first step.
    estimator.train(input_fn, hooks=hooks, max_steps=8)
    assert read_steps(estimator) == 4


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (stop_if_higher_hook, "threshold"),
        (stop_if_lower_hook, "threshold"),
        (stop_if_no_increase_hook, "max_steps_without_increase"),
        (stop_if_no_decrease_hook, "max_steps_without_decrease"),
    ],
)
def test_the_signatures_are_the_old_ones(make, word):
    parameters = inspect.signature(make).parameters
    names = ["eval_dir", "min_steps", "run_every_secs", "run_every_steps"]
    assert list(parameters) == ["estimator", "metric_name", word, *names]
    assert [parameters[name].default for name in names] == [None, 0, 60, None]
    assert make.__name__ in early_stopping.__dict__


@pytest.mark.parametrize("make", [make_early_stopping_hook, stop_if_lower_hook])
def test_the_estimator_must_be_one(make):
    arguments = [len] if make is make_early_stopping_hook else ["loss", 1.0]
    message = "`estimator` must have type `tf.estimator.Estimator`. Got: <class 'str'>"
    assert refusal(make, "e", *arguments) == (TypeError, message)


@pytest.mark.parametrize("is_chief", [True, False])
def test_wrong_arguments_are_refused_in_every_task(is_chief):
    estimator = TaskEstimator(is_chief=is_chief)
    message = "`should_stop_fn` must be callable."
    assert refusal(make_early_stopping_hook, estimator, 5) == (TypeError, message)
    both = "Only one of `run_every_secs` and `run_every_steps` must be set."
    assert refusal(make_early_stopping_hook, estimator, len, 60, 5) == (ValueError, both)
    arguments = {"run_every_steps": 5}
    assert refusal(stop_if_lower_hook, estimator, "loss", 1.0, **arguments) == (ValueError, both)
    neither = "One of `run_every_secs` and `run_every_steps` must be set."
    assert refusal(make_early_stopping_hook, estimator, len, None) == (ValueError, neither)


@pytest.mark.parametrize(
    ("is_chief", "workers", "kind"),
    [(True, 1, EarlyStoppingHook), (True, 2, TellWorkersHook), (False, 2, FollowChiefHook)],
)
def test_each_task_gets_the_hook_for_its_part(is_chief, workers, kind):
    estimator = TaskEstimator(is_chief=is_chief, workers=workers)
    assert type(make_early_stopping_hook(estimator, lambda: False)) is kind
    assert type(stop_if_lower_hook(estimator, "loss", 1.0)) is kind


def chief_hook(reasons):
    """The hook of a chief that stops once there is a reason."""
    hook = EarlyStoppingHook(
        lambda _: "".join(reasons), dict, run_every_secs=None, run_every_steps=1
    )
    return TellWorkersHook(hook)


class Task:
    """One task that trains: a graph of its own, and a session to the same server as the others."""

    def __init__(self, target, hook, *, is_chief):
        self.hook = hook
        with tf.Graph().as_default():
            with tf.device("/device:CPU:0"):
                self.step = tf.train.create_global_step()
            hook.begin()
            self.added = self.step.assign_add(1)
            self.saved = tf.global_variables() + tf.local_variables()
            initialize = tf.variables_initializer([self.step])
            self.session = tf.Session(target)
            if is_chief:
                self.session.run(initialize)
        hook.start(self.session, 0)

    def run(self):
        """Runs a step; returns whether the hook asks for a stop."""
        args = self.hook.before_step(None, 1)
        fetches = [self.added] if args is None else [self.added, args.fetches]
        step, *results = self.session.run(fetches)
        context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), self.session)
        if self.hook.cadence.wants(int(step)):
            values = tf.train.SessionRunValues(results[0] if results else None, None, None)
            self.hook.after_step(context, values, int(step))
        return context.stop_requested


@pytest.fixture
def target():
    server = tf.train.Server.create_local_server()
    yield server.target
    tf.Session.reset(server.target)


@pytest.mark.usefixtures("variable_mode")
def test_the_chief_tells_the_workers_and_no_checkpoint_knows(target):
    # The signal has no value yet.
    assert not Task(target, FollowChiefHook(), is_chief=True).run()
    now = []
    hook = chief_hook(now)
    chief = Task(target, hook, is_chief=True)
    worker = Task(target, FollowChiefHook(), is_chief=False)
    assert not chief.run()
    assert not worker.run()
    now.append("why")
    assert chief.run()
    assert worker.run()
    for task in (chief, worker):
        assert [variable.op.name for variable in task.saved] == ["global_step"]
    # The next training begins without that.
    now.clear()
    further = Task(target, chief_hook(now), is_chief=True)
    assert not further.run()
    assert not worker.run()


def test_the_signal_has_the_old_name_and_stands_beside_the_global_step():
    with tf.Graph().as_default():
        message = "early stopping in a cluster needs a global step in the graph"
        assert refusal(FollowChiefHook().begin) == (RuntimeError, message)
        with tf.device("/job:ps/task:1"):
            tf.train.create_global_step()
        FollowChiefHook().begin()
        (signal,) = tf.get_collection(early_stopping._COLLECTION)
        assert signal.op.name == "signal_early_stopping/STOP"
        assert signal.device == "/job:ps/task:1"
