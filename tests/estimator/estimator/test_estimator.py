"""The estimator with models and inputs of tf-frame, and with model functions by configuration."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import tf_frame
from tf_frame import Estimator, RunConfig
from tf_frame.checkpoint.find.newest import read_step
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.estimator import export
from tf_frame.estimator.errors import NanLossError
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.session.interrupts import Interrupted, Interrupts
from tf_frame.testing.toy import WEIGHTS, ToyModel

from .conftest import FEATURES, INPUT, LABELS, SGD, input_fn, model_fn, served, sgd, tags


def test_a_function_without_a_train_op_is_trained_as_configured(
    tmp_path,
):
    estimator = Estimator(model_fn, model_dir=tmp_path, config=RunConfig(options=SGD))
    estimator.train(input_fn, steps=10)
    np.testing.assert_allclose(estimator.get_variable_value("w"), sgd(10, 0.05), rtol=1e-5)
    assert estimator.get_variable_names() == ["global_step", "w"]
    options = {**SGD, "transforms": ["clip_by_global_norm:0.001"]}
    estimator = Estimator(model_fn, config=RunConfig(tmp_path / "clipped", options=options))
    norm = np.linalg.norm(estimator.train(input_fn, steps=1).get_variable_value("w"))
    np.testing.assert_allclose(norm, 0.05 * 0.001, rtol=1e-4)


def test_two_clones_make_the_step_of_one_on_the_whole_batch(tmp_path):
    def halves():
        dataset = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS))
        return dataset.repeat().batch(4)

    config = RunConfig(options={**SGD, "num_clones": 2})
    estimator = Estimator(model_fn, model_dir=tmp_path, config=config).train(halves, steps=10)
    np.testing.assert_allclose(estimator.get_variable_value("w"), sgd(10, 0.05), rtol=1e-4)


def test_a_model_class_and_an_input_train_evaluate_and_predict(tmp_path):
    config = RunConfig(options={"train_batch_size": 8, "learning_rate": 0.05})
    estimator = Estimator(ToyModel, model_dir=tmp_path, config=config, params={"l2": 0.0})
    estimator.train(INPUT, max_steps=200)
    metrics = estimator.evaluate(INPUT)
    assert metrics["global_step"] == 200 and metrics["mean_absolute_error"] < 0.05
    assert {"losses/loss", "metrics/mean_absolute_error"} <= tags(estimator.eval_dir())
    predicted = [row["value"] for row in estimator.predict(INPUT)]
    expected = np.random.RandomState(0).randn(64, 3).astype(np.float32) @ WEIGHTS + 3
    np.testing.assert_allclose(predicted, expected, atol=0.3)


@pytest.mark.slow
def test_the_graph_of_an_evaluation_is_built_once_for_each_name(tmp_path):
    built = []

    def counting(features, labels, mode):
        built.append(mode)
        return model_fn(features, labels, mode)

    estimator = Estimator(counting, model_dir=tmp_path, config=RunConfig(options=SGD))
    losses = []
    for _ in range(3):
        estimator.train(input_fn, steps=3)
        losses.append(estimator.evaluate(input_fn)["loss"])
    assert built.count("eval") == 1
    assert losses[0] > losses[1] > losses[2]
    estimator.evaluate(input_fn, steps=2)
    estimator.evaluate(lambda mode: input_fn(mode), steps=2)
    assert built.count("eval") == 3
    estimator.close()
    for _ in range(2):
        estimator.evaluate(input_fn)
        estimator.evaluate(input_fn, name="other")
    assert built.count("eval") == 5
    assert {"eval", "eval_other"} <= set(os.listdir(tmp_path))


def test_a_loss_that_is_not_a_number_is_an_error_of_both_kinds(tmp_path):
    estimator = Estimator(ToyModel, model_dir=tmp_path, params={"nan_at_step": 2})
    with pytest.raises(NanLossError, match="train_op") as raised:
        estimator.train(INPUT, steps=5)
    assert isinstance(raised.value, tf.train.NanLossDuringTrainingError)
    assert isinstance(raised.value, tf_frame.errors.NonFiniteError)


def test_a_checkpoint_of_another_architecture_is_refused_by_name(tmp_path):
    Estimator(model_fn, model_dir=tmp_path).train(input_fn, steps=1)
    other = Estimator(ToyModel, model_dir=tmp_path)
    for use in (other.train, other.evaluate, lambda source: next(other.predict(source))):
        with pytest.raises(CheckpointError, match="linear/weights"):
            use(INPUT, **({"steps": 1} if use == other.train else {}))


def test_an_observer_is_told(tmp_path):
    said = []
    warm = Estimator(model_fn, model_dir=tmp_path / "first").train(input_fn, steps=1)
    estimator = Estimator(
        model_fn,
        model_dir=tmp_path / "second",
        warm_start_from=warm.model_dir,
        observer=RunObserver(report=said.append),
    )
    estimator.train(input_fn, steps=1)
    assert any("warm start from" in line for line in said)


@pytest.mark.parametrize(
    "work", ["train", pytest.param("evaluate", marks=pytest.mark.slow), "predict"]
)
def test_an_observer_may_stop_it(tmp_path, work):
    Estimator(model_fn, model_dir=tmp_path).train(input_fn, steps=1)
    interrupts = Interrupts()
    interrupts.received = signal.SIGTERM
    estimator = Estimator(model_fn, model_dir=tmp_path, observer=RunObserver(interrupts=interrupts))
    with pytest.raises(Interrupted):
        done = getattr(estimator, work)(input_fn)
        next(done)
    assert read_step(estimator.latest_checkpoint()) == 1


@pytest.mark.slow
def test_all_sessions_have_the_configuration_of_the_script(tmp_path):
    numbers = []

    class Counting(tf.train.Saver):
        def restore(self, sess, save_path):
            numbers.append(len(sess.list_devices()))
            super().restore(sess, save_path)

    class Counts(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            numbers.append(len(session.list_devices()))

    def counted(features, labels, mode):
        spec = model_fn(features, labels, mode)
        if mode != "infer":
            return spec
        return spec._replace(scaffold=tf.train.Scaffold(saver=Counting()))

    two = RunConfig(session_config=tf.ConfigProto(device_count={"CPU": 2}))
    estimator = Estimator(counted, model_dir=tmp_path / "run", config=two)
    estimator.train(input_fn, steps=1, hooks=[Counts()])
    estimator.evaluate(input_fn, hooks=[Counts()])
    next(estimator.predict(input_fn, hooks=[Counts()]))
    served(estimator, tmp_path / "out")
    assert numbers == [2, 2, 2, 2, 2]


def test_without_checkpoints_nothing_is_saved(tmp_path):
    config = RunConfig(save_checkpoints_secs=None, save_checkpoints_steps=None)
    Estimator(model_fn, model_dir=tmp_path, config=config).train(input_fn, steps=3)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None


def own_saver(folder, steps):
    """TensorFlow's own hook; TensorFlow 2.20 cannot write graph.pbtxt with today's protobuf."""
    return tf.train.CheckpointSaverHook(
        str(folder / "mine"), save_steps=steps, save_graph_def=False
    )


def test_a_saver_hook_of_the_script_saves_in_place_of_the_own_one(tmp_path):
    hook = own_saver(tmp_path, 2)
    told = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            told.append(global_step_value)

    Estimator(model_fn, model_dir=tmp_path).train(
        input_fn, hooks=[hook], steps=3, saving_listeners=[Listener()]
    )
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert tf.train.latest_checkpoint(str(tmp_path / "mine")).endswith("model.ckpt-3")
    assert told[-1] == 3


def test_a_saver_hook_of_the_model_saves_in_place_of_the_own_one(tmp_path):
    def saving(features, labels, mode):
        hook = own_saver(tmp_path, 2)
        return model_fn(features, labels, mode)._replace(training_hooks=[hook])

    Estimator(saving, model_dir=tmp_path).train(input_fn, steps=3)
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    assert tf.train.latest_checkpoint(str(tmp_path / "mine")).endswith("model.ckpt-3")


def test_a_saver_hook_of_the_script_saves_no_step_that_made_nan(tmp_path):
    hook = own_saver(tmp_path, 1)
    estimator = Estimator(ToyModel, model_dir=tmp_path, params={"nan_at_step": 2})
    with pytest.raises(NanLossError):
        estimator.train(INPUT, steps=5, hooks=[hook])
    assert tf.train.latest_checkpoint(str(tmp_path / "mine")).endswith("model.ckpt-2")


@pytest.mark.slow
def test_how_often_is_told_by_steps_where_nobody_knows_the_examples(tmp_path):
    config = RunConfig(log_step_count_steps=1)
    Estimator(model_fn, model_dir=tmp_path / "f", config=config).train(input_fn, steps=3)
    assert "global_step/sec" in tags(tmp_path / "f")
    Estimator(ToyModel, model_dir=tmp_path / "m", config=config).train(INPUT, steps=3)
    assert "global_step/sec" not in tags(tmp_path / "m")


def test_evaluation_while_training_is_left_to_train_and_evaluate(tmp_path):
    config = RunConfig(options={"eval_every_n_steps": 2})
    with pytest.raises(ConfigError, match="use train_and_evaluate"):
        Estimator(model_fn, model_dir=tmp_path, config=config).train(input_fn, steps=3)


def test_importing_the_package_does_not_import_tensorflow():
    code = "import sys, tf_frame, tf_frame.estimator; print('tensorflow' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code]).split() == [b"False"]


@pytest.mark.slow
def test_the_example_in_the_docs_finds_the_line(tmp_path, monkeypatch):
    docs = pathlib.Path(__file__).parents[3] / "docs" / "estimator.md"
    example = docs.read_text().split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(example, names)
    estimator, input_fn = names["estimator"], names["input_fn"]
    assert estimator.evaluate(input_fn)["global_step"] == 300
    np.testing.assert_allclose(estimator.get_variable_value("weights"), [[2], [3]], atol=1e-3)


@pytest.mark.parametrize("dies", [False, True])
def test_hooks_that_can_be_closed_are_closed_at_the_end_however_it_comes(tmp_path, dies):
    class Closable(tf.train.SessionRunHook):
        closed = 0

        def after_run(self, run_context, run_values):
            if dies:
                raise RuntimeError("died")

        def close(self):
            self.closed += 1

    hook = Closable()
    with pytest.raises(RuntimeError, match="died") if dies else contextlib.nullcontext():
        Estimator(model_fn, model_dir=tmp_path).train(input_fn, steps=1, hooks=[hook])
    assert hook.closed == 1


def test_a_hook_that_fails_at_the_end_does_not_lose_the_training(tmp_path):
    class Fails(tf.train.SessionRunHook):
        def end(self, session):
            raise RuntimeError("at the end")

    estimator = Estimator(model_fn, model_dir=tmp_path)
    with pytest.raises(RuntimeError, match="at the end"):
        estimator.train(input_fn, hooks=[Fails()], steps=3)
    assert estimator.latest_checkpoint().endswith("model.ckpt-3")


def test_every_name_of_the_package_is_there_and_no_module_hides_one():
    for name in tf_frame.estimator.__all__:
        assert callable(getattr(tf_frame.estimator, name)) == (name != "export"), name
    assert tf_frame.estimator.export is export
    assert dir(tf_frame.estimator) == tf_frame.estimator.__all__
    for package in (tf_frame, tf_frame.estimator):
        with pytest.raises(AttributeError, match="Estimater"):
            _ = package.Estimater


class OwnError(Exception):
    """An exception of a script."""


@pytest.mark.parametrize("place", ["model", "input", "hook"])
def test_an_exception_of_a_script_arrives_as_it_was_raised(tmp_path, place):
    raised = OwnError("mine")

    def failing(where):
        if where == place:
            raise raised

    def function(features, labels, mode):
        failing("model")
        return model_fn(features, labels, mode)

    def data(mode):
        failing("input")
        return input_fn(mode)

    class Hook(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            failing("hook")

    estimator = Estimator(function, model_dir=tmp_path, config=RunConfig(options=SGD))
    with pytest.raises(OwnError) as caught:
        estimator.train(data, hooks=[Hook()], steps=2)
    assert caught.value is raised
    assert (raised.__cause__, raised.__context__) == (None, None)
