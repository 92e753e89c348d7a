import io
import re

import pytest
import tensorflow.compat.v1 as tf

from acting_hooks import Lose, Tick
from recorded_steps import record
from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.hooks.base import Hook
from tf_frame.hooks.progress import ProgressHook
from tf_frame.session.job_member import JobMember
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import monitored_session
from tf_frame.session.schedule import Schedule
from tf_frame.testing.toy import ToyInput, build_toy_graph

CONFIG = RunOptions(train_batch_size=8, learning_rate=0.05)

LINE = re.compile(
    r"step (\d+)/(\d+)  loss (\d+\.\d{4})  ([\d.]+) steps/s  ([\d.]+) examples/s  ([\d:]+) left"
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def make_hook(graph, out, *, last_step=9, every_steps=1, **figures):
    steps = {"last_step": last_step, "every_steps": every_steps}
    return ProgressHook(graph.train_op, examples_per_step=8, out=out, **steps, **figures)


def shown(out):
    """The lines, each taken to pieces; all of them must be progress lines."""
    return [LINE.fullmatch(line).groups() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize(("last_step", "steps"), [(8, ["3", "6", "8"]), (6, ["3", "6"])])
def test_a_line_is_shown_at_every_nth_step_and_once_at_the_last(build, train, last_step, steps):
    graph, out = build(), io.StringIO()
    train(graph, [make_hook(graph, out, last_step=last_step, every_steps=3)], to=last_step)
    assert [line[:2] for line in shown(out)] == [(step, str(last_step)) for step in steps]


def test_a_line_holds_the_rates_of_its_interval_and_the_time_left(build, train, clock):
    graph, out = build(), io.StringIO()
    progress = make_hook(graph, out, every_steps=3)
    train(graph, [progress, Tick(clock, [100, 1, 1, 4, 4, 4])], to=6)
    first, second = shown(out)
    assert first[3:] == ("1.00", "8.0", "0:06")
    assert second[2:] == (f"{progress.loss:.4f}", "0.25", "2.0", "0:12")
    assert progress.loss > 0


@pytest.mark.parametrize(("width", "is_shown"), [(80, False), (100, True)])
def test_the_rate_of_the_hardware_is_shown_where_there_is_room(
    build, train, clock, monkeypatch, width, is_shown
):
    monkeypatch.setenv("COLUMNS", str(width))
    graph, out = build(), io.StringIO()
    rates = {"flops_per_step": 123.4e9, "peak_flops": 200e9}
    progress = make_hook(graph, out, every_steps=3, **rates)
    train(graph, [progress, Tick(clock, [100, 2, 2])], to=3)
    assert progress.flops_per_sec == pytest.approx(61.7e9)
    (line,) = out.getvalue().splitlines()
    assert ("  61.7 GFLOP/s (31 %)  0:12 left" in line) == is_shown
    assert len(line) <= width and "examples/s" in line


def test_waiting_for_input_is_shown_from_a_fifth_of_the_time_on(build, train, clock):
    graph, out = build(), io.StringIO()
    with graph.graph.as_default():
        waited = tf.Variable(0.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
        secs = tf.placeholder(tf.float32, [])
        wait, more = waited.read_value(), waited.assign_add(secs)
    progress = make_hook(graph, out, every_steps=2)
    progress.input_wait = wait
    durations = [100, 1, 1, 1, 1, 1]
    # Added after each step: the hook sees those of step 1 at step 2.
    waits = iter([0.1, 0.3, 0.56, 0.1, 0.2, 9])
    train(
        graph,
        [progress, Tick(clock, durations)],
        to=6,
        each=lambda session: session.run_step_fn(
            lambda step_context: step_context.session.run(more, {secs: next(waits)})
        ),
    )
    shown = [line.partition(" left")[2] for line in out.getvalue().splitlines()]
    assert shown == ["", "  input 43 %", ""]
    assert progress.input_share == pytest.approx((0.1 + 0.86 + 0.3) / 5)


def test_the_mean_rate_leaves_out_the_first_step(build, train, clock):
    graph = build()
    progress = make_hook(graph, io.StringIO())
    train(graph, [progress, Tick(clock, [100, 2, 2, 2, 2])], to=5)
    assert progress.steps_per_sec == pytest.approx(0.5)
    assert progress.examples_per_sec == pytest.approx(4.0)


def test_after_one_step_there_is_a_loss_and_no_rate(build, train):
    graph, out = build(), io.StringIO()
    progress = make_hook(graph, out, last_step=1)
    train(graph, [progress], to=1)
    assert out.getvalue() == f"step 1/1  loss {progress.loss:.4f}\n"
    assert (progress.step, progress.steps_per_sec, progress.examples_per_sec) == (1, None, None)


@pytest.mark.slow
def test_the_rate_of_a_resumed_run_counts_its_own_steps(tmp_path, build, train, clock):
    for last_step in (5, 8):
        graph = build()
        progress = make_hook(graph, io.StringIO())
        train(graph, [progress, Tick(clock, [1] * 9)], to=last_step, save_every=100)
    assert progress.steps_per_sec == pytest.approx(1.0)


@pytest.mark.parametrize("out", [io.StringIO(), Terminal()])
def test_nothing_is_shown_every_zero_steps(build, train, out):
    graph = build()
    progress = make_hook(graph, out, every_steps=0)
    train(graph, [progress], to=3)
    assert out.getvalue() == ""
    assert progress.step == 3


def test_a_terminal_gets_a_bar(build, train):
    graph, out = build(), Terminal()
    train(graph, [make_hook(graph, out, last_step=4, every_steps=2)], to=4)
    last = out.getvalue().split("\r")[-1]
    assert re.match(r"train, loss \d+\.\d{4}: 100%", last)
    assert "4/4" in last
    assert last.endswith("\n")
    assert "steps/s  " not in out.getvalue()


def test_a_narrow_terminal_keeps_the_loss(build, train, monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setattr("tqdm.std._screen_shape_wrapper", lambda: lambda stream: (24, 10))
    graph, out = build(), Terminal()
    train(graph, [make_hook(graph, out, last_step=4, every_steps=2)], to=4)
    assert re.search(r"\rtrain, loss \d+\.\d{4}: [█#]", out.getvalue())
    assert all(len(line.strip()) <= 24 for line in out.getvalue().split("\r"))


def test_a_small_loss_is_not_shown_as_zero(build, train, monkeypatch):
    graph, out = build(), io.StringIO()
    hook = make_hook(graph, out, last_step=1)
    with graph.graph.as_default():
        monkeypatch.setattr(hook, "loss_tensor", tf.multiply(graph.train_op, 0.0) + 1.25e-5)
    train(graph, [hook], to=2)
    assert "  loss 1.250e-05  " in out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("out", [io.StringIO(), Terminal()])
def test_rates_stay_positive_after_a_lost_session(tmp_path, build, train, out):
    graph = build()
    progress = make_hook(graph, out, every_steps=2)
    train(graph, [progress, Lose(after=6)], to=9, save_every=100)
    assert progress.steps_per_sec > 0
    assert "-" not in out.getvalue().replace("loss", "")
    if not out.isatty():
        assert [line[0] for line in shown(out)] == ["2", "4", "2", "4", "6", "8", "9"]


def test_a_multiple_that_other_workers_pass_over_is_shown_when_it_is_passed(build, train):
    class OtherWorkers(tf.train.SessionRunHook):
        """Takes two more steps beside each of ours."""

        def begin(self):
            self.more = tf.assign_add(tf.train.get_global_step(), 2)

        def after_run(self, run_context, run_values):
            run_context.session.run(self.more)

    graph, out = build(), io.StringIO()
    train(graph, [make_hook(graph, out, last_step=100, every_steps=5), OtherWorkers()], to=16)
    # A run takes the global step three on, and only the next run knows that it has passed 10.
    assert [line[0] for line in shown(out)] == ["7", "13", "19"]


def make_ran(graph, *, out=None, **more):
    """Makes the hook, and notes in its `steps` at which steps it is called."""
    hook = make_hook(graph, out or io.StringIO(), **more)
    hook.steps = record(hook)
    return hook


@pytest.mark.parametrize(
    ("last_step", "every_steps", "steps"), [(14, 4, [1, 4, 8, 12, 14]), (6, 0, [1, 6])]
)
def test_only_the_first_step_multiples_and_the_last_step_are_wanted(
    build, train, last_step, every_steps, steps
):
    graph = build()
    hook = make_ran(graph, last_step=last_step, every_steps=every_steps)
    train(graph, [hook], to=last_step)
    assert hook.steps == steps


def test_a_resumed_session_wants_its_first_step_and_the_same_multiples(tmp_path, build, train):
    for last_step in (6, 13):
        graph = build()
        hook = make_ran(graph, last_step=last_step, every_steps=5)
        train(graph, [hook], to=last_step, save_every=100)
    assert hook.steps == [7, 10, 13]


def test_a_bar_also_moves_every_half_second(build, train, clock):
    graph = build()
    hook = make_ran(graph, last_step=100, every_steps=50, out=Terminal())
    train(graph, [hook, Tick(clock, [0.2] * 10)], to=9)
    # Steps of 0.2 s: the half second is over before the fifth, and again before the ninth.
    assert hook.steps == [1, 5, 9]


def test_a_line_does_not_come_by_seconds(build, train, clock):
    graph, out = build(), io.StringIO()
    train(graph, [make_hook(graph, out, last_step=100, every_steps=50), Tick(clock, [9] * 9)], to=9)
    assert out.getvalue() == ""


class Asked(Hook):
    """Lets a second pass each time that it is asked between steps; at most twice a step."""

    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def should_stop(self):
        self.clock.now += 1
        return False


class EightBatches(ToyInput):
    """Ends after eight batches."""

    def dataset(self, mode, context):
        return super().dataset(mode, context).take(8)


class SlowEnd(Hook):
    """Takes time at the end, before the log phase, as saving a checkpoint does."""

    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def end(self, session):
        self.clock.now += 500


def test_the_mean_rate_is_right_where_training_ends_between_wanted_steps(tmp_path, clock):
    graph = build_toy_graph(CONFIG, source=EightBatches(params=EightBatches.Params()))
    progress = make_ran(graph, last_step=100, every_steps=5)
    # In tf-frame's own loop, where the hook is called at no other steps.
    with graph.graph.as_default():
        loop = TrainingLoop(graph, Schedule([Asked(clock), SlowEnd(clock), progress]))
        with monitored_session(
            graph,
            hooks=loop.hooks,
            member=JobMember(cluster=Cluster(), model_dir=str(tmp_path)),
            config=tf.ConfigProto(),
        ) as session:
            loop.run(session)
    assert progress.steps == [1, 5]
    assert (progress.first_step, progress.step) == (1, 8)
    # The clock stands still at step 5, and 500 s pass at the end; neither is the time of step 8.
    assert 0.5 <= progress.steps_per_sec <= 1.0


def test_a_bar_ends_at_the_last_step_that_was_run(build, train):
    graph, out = build(), Terminal()
    progress = make_hook(graph, out, last_step=10, every_steps=10)
    train(graph, [progress], to=7)
    text = out.getvalue()
    assert " 7/10 " in text.split("\r")[-1] and text.endswith("\n")
    progress.close()
    assert out.getvalue() == text
