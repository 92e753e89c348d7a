import types

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame.errors import ConfigError
from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.in_memory_evaluator import InMemoryEvaluatorHook
from tf_frame.estimator.run_config.run_config import RunConfig
from tf_frame.hooks.by_name.early_stopping import EvalMetricsReader
from tf_frame.hooks.training_clock import training_clock
from tf_frame.testing.one_weight import batches, input_fn, loss_after, model_fn
from tf_frame.testing.toy import ToyInput, ToyModel


@pytest.fixture
def make(tmp_path):
    def make(model=model_fn, **config):
        return Estimator(model, model_dir=str(tmp_path), config=RunConfig(**config))

    return make


def metric(estimator, metric="loss", name=None):
    found = EvalMetricsReader(estimator.eval_dir(name)).read()
    return {step: values[metric] for step, values in found.items()}


@pytest.mark.usefixtures("variable_mode")
def test_the_variables_of_training_are_evaluated_while_it_goes_on(make):
    estimator = make()
    hook = InMemoryEvaluatorHook(estimator, batches, every_n_iter=4)
    estimator.train(input_fn, hooks=[hook], max_steps=10)
    assert metric(estimator) == {step: loss_after(step) for step in (0, 4, 8, 10)}


@pytest.mark.slow
def test_a_training_that_goes_on_is_evaluated_from_where_it_begins(make):
    estimator = make()
    estimator.train(input_fn, max_steps=3)
    hook = InMemoryEvaluatorHook(estimator, batches, every_n_iter=2)
    estimator.train(input_fn, hooks=[hook], max_steps=6)
    assert metric(estimator) == {step: loss_after(step) for step in (3, 5, 6)}
    # And so is a third one with the same hook.
    estimator.train(input_fn, hooks=[hook], max_steps=7)
    assert metric(estimator)[7] == loss_after(7)


def test_the_last_step_is_evaluated_once_in_a_graph_that_is_built_once(make, tmp_path):
    evaluations, built = [], []

    class Counting(tf.train.SessionRunHook):
        def end(self, session):
            evaluations.append(1)

    def counted():
        built.append(1)
        return batches()

    estimator = make(save_checkpoints_steps=None, save_checkpoints_secs=None)
    assert InMemoryEvaluatorHook(estimator, batches).cadence.every_steps == 100
    hook = InMemoryEvaluatorHook(estimator, counted, hooks=[Counting()], every_n_iter=4)
    estimator.train(input_fn, hooks=[hook], max_steps=8)
    assert (len(evaluations), len(built)) == (3, 1)
    assert list(metric(estimator)) == [0, 4, 8]
    # The evaluations need no checkpoint.
    assert not list(tmp_path.glob("model.ckpt*"))


@pytest.mark.slow
def test_steps_and_name_count(make):
    estimator = make()

    def pairs():
        return tf.data.Dataset.from_tensor_slices(({"x": [[1.0], [1.0]]}, [[4.0], [8.0]]))

    hooks = [
        InMemoryEvaluatorHook(estimator, pairs, steps=1, name="one", every_n_iter=2),
        InMemoryEvaluatorHook(estimator, pairs, name="all", every_n_iter=2),
    ]
    estimator.train(input_fn, hooks=hooks, max_steps=2)
    assert metric(estimator, name="one") == {0: 16.0, 2: 1.0}
    assert metric(estimator, name="all") == {0: 40.0, 2: 13.0}
    assert metric(estimator) == {}


@pytest.mark.slow
def test_the_training_session_is_left_as_it_was(make):
    weights = []
    for hooks in ([], [InMemoryEvaluatorHook(make(), batches, every_n_iter=1)]):
        estimator = Estimator(model_fn, config=RunConfig(tf_random_seed=1))
        estimator.train(input_fn, hooks=hooks, max_steps=5)
        weights.append(float(estimator.get_variable_value("weight")))
    assert weights == [4 * (1 - 0.5**5)] * 2


@pytest.mark.slow
def test_the_seconds_of_an_evaluation_are_no_seconds_of_training(make):
    seen = []

    def looking():
        seen.append(training_clock())
        seen.append(training_clock())
        return batches()

    estimator = make()
    hook = InMemoryEvaluatorHook(estimator, looking)
    estimator.train(input_fn, hooks=[hook], max_steps=1)
    assert seen[0] == seen[1]


@pytest.mark.slow
def test_metrics_of_plugins_are_those_of_a_checkpoint(tmp_path):
    source = ToyInput(params=ToyInput.Params())
    options = {"moving_average_decay": 0.5, "train_batch_size": 8}
    config = RunConfig(options={**options, "optimizer": "adam"})
    estimator = Estimator(ToyModel, model_dir=str(tmp_path), config=config)
    hook = InMemoryEvaluatorHook(estimator, source, name="memory", every_n_iter=5)
    estimator.train(source, hooks=[hook], max_steps=5)
    from_checkpoint = estimator.evaluate(source)
    found = EvalMetricsReader(estimator.eval_dir("memory")).read()[5]
    for name in ("loss", "mean_absolute_error"):
        assert np.float32(found[name]) == from_checkpoint[name]


def own_scaffold(**parts):
    def function(features, labels, mode):
        spec = model_fn(features, labels, mode)
        return spec._replace(scaffold=tf.train.Scaffold(**{k: v() for k, v in parts.items()}))

    return function


@pytest.mark.parametrize(
    ("model", "part"),
    [
        (own_scaffold(saver=lambda: tf.train.Saver()), "saver"),
        (own_scaffold(init_fn=lambda: lambda scaffold, session: None), "init_fn"),
    ],
)
def test_a_model_with_its_own_way_to_restore_is_refused(make, model, part):
    def only_in_evaluation(features, labels, mode):
        return (model if mode == "eval" else model_fn)(features, labels, mode)

    estimator = make(only_in_evaluation)
    hook = InMemoryEvaluatorHook(estimator, batches)
    message = f"InMemoryEvaluator does not support custom {part}"
    assert refusal(estimator.train, input_fn, hooks=[hook], max_steps=1) == (ValueError, message)


def test_saveables_that_are_no_variables_are_refused(make):
    hook = InMemoryEvaluatorHook(make(), batches)
    with tf.Graph().as_default():
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, "table")
        message = "InMemoryEvaluator does not support saveables other than global variables."
        assert refusal(hook.begin) == (ValueError, message)


def test_a_variable_that_training_has_not_is_an_error(make):
    def function(features, labels, mode):
        if mode == "eval":
            tf.get_variable("only_in_evaluation", [2])
        return model_fn(features, labels, mode)

    estimator = make(function)
    hook = InMemoryEvaluatorHook(estimator, batches)
    assert refusal(estimator.train, input_fn, hooks=[hook], max_steps=1) == (
        ConfigError,
        "InMemoryEvaluator: the evaluation has 1 variables that training has not, first "
        "only_in_evaluation; make them local variables, or make them in training as well",
    )


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"every_n_iter": 0}, ValueError, "invalid every_n_iter=0."),
        ({"every_n_iter": -1}, ValueError, "invalid every_n_iter=-1."),
        ({"every_n_iter": None}, ValueError, "invalid every_n_iter=None."),
        ({"steps": 0}, ValueError, "Must specify steps > 0, given: 0"),
        ({"hooks": [5]}, TypeError, "Hooks must be a SessionRunHook, given: 5"),
    ],
)
def test_wrong_arguments_are_refused(make, arguments, kind, message):
    assert refusal(InMemoryEvaluatorHook, make(), batches, **arguments) == (kind, message)


@pytest.mark.parametrize(("num_ps", "workers"), [(1, 1), (0, 2)])
def test_only_a_process_alone_can_evaluate_in_memory(num_ps, workers):
    config = types.SimpleNamespace(num_ps_replicas=num_ps, num_worker_replicas=workers)
    estimator = types.SimpleNamespace(config=config)
    message = "InMemoryEvaluator supports only single machine (aka Local) setting."
    assert refusal(InMemoryEvaluatorHook, estimator, batches) == (ValueError, message)
