import io
import re

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.progress import ProgressHook

LINE = re.compile(
    r"step (\d+)/(\d+)  loss (\d+\.\d{4})  ([\d.]+) steps/s  ([\d.]+) examples/s  ([\d:]+) left"
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def hook_of(graph, out, *, last_step=9, every_steps=1, **more):
    return ProgressHook(
        graph.train_op,
        last_step=last_step,
        examples_per_step=8,
        every_steps=every_steps,
        out=out,
        **more,
    )


class Tick(Hook):
    """Lets each step take as many seconds as the list says."""

    def __init__(self, clock, durations):
        self.clock, self.durations = clock, iter(durations)

    def after_run(self, run_context, run_values):
        self.clock.now += next(self.durations)


def shown(out):
    """The lines, each taken to pieces; all of them must be progress lines."""
    return [LINE.fullmatch(line).groups() for line in out.getvalue().splitlines()]


@pytest.mark.usefixtures("variable_mode")
def test_a_line_is_shown_at_every_nth_step_and_at_the_last(build, train):
    graph, out = build(), io.StringIO()
    train(graph, [hook_of(graph, out, last_step=8, every_steps=3)], to=8)
    assert [(step, last) for step, last, *_ in shown(out)] == [("3", "8"), ("6", "8"), ("8", "8")]


def test_the_last_step_is_not_shown_twice(build, train):
    graph, out = build(), io.StringIO()
    train(graph, [hook_of(graph, out, last_step=6, every_steps=3)], to=6)
    assert [line[0] for line in shown(out)] == ["3", "6"]


def test_a_line_holds_the_rates_of_its_interval_and_the_time_left(build, train, clock):
    graph, out = build(), io.StringIO()
    tick = Tick(clock, [100, 1, 1, 4, 4, 4])
    train(graph, [hook_of(graph, out, every_steps=3), tick], to=6)
    first, second = shown(out)
    assert first[3:] == ("1.00", "8.0", "0:06")
    assert second[3:] == ("0.25", "2.0", "0:12")


def test_the_loss_shown_is_that_of_the_step(build, train):
    graph, out = build(), io.StringIO()
    progress = hook_of(graph, out, every_steps=3)
    train(graph, [progress], to=3)
    assert shown(out)[0][2] == f"{progress.loss:.4f}"
    assert progress.loss > 0


def test_the_mean_rate_leaves_out_the_first_step(build, train, clock):
    graph = build()
    progress = hook_of(graph, io.StringIO())
    train(graph, [progress, Tick(clock, [100, 2, 2, 2, 2])], to=5)
    assert progress.steps_per_sec == pytest.approx(0.5)
    assert progress.examples_per_sec == pytest.approx(4.0)


def test_after_one_step_there_is_no_rate(build, train):
    graph = build()
    progress = hook_of(graph, io.StringIO())
    train(graph, [progress], to=1)
    assert (progress.step, progress.steps_per_sec, progress.examples_per_sec) == (1, None, None)


def test_the_rate_of_a_resumed_run_counts_its_own_steps(tmp_path, build, train, clock):
    for last_step in (5, 8):
        graph = build()
        progress = hook_of(graph, io.StringIO())
        save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
        train(graph, [progress, save, Tick(clock, [1] * 9)], to=last_step)
    assert progress.steps_per_sec == pytest.approx(1.0)


@pytest.mark.parametrize("out", [io.StringIO(), Terminal()])
def test_nothing_is_shown_every_zero_steps(build, train, out):
    graph = build()
    progress = hook_of(graph, out, every_steps=0)
    train(graph, [progress], to=3)
    assert out.getvalue() == ""
    assert progress.step == 3


def test_a_terminal_gets_a_bar(build, train):
    graph, out = build(), Terminal()
    train(graph, [hook_of(graph, out, last_step=4, every_steps=2)], to=4)
    last = out.getvalue().split("\r")[-1]
    assert last.startswith("train: 100%")
    assert "4/4" in last
    assert "loss " in last
    assert last.endswith("\n")
    assert "steps/s  " not in out.getvalue()


def test_closing_twice_leaves_one_fresh_line(build, train):
    graph, out = build(), Terminal()
    progress = hook_of(graph, out, last_step=4)
    train(graph, [progress], to=2)
    before = out.getvalue()
    progress.close()
    assert out.getvalue() == before
    assert before.endswith("\n")


def test_throughput_is_written_at_the_same_steps(tmp_path, build, train, clock):
    graph = build()
    with graph.graph.as_default():
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
    progress = hook_of(graph, io.StringIO(), every_steps=2, writer=writer)
    train(graph, [progress, Tick(clock, [2] * 4)], to=4)
    tf.summary.FileWriterCache.clear()
    (file,) = tmp_path.glob("events.out.tfevents.*")
    values = [
        (event.step, value.tag, value.simple_value)
        for event in tf.train.summary_iterator(str(file))
        for value in event.summary.value
    ]
    assert values == [
        (step, tag, rate)
        for step in (2, 4)
        for tag, rate in (("throughput/steps_per_sec", 0.5), ("throughput/examples_per_sec", 4.0))
    ]


class LoseSession(Hook):
    """Loses the session once, after a number of steps."""

    def __init__(self, after):
        self.left = after

    def after_run(self, run_context, run_values):
        self.left -= 1
        if self.left == 0:
            raise tf.errors.AbortedError(None, None, "lost")


@pytest.mark.parametrize("out", [io.StringIO(), Terminal()])
def test_rates_stay_positive_after_a_lost_session(tmp_path, build, train, out):
    graph = build()
    progress = hook_of(graph, out, every_steps=2)
    save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
    train(graph, [progress, save, LoseSession(after=6)], to=9)
    assert progress.steps_per_sec > 0
    assert "-" not in out.getvalue().replace("loss", "")
    if not out.isatty():
        assert [line[0] for line in shown(out)] == ["2", "4", "2", "4", "6", "8", "9"]


def test_a_multiple_that_other_workers_pass_over_is_shown_when_it_is_passed(build, train):
    class OtherWorkers(Hook):
        """Takes two more steps beside each of ours."""

        def begin(self):
            self.more = tf.assign_add(tf.train.get_global_step(), 2)

        def after_run(self, run_context, run_values):
            run_context.session.run(self.more)

    graph, out = build(), io.StringIO()
    train(graph, [hook_of(graph, out, last_step=100, every_steps=5), OtherWorkers()], to=16)
    assert [line[0] for line in shown(out)] == ["7", "10", "16"]
