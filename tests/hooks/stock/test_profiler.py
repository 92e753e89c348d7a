import json
import logging

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow.python.training.training_util import _get_or_create_global_step_read

from slow_cases import slow_but
from tf_frame.graph.global_step import read_step_after
from tf_frame.hooks.stock.profiler import ProfilerHook
from tf_frame.testing.events import read_events
from tf_frame.testing.session_runs import counted_runs


def list_files(folder):
    return sorted(int(path.stem.split("-")[1]) for path in folder.glob("timeline-*.json"))


def read_tags(folder):
    """Tag and step of the run metadata in each event, in order."""
    return [
        (event.tagged_run_metadata.tag, event.step)
        for event in read_events(folder)
        if event.HasField("tagged_run_metadata")
    ]


@pytest.fixture
def side_by_side(tmp_path):
    """Trains with our hook and with TensorFlow's; returns what each wrote."""

    def side_by_side(*, to, start=0, **options):
        ours, theirs = tmp_path / "ours", tmp_path / "theirs"
        with tf.Graph().as_default():
            step = tf.train.create_global_step()
            # Their hook counts wrong where this read of its happens to come after the update.
            with tf.control_dependencies([_get_or_create_global_step_read()]):
                train_op = tf.assign_add(step, 1)
            read_step_after([train_op], step)
            hooks = [
                ProfilerHook(output_dir=str(ours), **options),
                tf.train.ProfilerHook(output_dir=str(theirs), **options),
            ]
            scaffold = tf.train.Scaffold(init_fn=lambda _, session: step.load(start, session))
            creator = tf.train.ChiefSessionCreator(scaffold)
            with tf.train.MonitoredSession(creator, hooks=hooks) as session:
                for _ in range(start, to):
                    session.run(train_op)
        return [(list_files(folder), read_tags(folder)) for folder in (ours, theirs)]

    return side_by_side


@pytest.mark.parametrize("save_steps", slow_but(1, [1, 2, 5]))
@pytest.mark.parametrize("start", [0, 3])
def test_files_and_tags_are_those_of_the_hook_of_tensorflow(side_by_side, save_steps, start):
    ours, theirs = side_by_side(to=14, start=start, save_steps=save_steps)
    assert ours == theirs
    if save_steps == 5:
        files = [start + 5, start + 10] if start else [5, 10]
        assert ours == (files, [(f"step_{step}", 0) for step in files])


@pytest.mark.slow
def test_by_seconds_it_counts_from_the_end_of_the_first_run(tmp_path, build, train, clock):
    hook = ProfilerHook(save_secs=10, output_dir=str(tmp_path))
    clock.now += 1000  # Making the session took long.

    def tick(session):
        clock.now += 4

    train(build(), [hook], to=9, each=tick)
    assert list_files(tmp_path) == [4, 7]


def test_no_first_run_is_traced_however_long_ago_the_session_began(tmp_path, build, train, clock):
    class Slow(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            clock.now += 1000

    graph = build()
    train(graph, [ProfilerHook(save_secs=10, output_dir=str(tmp_path)), Slow()], to=3)
    assert list_files(tmp_path) == []


def test_nothing_is_run_beside_the_step(tmp_path, build, train):
    counts = []
    for hooks in ([], [ProfilerHook(save_steps=2, output_dir=str(tmp_path))]):
        graph = build()
        with counted_runs() as count:
            train(graph, hooks, to=5)
        counts.append(count.runs)
    # One more at the start: every hook reads the global step of a new session.
    assert counts[1] == counts[0] + 1
    assert list_files(tmp_path) == [2, 4]


@pytest.mark.slow
def test_another_profiler_does_not_fail_the_step(tmp_path, build, train):
    tf2.profiler.experimental.start(str(tmp_path / "other"))
    try:
        train(build(), [ProfilerHook(save_steps=2, output_dir=str(tmp_path))], to=3)
    finally:
        tf2.profiler.experimental.stop(save=False)
    assert list_files(tmp_path) == [2]


@pytest.mark.parametrize("show_dataflow", [True, False])
@pytest.mark.parametrize("show_memory", slow_but(0, [True, False]))
def test_what_is_shown_can_be_chosen(
    tmp_path, monkeypatch, build, train, show_dataflow, show_memory
):
    asked = []
    monkeypatch.setattr(
        "tf_frame.hooks.stock.profiler.chrome_trace", lambda _, **drawn: asked.append(drawn) or "{}"
    )
    hook = ProfilerHook(2, None, str(tmp_path), show_dataflow, show_memory)
    train(build(), [hook], to=2)
    assert asked == [{"dataflow": show_dataflow, "memory": show_memory}]


@pytest.mark.parametrize(
    ("in_the_way", "output_dir", "warnings"), [("timeline-2.json/x", "", 1), ("file", "file", 2)]
)
def test_a_file_or_folder_that_cannot_be_made_only_warns(
    tmp_path, build, train, caplog, in_the_way, output_dir, warnings
):
    path = tmp_path / in_the_way
    path.parent.mkdir(exist_ok=True)
    path.touch()
    with caplog.at_level(logging.WARNING, "tf_frame"):
        hook = ProfilerHook(save_steps=2, output_dir=str(tmp_path / output_dir))
        assert train(build(), [hook], to=3) == 3
    assert len([m for m in caplog.messages if "training goes on" in m]) == warnings
    assert in_the_way != "timeline-2.json/x" or "timeline-2.json was not" in caplog.messages[0]


def test_the_default_is_the_current_folder(tmp_path, monkeypatch, build, train):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    train(build(), [ProfilerHook(save_steps=2)], to=3)
    assert list_files(tmp_path / "here") == [2]
    assert read_tags(tmp_path / "here") == [("step_2", 0)]
    events = json.loads((tmp_path / "here" / "timeline-2.json").read_text())["traceEvents"]
    assert all({"ph", "pid", "tid", "ts"} <= event.keys() for event in events)
    assert any("Momentum" in event["name"] for event in events if event["ph"] == "X")
