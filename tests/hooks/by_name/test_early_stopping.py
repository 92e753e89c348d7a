import logging
import os

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.by_name.early_stopping import (
    EarlyStoppingHook,
    EvalMetricsReader,
    stop_if_higher,
    stop_if_lower,
    stop_if_no_decrease,
    stop_if_no_increase,
    stop_if_not_better,
)

BY_STEPS = {"run_every_secs": None, "run_every_steps": 1}
METRICS = {2: {"loss": 3.0, "acc": 0.1}, 4: {"loss": 1.0, "acc": 0.3}, 6: {"loss": 2.0, "acc": 0.3}}


def write(folder, step, values):
    """Writes an evaluation to an event file of its own."""
    os.makedirs(folder, exist_ok=True)
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(folder), filename_suffix=f".{step}")
    summary = tf.Summary(value=[tf.Summary.Value(tag=t, simple_value=v) for t, v in values.items()])
    writer.add_summary(summary, step)
    writer.close()


def stopped_at(hook, metrics=None, *, to=12):
    """The first step after which the hook asks to stop; None if there is none up to `to`."""
    context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), None)
    hook.start(None, 0)
    for step in range(1, to + 1):
        if hook.cadence.wants(step):
            hook.after_step(context, None, step)
            hook.cadence.mark(step)
        if context.stop_requested:
            return step
    return None


@pytest.mark.parametrize(
    ("stop", "metric", "limit", "more", "step"),
    [
        (stop_if_higher, "acc", 0.2, {}, 4),
        (stop_if_higher, "acc", 0.3, {}, None),
        (stop_if_higher, "loss", 2.5, {}, 2),
        (stop_if_lower, "loss", 1.5, {}, 4),
        (stop_if_lower, "loss", 1.0, {}, None),
        # The best accuracy is that of step 4: equal is no increase.
        (stop_if_no_increase, "acc", 2, {}, 6),
        (stop_if_no_increase, "acc", 3, {}, None),
        (stop_if_no_increase, "loss", 2, {}, 4),
        (stop_if_no_decrease, "loss", 2, {}, 6),
        (stop_if_no_decrease, "acc", 4, {}, 6),
        (stop_if_not_better, "acc", 1, {"higher": True}, 6),
        (stop_if_not_better, "acc", 2, {"higher": True}, None),
        (stop_if_not_better, "acc", 1, {"higher": False}, 4),
        (stop_if_not_better, "loss", 1, {"higher": False}, 6),
        (stop_if_not_better, "loss", 1, {"higher": True}, 4),
        (stop_if_not_better, "loss", 2, {"higher": True}, 6),
        (stop_if_higher, "loss", 1.5, {"min_steps": 2}, 2),
        (stop_if_higher, "loss", 1.5, {"min_steps": 3}, 6),
        (stop_if_higher, "loss", 1.5, {"min_steps": 7}, None),
        # From step 4 on 1.0 and 0.3 are the first values.
        (stop_if_no_increase, "loss", 2, {"min_steps": 4}, None),
        (stop_if_no_increase, "acc", 2, {"min_steps": 4}, 6),
    ],
)
def test_training_stops_at_the_limit(stop, metric, limit, more, step):
    hook = stop(metric, limit, lambda: METRICS, **more, **BY_STEPS)
    assert stopped_at(hook) == step
    assert bool(hook.reason) == (step is not None)


def test_the_newest_evaluation_decides():
    """At step 4 the patience is used up, and step 5 is better."""
    losses = {1: 3.4, 2: 12.1, 4: 11.1, 5: 2.7, 6: 6.5, 7: 2.6, 8: 3.0, 9: 2.8, 10: 1.0}
    metrics = {step: {"loss": loss} for step, loss in losses.items()}
    hook = stop_if_not_better("loss", 2, lambda: metrics, higher=False, **BY_STEPS)
    context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), None)
    hook.after_step(context, None, 4)
    assert context.stop_requested
    context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), None)
    for step in (5, 6, 7, 8):
        hook.after_step(context, None, step)
        assert not context.stop_requested
    hook.after_step(context, None, 9)
    assert hook.reason.startswith('No decrease in metric "loss" for 2 evaluations')


@pytest.mark.parametrize(("restored", "stops"), [(3, False), (4, True), (5, True), (6, True)])
def test_a_resumed_run_that_had_to_stop_ends_before_its_first_step(restored, stops):
    hook = stop_if_no_increase("loss", 2, lambda: METRICS, **BY_STEPS)
    hook.start(None, restored)
    assert hook.should_stop() == stops
    assert bool(hook.reason) == stops


def test_without_evaluations_a_condition_is_asked_after_the_first_step():
    asked = []
    hook = EarlyStoppingHook(lambda m: asked.append(m) or "why", dict, **BY_STEPS)
    hook.start(None, 7)
    assert not asked and not hook.should_stop()


@pytest.mark.parametrize("make", [stop_if_no_increase, stop_if_no_decrease])
def test_any_number_is_better_than_nan(make):
    metrics = {1: {"loss": float("nan")}, 2: {"loss": 1.0}, 4: {"loss": 1.0}}
    assert stopped_at(make("loss", 3, lambda: metrics, **BY_STEPS)) is None
    assert stopped_at(make("loss", 2, lambda: metrics, **BY_STEPS)) == 4


def test_the_reason_is_logged_and_kept(caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    hook = stop_if_higher("acc", 0.2, eval_dir=lambda: METRICS, **BY_STEPS)
    stopped_at(hook)
    assert hook.reason == (
        'At step 4, metric "acc" has value 0.3 which is greater than the configured threshold '
        "(0.2) for early stopping"
    )
    assert caplog.messages == [f"{hook.reason}; early stopping at global step 4"]
    hook = stop_if_no_decrease("loss", 2, eval_dir=lambda: METRICS, **BY_STEPS)
    stopped_at(hook)
    assert hook.reason == (
        'No decrease in metric "loss" for 2 steps, which is greater than or equal to max steps '
        "(2) configured for early stopping"
    )
    hook = stop_if_not_better("acc", 1, lambda: METRICS, higher=True, **BY_STEPS)
    stopped_at(hook)
    assert hook.reason.startswith('No increase in metric "acc" for 1 evaluations, which is ')


def test_without_evaluations_training_goes_on(tmp_path):
    assert stopped_at(stop_if_higher("acc", 0.0, str(tmp_path / "none"), **BY_STEPS)) is None
    assert EvalMetricsReader(str(tmp_path / "none")).read() == {}


def test_an_evaluation_without_the_metric_is_passed_over():
    metrics = {1: {"other": 1.0}, 3: {"acc": 0.5}}
    hook = stop_if_higher("acc", 0.4, eval_dir=lambda: {s: metrics[s] for s in (1, 3)}, **BY_STEPS)
    hook.cadence.start(2)
    context = tf.train.SessionRunContext(tf.train.SessionRunArgs(None), None)
    hook.after_step(context, None, 3)
    assert context.stop_requested


def test_a_metric_that_no_evaluation_has_is_an_error():
    hook = stop_if_higher("accuracy", 0.4, eval_dir=lambda: METRICS, **BY_STEPS)
    with pytest.raises(ConfigError, match="has a metric 'accuracy'; there are: acc, loss"):
        stopped_at(hook)


def test_evaluations_of_steps_to_come_do_not_count():
    # A run that was killed at step 8 and goes on from its checkpoint of step 3.
    hook = stop_if_higher("loss", 2.5, eval_dir=lambda: {8: {"loss": 5.0}}, **BY_STEPS)
    assert stopped_at(hook, to=7) is None
    assert stopped_at(hook) == 8


def test_the_evaluations_are_looked_at_every_so_many_steps():
    asked = []

    def metrics():
        asked.append(1)
        return {}

    hook = EarlyStoppingHook(lambda m: "", metrics, run_every_secs=None, run_every_steps=5)
    stopped_at(hook)
    assert len(asked) == 4  # At the start, and after steps 1, 6 and 11.


def test_the_evaluations_are_looked_at_every_minute_by_default(clock):
    hook = EarlyStoppingHook(lambda m: "why" if clock.now >= 1060 else "", dict)
    hook.start(None, 0)
    wanted = []
    for step in range(1, 5):
        if hook.cadence.wants(step):
            wanted.append(step)
            hook.cadence.mark(step)
        clock.now += 30
    assert wanted == [1, 3]
    assert hook.cadence.every_secs == 60


@pytest.mark.parametrize(
    ("secs", "steps", "message"),
    [
        (60, 10, "Only one of `run_every_secs` and `run_every_steps` must be set."),
        (None, None, "One of `run_every_secs` and `run_every_steps` must be set."),
        (None, 0, "every_steps is 0; it must be positive"),
        (-1, None, "every_secs is -1; it must be positive"),
    ],
)
def test_exactly_one_of_steps_and_seconds_is_given(secs, steps, message):
    with pytest.raises(ValueError) as error:
        stop_if_lower("loss", 1.0, dict, run_every_secs=secs, run_every_steps=steps)
    assert str(error.value) == message


def test_metrics_are_read_from_event_files(tmp_path):
    write(tmp_path, 20, {"metrics/loss": 0.5, "metrics/acc": 0.25})
    write(tmp_path, 10, {"metrics/loss": 0.75, "loss": 9.0, "other": 2.0})
    assert list(EvalMetricsReader(str(tmp_path)).read().items()) == [
        (10, {"loss": 0.75, "metrics/loss": 0.75, "other": 2.0}),
        (20, {"loss": 0.5, "acc": 0.25, "metrics/loss": 0.5, "metrics/acc": 0.25}),
    ]


def test_what_is_not_a_number_is_passed_over(tmp_path):
    with tf.Graph().as_default():
        text = tf.summary.text("words", tf.constant("hello"))
        writer = tf.summary.FileWriter(str(tmp_path), tf.get_default_graph())
        with tf.Session() as session:
            writer.add_summary(session.run(text), 3)
    writer.close()
    assert EvalMetricsReader(str(tmp_path)).read() == {}


def test_only_what_is_new_in_a_file_is_read(tmp_path, monkeypatch):
    with tf.Graph().as_default():
        writer = tf.summary.FileWriter(str(tmp_path))
    parsed = []
    from_string = tf.Event.FromString
    monkeypatch.setattr(
        "tf_frame.hooks.by_name.early_stopping.tf.Event",
        type("Event", (), {"FromString": lambda r: parsed.append(r) or from_string(r)}),
    )
    reader = EvalMetricsReader(str(tmp_path))
    for step in (1, 2, 3):
        value = tf.Summary.Value(tag="metrics/loss", simple_value=step)
        writer.add_summary(tf.Summary(value=[value]), step)
        writer.flush()
        parsed.clear()
        assert {s: v["loss"] for s, v in reader.read().items()} == {
            s: float(s) for s in range(1, step + 1)
        }
        assert len(parsed) == (2 if step == 1 else 1)  # The first record is the file's version.
    parsed.clear()
    reader.read()
    assert parsed == []
    writer.close()


def test_a_record_that_is_still_being_written_is_read_later(tmp_path):
    write(tmp_path / "whole", 7, {"metrics/loss": 0.5})
    (whole,) = (tmp_path / "whole").iterdir()
    data = whole.read_bytes()
    (tmp_path / "part").mkdir()
    part = tmp_path / "part" / whole.name
    reader = EvalMetricsReader(str(part.parent))
    for end in range(len(data)):
        part.write_bytes(data[:end])
        assert reader.read() == {}
    part.write_bytes(data)
    assert reader.read() == {7: {"loss": 0.5, "metrics/loss": 0.5}}


def test_a_run_ends_by_an_evaluation_that_comes_while_it_trains(tmp_path, build, train):
    folder, steps = tmp_path / "eval", []

    def each(session):
        steps.append(len(steps) + 1)
        if steps[-1] == 3:
            write(folder, 3, {"metrics/loss": 0.01})

    def run():
        stop = stop_if_lower("loss", 0.1, str(folder), **BY_STEPS)
        train(build(), [stop], to=9, each=each, save_every=100)

    run()
    assert steps == [1, 2, 3, 4]
    # Going on, the evaluation still says so: there is no further step.
    run()
    assert steps == [1, 2, 3, 4]


def test_the_graph_gets_no_variable(build, train):
    graph = build()
    with graph.graph.as_default():
        before = tf.global_variables()
        train(graph, [stop_if_lower("loss", 0.1, dict, **BY_STEPS)], to=2)
        assert tf.global_variables() == before
