import math

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.exporters import BestExporter, Exporter, FinalExporter, LatestExporter
from tf_frame.estimator.run_config.run_config import RunConfig
from tf_frame.estimator.train_and_eval.executor import Executor, train_and_evaluate
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec
from tf_frame.hooks.by_name.early_stopping import EvalMetricsReader
from tf_frame.testing.one_weight import (
    batches,
    input_fn,
    loss_after,
    model_fn,
    serving_input_receiver_fn,
)
from tf_frame.testing.toy import ToyInput, ToyModel


class Sessions(tf.train.SessionRunHook):
    """Counts the sessions of a training, and its steps."""

    def __init__(self):
        self.made = self.steps = 0

    def after_create_session(self, session, coord):
        self.made += 1

    def after_run(self, run_context, run_values):
        self.steps += 1


class Noting(Exporter):
    name = "noting"

    def __init__(self, fails_at=None):
        self.calls = []
        self.fails_at = fails_at

    def export(self, eval_result, is_the_final_export, **arguments):
        step = eval_result["global_step"]
        if step == self.fails_at:
            raise OSError("killed")
        self.calls.append((step, is_the_final_export))
        return f"path-{step}"


@pytest.fixture
def make(tmp_path):
    def make(**config):
        config = {"save_checkpoints_steps": 2, **config}
        return Estimator(model_fn, model_dir=str(tmp_path), config=RunConfig(**config))

    return make


def eval_spec(**more):
    return EvalSpec(**{"input_fn": batches, "steps": None, "throttle_secs": 0, **more})


def losses(estimator, name=None):
    metrics = EvalMetricsReader(estimator.eval_dir(name)).read()
    return {step: values["loss"] for step, values in metrics.items()}


@pytest.mark.usefixtures("variable_mode")
def test_every_checkpoint_is_evaluated_and_training_goes_on_in_its_session(make):
    estimator, sessions, noting, built = make(), Sessions(), Noting(), []

    def counted():
        built.append(1)
        return batches()

    train = TrainSpec(input_fn, max_steps=5, hooks=[sessions])
    spec = eval_spec(input_fn=counted, exporters=noting)
    result = train_and_evaluate(estimator, train, spec)
    assert result == (
        {"loss": loss_after(5), "weight": 4 * (1 - 0.5**5), "global_step": 5},
        ["path-5"],
    )
    assert losses(estimator) == {step: loss_after(step) for step in (2, 4, 5)}
    assert noting.calls == [(2, False), (4, False), (5, True)]
    assert (sessions.made, sessions.steps, len(built)) == (1, 5, 1)


def test_evaluations_that_come_too_soon_are_left_out_but_for_the_last(make):
    now = [0.0]

    class Ticking(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            now[0] += 10

    estimator = make()
    train = TrainSpec(input_fn, max_steps=11, hooks=[Ticking()])
    Executor(estimator, train, eval_spec(throttle_secs=50), clock=lambda: now[0]).run()
    # After step 2, 60 seconds later, and at the end.
    assert list(losses(estimator)) == [2, 8, 11]


@pytest.mark.slow
def test_steps_and_name_of_the_evaluation_count(make):
    estimator = make()

    def pairs():
        return tf.data.Dataset.from_tensor_slices(({"x": [[1.0], [1.0]]}, [[4.0], [8.0]]))

    for name, steps in (("one", 1), ("all", None)):
        train_and_evaluate(
            estimator,
            TrainSpec(input_fn, max_steps=2 if steps else 3),
            eval_spec(input_fn=pairs, name=name, steps=steps),
        )
    assert losses(estimator, "one") == {2: 1.0}
    assert losses(estimator, "all") == {3: (0.5**2 + 4.5**2) / 2}


@pytest.mark.slow
@pytest.mark.parametrize("max_steps", [9, None])
def test_input_that_ends_before_the_last_step_ends_with_an_evaluation_that_is_not_final(
    make, max_steps
):
    noting = Noting()
    metrics, exported = train_and_evaluate(
        make(), TrainSpec(lambda: batches(3), max_steps), eval_spec(exporters=[noting])
    )
    assert (metrics["global_step"], exported) == (3, ["path-3"])
    assert noting.calls == [(2, False), (3, False)]


@pytest.mark.slow
def test_a_second_call_goes_on_and_evaluates_only_what_is_new(make):
    noting, sessions = Noting(), Sessions()
    for max_steps in (4, 7):
        train_and_evaluate(
            make(),
            TrainSpec(input_fn, max_steps=max_steps, hooks=[sessions]),
            eval_spec(exporters=noting),
        )
    expected = [(2, False), (4, True), (6, False), (7, True)]
    assert (noting.calls, sessions.steps) == (expected, 7)
    train = TrainSpec(input_fn, max_steps=7)
    assert train_and_evaluate(make(), train, eval_spec(exporters=noting)) == (None, None)
    assert noting.calls == expected


@pytest.mark.slow
def test_a_run_that_died_in_its_last_export_makes_up_for_it(make):
    train = TrainSpec(input_fn, max_steps=4)
    with pytest.raises(OSError):
        train_and_evaluate(make(), train, eval_spec(exporters=Noting(fails_at=4)))
    noting = Noting()
    metrics, exported = train_and_evaluate(make(), train, eval_spec(exporters=noting))
    assert metrics["loss"] == loss_after(4)
    assert exported == ["path-4"]
    assert noting.calls == [(4, True)]
    assert train_and_evaluate(make(), train, eval_spec(exporters=noting)) == (None, None)


def test_a_run_that_died_in_the_midst_goes_on_from_its_checkpoint(make):
    saved = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            saved.append(int(global_step_value))

    train = TrainSpec(input_fn, max_steps=6, saving_listeners=[Listener()])
    with pytest.raises(OSError):
        train_and_evaluate(make(), train, eval_spec(exporters=Noting(fails_at=4)))
    # Listeners of the script are called as well.
    assert saved == [0, 2, 4]
    noting = Noting()
    metrics, _ = train_and_evaluate(make(), train, eval_spec(exporters=noting))
    assert metrics["loss"] == loss_after(6)
    # The export that had failed is made up.
    assert noting.calls == [(4, False), (6, True)]


def test_without_checkpoints_there_is_nothing_to_evaluate(make):
    estimator = make(save_checkpoints_steps=None)
    with pytest.raises(ValueError, match="^There should be a CheckpointSaverHook"):
        train_and_evaluate(estimator, TrainSpec(input_fn, max_steps=3), eval_spec())


@pytest.mark.slow
def test_the_exports_serve_what_the_model_has_learned(make, tmp_path):
    receive = serving_input_receiver_fn
    exporters = [
        FinalExporter("final", receive),
        LatestExporter("latest", receive, exports_to_keep=2),
        BestExporter("best", receive),
    ]
    _, exported = train_and_evaluate(
        make(), TrainSpec(input_fn, max_steps=6), eval_spec(exporters=exporters)
    )

    def exports(name):
        found = sorted((tmp_path / "export" / name).iterdir())
        return [str(path) for path in found if path.is_dir()]

    assert [path.decode() for path in exported] == [
        exports(name)[-1] for name in ("final", "latest", "best")
    ]
    assert [served(path) for path in exports("final")] == [weight_after(6)]
    assert [served(path) for path in exports("latest")] == [weight_after(4), weight_after(6)]
    assert [served(path) for path in exports("best")] == [weight_after(n) for n in (2, 4, 6)]


def weight_after(step):
    return 4 * (1 - 0.5**step)


def served(path):
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], path)
        signature = loaded.signature_def["serving_default"]
        (output,) = session.run([signature.outputs["y"].name], {signature.inputs["x"].name: [1.0]})
    return output.tolist()[0]


@pytest.mark.slow
def test_a_restarted_run_exports_only_what_is_better_than_ever(make, tmp_path):
    # A killed run has evaluated a model that was better than what comes now, up to step 5.
    better = (loss_after(5) + loss_after(6)) / 2

    def exports():
        folder = tmp_path / "export" / "best"
        return len([path for path in folder.iterdir() if path.is_dir()])

    def run(max_steps):
        spec = eval_spec(exporters=BestExporter("best", serving_input_receiver_fn))
        train_and_evaluate(make(), TrainSpec(input_fn, max_steps=max_steps), spec)

    run(2)
    assert exports() == 1
    writer = tf.summary.FileWriterCache.get(str(tmp_path / "eval"))
    value = tf.Summary.Value(tag="loss", simple_value=better)
    writer.add_summary(tf.Summary(value=[value]), 99)
    writer.flush()
    run(5)
    assert exports() == 1
    run(6)
    assert exports() == 2


def test_models_and_inputs_of_plugins_are_taken_as_well(tmp_path):
    source = ToyInput(params=ToyInput.Params(num_examples=16))
    config = RunConfig(save_checkpoints_steps=10, options={"train_batch_size": 8})
    estimator = Estimator(ToyModel, model_dir=str(tmp_path), config=config)
    metrics, exported = train_and_evaluate(
        estimator, TrainSpec(source, max_steps=20), eval_spec(input_fn=source)
    )
    assert metrics["global_step"] == 20
    assert math.isfinite(metrics["mean_absolute_error"])
    assert exported == []
    assert list(losses(estimator)) == [10, 20]
