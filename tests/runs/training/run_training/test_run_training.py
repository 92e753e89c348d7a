"""Whole runs of the toy model inside this process."""

import dataclasses
import json
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import yaml
from tensorflow.python.data.experimental.ops import testing as dataset_testing

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster.find import find_cluster
from tf_frame.cluster.status import FAILED, read_statuses
from tf_frame.errors import CheckpointError, ConfigError, DataError, NoDataError, NonFiniteError
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.gradient_transforms.check_finite import CheckFinite
from tf_frame.gradient_transforms.freeze import Freeze
from tf_frame.hooks.stock.global_step_waiter import GlobalStepWaiterHook
from tf_frame.plugin import InputInfo, Mode
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.setup.training_setup import TRAIN, TRAIN_AND_EVALUATE
from tf_frame.runs.training import phase_times
from tf_frame.runs.training.training import Trained, Training
from tf_frame.session.interrupts import Interrupted, Interrupts
from tf_frame.testing.toy import (
    WEIGHTS,
    ToyInput,
    ToyModel,
    configured_plugin,
    make_setup,
)

from ..conftest import OneEpoch


def test_the_result_and_the_configuration_are_written(go, tmp_path):
    result, _ = go(max_steps=5, evaluate=True, optimizer="sgd", values={"model.l2": 0.5})
    assert json.loads((tmp_path / "result.json").read_text()) == result
    assert result["global_step"] == 5
    assert result["examples_per_sec"] == pytest.approx(8 * result["steps_per_sec"])
    assert result["predicts_files"] is False  # The toy input has no prediction_dataset.
    written = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert (written["optimizer"], written["model"]["l2"]) == ({"name": "sgd"}, 0.5)
    assert written["schedule"] == {"name": "fixed"}
    # The status is written before the last evaluation.
    (status,) = read_statuses(str(tmp_path))
    assert status.time < (tmp_path / "metrics.csv").stat().st_mtime < result["time"]


@pytest.mark.parametrize(
    ("options", "is_prepared"),
    [
        ({"evaluate": True}, True),
        ({"evaluate": False, "eval_every_n_steps": 1}, True),
        ({"evaluate": False}, False),
    ],
)
def test_the_graph_of_an_evaluation_is_built_beside_the_first_step(
    go, monkeypatch, options, is_prepared
):
    prepared = []

    def prepare(self):
        prepared.append(self.model)

    monkeypatch.setattr(Evaluator, "prepare", prepare)
    go(max_steps=2, **options)
    assert len(prepared) == is_prepared


def test_the_time_of_each_phase_is_in_the_result(go):
    result, _ = go(max_steps=2, evaluate=True)
    secs = result["phase_secs"]
    assert list(secs) == ["start", "graph", "session", "steps", "evaluation"]
    assert min(secs.values()) > 0
    assert sum(secs.values()) - secs["start"] == pytest.approx(result["duration_secs"], abs=0.2)
    assert 0 < result["step_times"]["first_secs"] < secs["steps"]


def test_after_max_secs_it_saves_evaluates_and_says_how_to_go_on(go, tmp_path, monkeypatch):
    # This process is older than the run.
    monkeypatch.setattr(phase_times, "process_began", lambda pid: None)
    result, said = go(max_steps=10**6, max_secs=1.5, evaluate=True, log_every_n_steps=0)
    step = result["global_step"]
    assert 0 < step < 10**6
    assert result["stopped_by"] == "--max_secs"
    assert read_step(newest_checkpoint(str(tmp_path))) == step == result["metrics_step"]
    assert f"--max_secs 1.5: stopped and saved at step {step} of 1000000\nresume with: " in said
    result, said = go(max_steps=step, max_secs=1.5, evaluate=True)
    assert (result["global_step"], result["stopped_by"]) == (step, None)
    assert result["ended_by"] is None


def test_the_rate_of_the_hardware_is_in_the_result(go):
    result, _ = go(max_steps=4, peak_gflops=2.0)
    flops = 1e9 * result["gflops_per_sec"] / result["steps_per_sec"]
    products = 2 * 8 * 3 * 2  # Forward and backward, of 8 examples with 3 features.
    assert products < flops < 10 * products
    assert result["peak_gflops"] == 2.0


def test_with_one_thread_waiting_for_input_is_not_measured(go):
    result, _ = go(max_steps=4, inter_op_threads=1)
    assert result["input_share"] is None


class Sleeping(ToyInput):
    """Takes its time for each batch."""

    def dataset(self, mode, context):
        return super().dataset(mode, context).apply(dataset_testing.sleep(20_000))


def test_a_slow_input_is_measured_and_shown(go, capsys):
    result, _ = go(max_steps=12, source=Sleeping, log_every_n_steps=6)
    assert result["input_share"] > 0.4
    assert re.search(r"step 12/12 .*  input \d+ %\n", capsys.readouterr().out)


def test_a_second_run_trains_the_missing_steps_only(go, tmp_path):
    result, _ = go(max_steps=5, evaluate=False)
    assert result["metrics"] == {} and not (tmp_path / "eval").exists()
    result, said = go(max_steps=8)
    assert result["global_step"] == 8
    assert "resuming from" in said
    saved = sorted(path.name for path in tmp_path.glob("model.ckpt-*"))
    written = (tmp_path / "config.yaml").read_text()
    result, said = go(max_steps=8, evaluate=True, optimizer="adam")
    assert "nothing to train" in said
    assert result["global_step"] == 8 and result["steps_per_sec"] is None
    assert sorted(path.name for path in tmp_path.glob("model.ckpt-*")) == saved
    # Options without effect are not recorded.
    assert (tmp_path / "config.yaml").read_text() == written


class TrainingOnly(ToyInput):
    """Does not know its number of examples, and has none to evaluate."""

    info = InputInfo()

    def dataset(self, mode, context):
        if mode == Mode.EVAL:
            raise NoDataError("there are no files test-*")
        return super().dataset(mode, context)


@pytest.mark.slow
def test_data_without_an_evaluation_split_is_trained_on(go, tmp_path):
    result, said = go(max_steps=3, source=TrainingOnly, evaluate=True)
    assert (result["global_step"], result["metrics"]) == (3, {})
    assert "note: nothing is evaluated: there are no files test-*" in said
    assert (tmp_path / "result.json").exists()
    with pytest.raises(NoDataError, match=r"there are no files test-\*"):
        go(max_steps=6, source=TrainingOnly, evaluate=True, keep_best=1)
    assert not (tmp_path / "model.ckpt-6.index").exists()


@pytest.mark.parametrize(
    ("options", "mode", "asked", "option"),
    [
        ({}, TRAIN, True, "--evaluate"),
        ({"eval_every_n_steps": 2}, TRAIN, False, "--eval_every_n_steps"),
        ({"keep_best": 2}, TRAIN, False, "--keep_best"),
        ({}, TRAIN_AND_EVALUATE, False, "--mode train_and_evaluate"),
    ],
)
def test_an_evaluation_that_is_asked_for_needs_data(options, mode, asked, option):
    setup = make_setup(ToyModel, ToyInput, "", values={"input.num_examples": 0}, **options)
    setup = dataclasses.replace(setup, mode=mode)
    with pytest.raises(DataError, match=f"{option} needs evaluation data, and the input toy has"):
        setup.check(setup.make_input().info, evaluate=asked)
    plain = make_setup(ToyModel, ToyInput, "", values={"input.num_examples": 0})
    plain.check(plain.make_input().info)


def test_data_that_ends_ends_training(go):
    result, said = go(max_steps=100, source=OneEpoch)
    assert result["global_step"] == 8
    warning = "warning: the training data ended at step 8 of 100; dataset() of the input 'toy' of "
    assert warning in said and "must repeat it in Mode.TRAIN: dataset.repeat()" in said


class Corrupt(ToyInput):
    def dataset(self, mode, context):
        def read(features, labels):
            picture = tf.io.decode_png(tf.constant(b"no png"))
            return features, labels + tf.cast(tf.shape(picture)[0], tf.float32)

        return super().dataset(mode, context).map(read)


def test_unreadable_data_is_an_error_of_the_data(go):
    with pytest.raises(
        DataError, match="the data of the input 'toy' of tests 0 cannot be read: .*PNG"
    ):
        go(max_steps=5, source=Corrupt)


def test_the_log_file_holds_loss_and_learning_rate_and_the_order_of_the_hooks(go, tmp_path):
    go(max_steps=5, log_every_n_steps=2)
    text = (tmp_path / "train.log").read_text()
    steps = re.findall(r"step (\d+): loss = [\d.]+, learning_rate = 0.05", text)
    assert steps == ["2", "4", "5"]
    assert "hooks of a step, in this order:" in text
    assert re.search(r"check +NanGuardHook +watches train_op", text)
    assert "fast path: on" in text


@pytest.mark.slow
def test_a_spoilt_result_of_before_is_replaced(go, tmp_path):
    go(max_steps=3)
    for content in (b"[1]", b"null", b"\xff\x00", b"{"):
        (tmp_path / "result.json").write_bytes(content)
        result, _ = go(max_steps=3)
        assert json.loads((tmp_path / "result.json").read_text()) == result, content


@pytest.mark.slow
def test_the_seed_decides_initial_values_and_order(other_run):
    class Random(ToyModel):
        def build(self, features, labels, mode):
            noise = tf.get_variable("noise", [3], trainable=False)
            return super().build(features + noise, labels, mode)

    folders = [other_run(Random, max_steps=2, random_seed=seed) for seed in (1, 1, 2)]
    losses = [json.loads((folder / "result.json").read_text())["total_loss"] for folder in folders]
    assert losses[0] == losses[1] != losses[2]


def make_part(cls, **params):
    values = {f"t.{name}": value for name, value in params.items()}
    return configured_plugin(GRADIENT_TRANSFORM, "t", cls, values, "t")


def test_a_gradient_that_is_not_finite_is_named_and_nothing_saved(go, tmp_path):
    with pytest.raises(
        NonFiniteError, match="gradient of linear/(weights|biases) is not finite.*lower --l"
    ):
        go(max_steps=5, values={"model.nan_at_step": 2}, transforms=[make_part(CheckFinite)])
    (status,) = read_statuses(str(tmp_path))
    assert status.state == FAILED and "is not finite" in status.reason and status.diverged
    assert not (tmp_path / "model.ckpt-3.index").exists()


@pytest.mark.slow
def test_accumulated_batches_count_as_examples(go):
    result, _ = go(max_steps=5, transforms=[make_part(Accumulate, steps=3)])
    assert result["global_step"] == 5
    assert result["examples_per_sec"] == pytest.approx(3 * 8 * result["steps_per_sec"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 1},
            "leave it out, and raise --train_batch_size",
        ),
        ({"mixed_precision": "float16"}, "give a fixed --loss_scale, such as 1024"),
    ],
)
def test_what_cannot_accumulate_is_refused(options, message):
    setup = make_setup(
        ToyModel, ToyInput, "", transforms=[make_part(Accumulate, steps=3)], **options
    )
    with pytest.raises(ConfigError, match=message):
        setup.check(setup.make_input().info)


@pytest.mark.parametrize("name", ["profile_at_step", "trace_at_step"])
def test_steps_after_the_end_are_refused(name):
    setup = make_setup(ToyModel, ToyInput, "", max_steps=20, **{name: (5, 21, 40)})
    message = f"--{name} 21,40: training ends before, at --max_steps 20; give steps up to 20"
    with pytest.raises(ConfigError, match=message):
        setup.check(setup.make_input().info)
    setup = make_setup(ToyModel, ToyInput, "", max_steps=20, **{name: (5, 20)})
    setup.check(setup.make_input().info)


def test_a_pattern_without_a_match_is_said_or_with_strict_an_error(go, tmp_path):
    freeze = [make_part(Freeze, patterns=("linear/b.*", "liner/w.*"))]
    _, said = go(max_steps=2, transforms=freeze)
    assert "warning: freeze: the pattern 'liner/w.*' matches no variable" in said
    assert "linear/weights" in said
    with pytest.raises(ConfigError, match="'liner/w.*' matches no variable.*--strict"):
        go(max_steps=4, transforms=freeze, strict=True)


@pytest.mark.slow
def test_the_averages_are_evaluated_unless_told_otherwise(go):
    options = {"moving_average_decay": 0.99, "moving_average_num_updates": False, "evaluate": True}
    averaged, _ = go(max_steps=5, **options)
    plain, _ = go(max_steps=5, eval_moving_averages=False, **options)
    assert averaged["metrics"]["loss"] > 1.5 * plain["metrics"]["loss"]


def test_a_checkpoint_without_averages_cannot_be_evaluated_with_them(go):
    go(max_steps=5)
    with pytest.raises(CheckpointError, match="holds no moving averages.*--eval_moving_averages"):
        go(max_steps=5, moving_average_decay=0.9, evaluate=True)


def test_worker_k_waits_for_the_chief(monkeypatch, tmp_path):
    waits = []

    class Waiter(GlobalStepWaiterHook):
        def __init__(self, wait_until_step, *, give_up, log):
            waits.append(wait_until_step)
            raise Interrupted(15, "enough")

    monkeypatch.setattr("tf_frame.runs.training.hooks.job.GlobalStepWaiterHook", Waiter)
    cluster = {"master": "grpc://localhost:1", "worker_replicas": 3, "num_ps_tasks": 1}
    setup = make_setup(ToyModel, ToyInput, str(tmp_path), task=2, startup_delay_steps=5, **cluster)
    with pytest.raises(Interrupted):
        context = RunContext(observer=RunObserver(print), cluster=find_cluster(setup.config))
        Training(setup, context, model=setup.make_model(None), source=setup.make_input()).run()
    assert waits == [10]


class QueueInput(ToyInput):
    """The toy's examples through a queue, as trainers had it before tf.data."""

    def dataset(self, mode, context):
        features = np.random.RandomState(0).randn(64, 3).astype(np.float32)
        epochs = None if mode == Mode.TRAIN else 1
        index = tf.train.range_input_producer(64, num_epochs=epochs, shuffle=False).dequeue()
        example = [tf.gather(features, index), tf.gather(features @ WEIGHTS + 3, index)]
        batch = tf.train.batch(example, context.batch_size, allow_smaller_final_batch=True)
        queue = tf.FIFOQueue(4, [tf.float32] * 2)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(batch)]))
        return queue.dequeue


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_input_of_queues_trains_clones_and_is_evaluated(go, other_run):
    options = {"source": QueueInput, "max_steps": 30, "num_clones": 2, "eval_batch_size": 10}
    with pytest.raises(DataError, match="returned no data set"):
        go(**options)
    result, _ = go(**options, allow_inexact_resume=True, evaluate=True)
    assert result["global_step"] == 30
    tf_data = json.loads(
        (other_run(max_steps=30, num_clones=2, evaluate=True) / "result.json").read_text()
    )
    assert result["metrics"]["loss"] == pytest.approx(tf_data["metrics"]["loss"], rel=0.3)


class TwoInputs(ToyInput):
    """Two data sets, the second with half the batch."""

    def dataset(self, mode, context):
        half = dataclasses.replace(context, batch_size=context.batch_size // 2)
        return [super().dataset(mode, context), super().dataset(mode, half)]


class OnTwo(ToyModel):
    """Joins the batches of all inputs."""

    def build(self, features, labels, mode):
        assert [part.shape[1] for part in features] == [3, 3]
        return super().build(tf.concat(features, 0), tf.concat(labels, 0), mode)


@pytest.mark.slow
def test_a_list_of_inputs_is_given_to_the_model_as_lists(go):
    result, _ = go(source=TwoInputs, model=OnTwo, max_steps=20, num_clones=2, evaluate=True)
    assert result["global_step"] == 20 and result["metrics"]["loss"] < 3


@pytest.mark.slow
def test_what_a_resumed_run_leaves_behind_is_said(go):
    go(max_steps=2, optimizer="momentum")
    _, said = go(max_steps=3, optimizer="momentum")
    assert "not used" not in said
    _, said = go(max_steps=4, optimizer="sgd")
    assert "warning: 2 variables in " in said
    assert "linear/biases/Momentum, linear/weights/Momentum" in said


class Hooked(ToyModel):
    """The toy with a session hook in training, which a test sets."""

    hook: tf.train.SessionRunHook

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        return dataclasses.replace(output, hooks=[self.hook] if mode == Mode.TRAIN else [])


def test_a_hook_that_ends_training_is_told_from_data_that_ends(go):
    class Stops(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    class Stopping(Hooked):
        hook = Stops()

    result, said = go(model=Stopping, max_steps=9)
    assert "training was stopped at step 1 of 9 by Stops" in said
    assert result["ended_by"] == "Stops"


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "times"), [(TRAIN, 0), (TRAIN_AND_EVALUATE, 2)])
def test_checkpoints_are_evaluated_as_they_are_saved_only_where_that_is_asked_for(go, mode, times):
    _, said = go(max_steps=6, save_checkpoint_steps=2, mode=mode, evaluate=True)
    assert len(re.findall("^evaluation at step", said, re.MULTILINE)) == times


def test_a_signal_before_the_first_step_of_a_resumed_run_leaves_it_where_it_was(go):
    interrupts = Interrupts()

    class Signals(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            interrupts.received = 15

    class Signalled(Hooked):
        hook = Signals()

    go(max_steps=3)
    with pytest.raises(Interrupted, match=r"stopped and saved at step 3 of 6"):
        go(Signalled, max_steps=6, interrupts=interrupts)


def test_a_signal_in_the_last_evaluation_names_the_folder_to_go_on_with(go, tmp_path):
    interrupts = Interrupts()

    class Interrupting(ToyInput):
        def dataset(self, mode, context):
            if mode == Mode.EVAL:
                interrupts.received = 2
            return super().dataset(mode, context)

    with pytest.raises(Interrupted) as error:
        go(source=Interrupting, max_steps=2, evaluate=True, interrupts=interrupts)
    assert str(error.value) == (
        "SIGINT: stopped and saved at step 2 of 2\n"
        f"resume with: tf-frame run --model_dir {tmp_path}"
    )


@pytest.mark.slow
def test_a_worker_that_comes_when_all_is_done_trains_nothing(go, monkeypatch):
    go(max_steps=3)
    late = Trained(5, None, None, None)
    monkeypatch.setattr(Training, "run", lambda self: late)
    result, said = go(max_steps=5, evaluate=True)
    assert "the other workers have reached step 5: nothing to train" in said
    assert (result["global_step"], result["total_loss"]) == (5, None)
