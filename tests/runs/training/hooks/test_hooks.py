"""Run options that choose hooks, by what a run with them does."""

import dataclasses
import json
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import scalars
from slow_cases import slow_but
from tf_frame.checkpoint.find.newest import listed_checkpoints
from tf_frame.errors import ConfigError, NonFiniteError
from tf_frame.plugin import Mode
from tf_frame.plugin.kinds import HOOK
from tf_frame.runs.setup.training_setup import TRAIN, TRAIN_AND_EVALUATE
from tf_frame.session.interrupts import Interrupted, Interrupts
from tf_frame.testing.toy import ToyInput, ToyModel, installed_plugin

from ..conftest import train


def saved_steps(folder):
    return [int(path.rpartition("-")[2]) for path in listed_checkpoints(str(folder))]


def read_variables(folder, step):
    reader = tf.train.load_checkpoint(f"{folder}/model.ckpt-{step}")
    names = [n for n in reader.get_variable_to_shape_map() if not n.startswith("input_position")]
    return {name: reader.get_tensor(name).tobytes() for name in names}


def steps_with(folder, tag):
    return [step for step, _ in scalars(folder, tag)]


ENDING_AT_23 = {"max_steps": 23, "save_checkpoint_steps": 10, "values": {"input.shuffle": True}}


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """Loss and variables of a run whose steps are run one by one."""
    folder = tmp_path_factory.mktemp("single")
    loss = train(folder, lines=[], **ENDING_AT_23)["total_loss"]
    return loss, {step: read_variables(folder, step) for step in (10, 20, 23)}


@pytest.mark.slow
@pytest.mark.parametrize("steps_per_loop", [1, 4, 100])
def test_steps_in_one_call_end_where_single_ones_do(go, tmp_path, single, steps_per_loop):
    result, said = go(steps_per_loop=steps_per_loop, **ENDING_AT_23)
    assert "no effect" not in said
    assert saved_steps(tmp_path) == [0, 10, 20, 23]
    loss, variables = single
    assert result["total_loss"] == loss
    assert {step: read_variables(tmp_path, step) for step in (10, 20, 23)} == variables


def test_steps_that_cannot_be_in_one_call_are_run_singly_with_the_reason(go):
    class Fed(ToyModel):
        def build(self, features, labels, mode):
            tf.disable_control_flow_v2()
            features = tf.cond(tf.reduce_sum(features) > 0, lambda: features, lambda: features)
            tf.enable_control_flow_v2()
            return super().build(features, labels, mode)

    result, said = go(Fed, max_steps=4, steps_per_loop=10)
    assert result["global_step"] == 4
    assert "note: --steps_per_loop 10 has no effect: " in said
    assert "belongs to TensorFlow 1's control flow" in said


DIVERGING = {"values": {"model.nan_at_step": 5}, "save_checkpoint_steps": 1, "max_to_keep": 20}


@pytest.mark.parametrize("asynchronous", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("options", slow_but(0, [{}, {"steps_per_loop": 10}, {"num_clones": 2}]))
def test_a_diverging_run_saves_no_nan_and_goes_on_from_the_step_before(
    go, tmp_path, options, asynchronous
):
    with pytest.raises(NonFiniteError) as error:
        go(max_steps=9, async_checkpoint=asynchronous, **DIVERGING, **options)
    assert "the loss is nan at global step 6 (tensor train_op)" in str(error.value)
    assert saved_steps(tmp_path) == [0, 1, 2, 3, 4, 5]
    for step in range(6):
        assert all(
            np.isfinite(np.frombuffer(value, np.float32)).all()
            for name, value in read_variables(tmp_path, step).items()
            if name != "global_step"
        )
    result, said = go(max_steps=9, values={"model.nan_at_step": 99}, **options)
    assert f"resuming from {tmp_path}/model.ckpt-5" in said
    assert result["global_step"] == 9


def test_a_diverging_run_may_stop_and_says_why_and_counts_its_last_good_checkpoint(go, tmp_path):
    result, said = go(max_steps=9, on_nan="stop", evaluate=True, **DIVERGING)
    assert saved_steps(tmp_path) == [0, 1, 2, 3, 4, 5]
    saved = f"{tmp_path}/model.ckpt-5"
    assert "training was stopped at step 6 of 9" in said
    assert f"step 6 of 9: the loss is nan; the last good checkpoint is {saved}" in said
    assert f"evaluating {saved}" in said
    assert np.isfinite(result["metrics"]["mean_absolute_error"])
    assert (result["global_step"], result["total_loss"]) == (5, None)
    assert json.loads((tmp_path / "result.json").read_text())["total_loss"] is None


def test_another_metric_for_the_best_checkpoints_is_refused_before_training(go, tmp_path):
    go(max_steps=2, keep_best=1, evaluate=True)
    with pytest.raises(ConfigError, match="this run compares the lowest mean_absolute_error"):
        go(max_steps=4, keep_best=1, evaluate=True, best_metric="mean_absolute_error")
    assert max(saved_steps(tmp_path)) == 2


@pytest.mark.parametrize(
    ("options", "mode", "said"),
    [
        pytest.param({"eval_every_n_steps": 4}, TRAIN, "", marks=pytest.mark.slow),
        ({"save_checkpoint_steps": 4}, TRAIN_AND_EVALUATE, "--mode train_and_evaluate "),
    ],
)
def test_a_signal_in_an_evaluation_in_training_says_how_to_resume(
    go, tmp_path, options, mode, said
):
    interrupts = Interrupts()

    class Interrupting(ToyInput):
        def dataset(self, mode, context):
            if mode == Mode.EVAL:
                interrupts.received = 15
            return super().dataset(mode, context)

    options = {"mode": mode, "interrupts": interrupts, "evaluate": True, **options}
    with pytest.raises(Interrupted) as error:
        go(source=Interrupting, max_steps=9, **options)
    assert str(error.value) == (
        "SIGTERM: stopped and saved at step 4 of 9\n"
        f"resume with: tf-frame run {said}--model_dir {tmp_path}"
    )
    assert 4 in saved_steps(tmp_path)


@pytest.mark.slow
def test_evaluations_in_training_are_of_the_steps_asked_for(go, tmp_path):
    result, said = go(max_steps=10, eval_every_n_steps=4, evaluate=True)
    assert re.findall(r"^evaluation at step (\d+)", said, re.MULTILINE) == ["4", "8"]
    assert steps_with(tmp_path / "eval", "metrics/mean_absolute_error") == [4, 8, 10]
    assert saved_steps(tmp_path) == [0, 4, 8, 10]
    assert result["global_step"] == 10


@pytest.mark.parametrize("mode", ["min", "max"])
def test_the_best_checkpoints_are_kept_whatever_is_deleted(go, tmp_path, mode):
    go(
        max_steps=10,
        eval_every_n_steps=4,
        evaluate=True,
        keep_best=2,
        best_metric="mean_absolute_error",
        best_mode=mode,
        max_to_keep=1,
    )
    assert saved_steps(tmp_path) == [10]
    values = dict(scalars(tmp_path / "eval", "metrics/mean_absolute_error"))
    assert len(values) == 3
    ranked = sorted(values, key=values.get, reverse=mode == "max")
    assert sorted(saved_steps(tmp_path / "best")) == sorted(ranked[:2])


def early_stopping(**params):
    values = {f"h.{name}": value for name, value in params.items()}
    return installed_plugin(HOOK, "early_stopping", values, "h")


WRONG_METRIC = "'accuracy' is not known; allowed: loss, mean_absolute_error$"


BEST = {"keep_best": 1, "best_metric": "accuracy"}


@pytest.mark.parametrize(
    ("asks", "options"),
    slow_but(
        0,
        [
            ("--best_metric", BEST),
            ("--hook early_stopping:", {"eval_every_n_steps": 2}),
            ("--hook early_stopping:", {"mode": TRAIN_AND_EVALUATE}),
        ],
        several=True,
    ),
)
def test_a_metric_that_is_not_there_ends_a_run_before_it_trains(go, tmp_path, asks, options):
    hooks = [] if options is BEST else [early_stopping(metric="accuracy")]
    with pytest.raises(ConfigError, match=f"{asks} {WRONG_METRIC}"):
        go(hooks=hooks, max_steps=6, evaluate=True, **options)
    assert saved_steps(tmp_path) == []
    go(max_steps=2, **BEST)  # Nothing is evaluated.


@pytest.mark.parametrize(
    ("mode", "stopped"), [("max", 4), pytest.param("min", 20, marks=pytest.mark.slow)]
)
def test_early_stopping_counts_evaluations_without_a_better_value(go, tmp_path, mode, stopped):
    # The error falls in each of these evaluations.
    hook = early_stopping(metric="mean_absolute_error", mode=mode, patience=1)
    options = {"max_steps": 20, "eval_every_n_steps": 2, "learning_rate": 0.001}
    result, said = go(hooks=[hook], evaluate=True, **options)
    assert result["global_step"] == stopped
    assert ("No increase in metric" in said) == (mode == "max")
    # The last checkpoint is evaluated once, too.
    steps = [step for step, _ in scalars(tmp_path / "eval", "metrics/mean_absolute_error")]
    assert steps == list(range(2, stopped + 1, 2)) and result["metrics_step"] == stopped


@pytest.mark.slow
def test_asynchronous_checkpoints_hold_what_synchronous_ones_do(go, tmp_path, other_run):
    options = {"max_steps": 12, "save_checkpoint_steps": 3}
    go(async_checkpoint=True, **options)
    found = {step: read_variables(tmp_path, step) for step in saved_steps(tmp_path)}
    other = other_run(**options)
    assert found == {step: read_variables(other, step) for step in [0, 3, 6, 9, 12]}


@pytest.mark.slow
def test_checkpoints_of_every_so_many_hours_outlive_max_to_keep(go, tmp_path):
    go(max_steps=6, save_checkpoint_steps=1, max_to_keep=2, keep_checkpoint_every_n_hours=100.0)
    assert saved_steps(tmp_path) == [5, 6]


@pytest.mark.parametrize(
    ("steps", "secs", "written"), [(3, None, [1, 3, 6]), (None, 3600, [1]), (0, None, [])]
)
def test_summaries_go_by_steps_or_by_seconds_or_not_at_all(go, tmp_path, steps, secs, written):
    go(max_steps=7, save_summaries_steps=steps, save_summaries_secs=secs)
    assert steps_with(tmp_path, "optimizer/learning_rate") == written


def test_profiles_are_of_the_steps_asked_for(go, tmp_path):
    go(max_steps=12, profile_at_step=(3,), profile_num_steps=2, profile_every_n_steps=8)
    captures = sorted(path.name for path in (tmp_path / "plugins" / "profile").iterdir())
    assert [re.search(r"step_(\d+)", name)[1] for name in captures] == ["3", "8"]
    assert (tmp_path / "timeline-3.json").exists()


def test_the_newest_profiles_stay_in_the_folder_that_is_given(go, tmp_path):
    folder = tmp_path / "profiles"
    old = folder / "plugins" / "profile" / "2020_01_01_00_00_00"
    old.mkdir(parents=True)
    for name in ("h.xplane.pb", "ALL_HOSTS.op_stats_v2.pb", ".cached_tools.json"):
        (old / name).touch()
    profile_dir = {"profile_dir": str(folder), "profile_keep": 1}
    go(max_steps=6, profile_at_step=(2, 5), profile_num_steps=1, **profile_dir)
    (kept,) = (folder / "plugins" / "profile").iterdir()
    assert kept.name.endswith("_step_5")
    assert not (tmp_path / "plugins").exists()


@pytest.mark.slow
def test_timelines_are_of_the_steps_asked_for(go, tmp_path):
    go(max_steps=9, trace_every_n_steps=4)
    found = sorted(tmp_path.glob("tf_trace-*"))
    assert [path.name for path in found] == [f"tf_trace-{step}.json" for step in (1, 5, 9)]
    assert json.loads(found[0].read_bytes())["traceEvents"]


def test_evaluation_by_steps_needs_checkpoints_of_tf_frames_own(go, tmp_path):
    class Saving(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            saver = tf.train.CheckpointSaverHook(str(tmp_path / "mine"), save_steps=2)
            return dataclasses.replace(output, hooks=[saver] if mode == Mode.TRAIN else [])

    with pytest.raises(
        ConfigError, match="eval_every_n_steps and eval_every_secs are for tf-frame run, which"
    ):
        go(Saving, max_steps=4, eval_every_n_steps=2)
