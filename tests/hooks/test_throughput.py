import logging
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Tick
from tf_frame.hooks.base import Hook
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.throughput import ThroughputHook, compute_throughput, write_scalars
from tf_frame.hooks.training_clock import mark_traced
from tf_frame.testing.events import read_scalars

LINE = re.compile(
    r"step (\d+): ([\d.]+)(?: \+/- ([\d.]+))? steps/s \(jitter ([\d.]+)\), ([\d.]+) examples/s"
)


@pytest.fixture(autouse=True)
def logged(caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    return caplog


def make_hook(**more):
    return ThroughputHook(**{"examples_per_step": 8, "every_steps": 5, "warmup_steps": 2, **more})


def reported(caplog):
    """Groups of the lines about rates, and the lines about steps that are not considered."""
    lines = [record.getMessage() for record in caplog.records if record.name == "tf_frame"]
    counted = [LINE.fullmatch(line).groups() for line in lines if line.startswith("step ")]
    rest = [line for line in lines if line.startswith("not considering")]
    return counted, rest


def scalars(folder):
    return [each for each in read_scalars(folder) if each[1].startswith("throughput/")]


def test_the_figures_are_those_of_numpy():
    steps, seconds = [10, 10, 10, 5], [2.0, 4.0, 2.5, 1.0]
    rates = np.array([5.0, 2.5, 4.0, 5.0])
    figures = compute_throughput(steps, seconds)
    assert figures.mean == pytest.approx(35 / 9.5)
    assert figures.uncertainty == pytest.approx(np.std(rates) / 2)
    # The median is 4.5; the deviations from it are 0.5, 2, 0.5 and 0.5.
    assert figures.jitter == pytest.approx(1.4826 * 0.5)
    figures = compute_throughput([10], [2.0])
    assert (figures.mean, figures.uncertainty, figures.jitter) == (5.0, None, 0.0)


def test_intervals_are_those_between_multiples_after_the_warm_up(build, train, clock, logged):
    graph, hook = build(), make_hook()
    train(graph, [hook, Tick(clock, [50, 50] + [1] * 3 + [2] * 5 + [1] * 3)], to=13)
    counted, rest = reported(logged)
    # Steps 3 to 5 at 1 step/s, 6 to 10 at 0.5; 8 steps in 13 s.
    assert counted == [("5", "1.0", None, "0.0", "8.0"), ("10", "0.6", "0.2", "0.4", "4.9")]
    assert rest == ["not considering steps 1 to 2 (0.2 examples/s)"]
    assert hook.throughput.mean == pytest.approx(8 / 13)


def test_by_default_ten_steps_are_let_pass(build, train, logged):
    train(build(), [ThroughputHook(examples_per_step=8, every_steps=6)], to=13)
    counted, rest = reported(logged)
    assert [line[0] for line in counted] == ["12"]
    assert rest[0].startswith("not considering steps 1 to 10 ")


def test_the_last_step_ends_an_interval(build, train, logged):
    hook = make_hook(last_step=8)
    assert hook.throughput is None
    train(build(), [hook], to=8)
    assert [line[0] for line in reported(logged)[0]] == ["5", "8"]


def test_without_warm_up_the_first_interval_counts(build, train, clock, logged):
    train(build(), [make_hook(warmup_steps=0), Tick(clock, [1] * 5)], to=5)
    assert reported(logged) == ([("5", "1.0", None, "0.0", "8.0")], [])


def test_a_resumed_session_warms_up_again(build, train, logged):
    for to in (6, 16):
        train(build(), [make_hook()], to=to, save_every=100)
    counted, rest = reported(logged)
    assert [line[0] for line in counted] == ["5", "10", "15"]
    assert [line.split(" (")[0] for line in rest] == [
        "not considering steps 1 to 2",
        "not considering steps 7 to 8",
    ]


class Capture(Hook):
    """Traces some steps without asking TensorFlow for it."""

    def __init__(self, *steps):
        super().__init__(Cadence(at_steps=steps))

    def before_step(self, run_context, step):
        mark_traced()


def test_an_interval_with_a_traced_step_does_not_count(build, train, logged):
    mark_traced()  # Before the session: of no matter.
    train(build(), [make_hook(), Capture(8, 16)], to=25)
    counted, rest = reported(logged)
    assert [line[0] for line in counted] == ["5", "15", "25"]
    assert [line.split(" (")[0] for line in rest[1:]] == [
        "not considering steps 6 to 10",
        "not considering steps 16 to 20",
    ]


class Trace(Hook):
    """Asks for a trace of some steps."""

    def __init__(self, *steps):
        super().__init__(Cadence(at_steps=steps))

    def before_step(self, run_context, step):
        options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
        return tf.train.SessionRunArgs(None, options=options)


def test_an_interval_that_ends_with_a_traced_step_does_not_count(build, train, logged):
    train(build(), [make_hook(), Trace(10)], to=15)
    counted, rest = reported(logged)
    assert [line[0] for line in counted] == ["5", "15"]
    assert rest[1].startswith("not considering steps 6 to 10 ")


def test_summaries_are_written_for_intervals_that_count(tmp_path, build, train, clock):
    graph = build()
    with graph.graph.as_default():
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
    hook = make_hook(writer=writer)
    train(graph, [hook, Tick(clock, [9, 9] + [1] * 3 + [2] * 5)], to=10)
    names = ("steps_per_sec", "examples_per_sec", "mean_steps_per_sec", "jitter")
    first = dict(zip(names, (1.0, 8.0, 1.0, 0.0), strict=True))
    second = {
        **dict(zip(names, (0.5, 4.0, 8 / 13, 1.4826 * 0.25), strict=True)),
        "uncertainty": 0.25 / np.sqrt(2),
    }
    found = scalars(tmp_path)
    assert {tag: value for step, tag, value in found if step == 5} == pytest.approx(
        {f"throughput/{name}": value for name, value in first.items()}
    )
    assert {tag: value for step, tag, value in found if step == 10} == pytest.approx(
        {f"throughput/{name}": value for name, value in second.items()}
    )
    assert {step for step, _, _ in found} == {5, 10}


def test_without_a_writer_nothing_is_written(tmp_path):
    write_scalars(None, "throughput", {"x": 1.0}, 3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", [{"every_steps": 0}, {"warmup_steps": -1}])
def test_numbers_of_steps_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} (is )?{next(iter(wrong.values()))}"):
        make_hook(**wrong)
