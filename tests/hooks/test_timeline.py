import json
import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.timeline import TimelineHook


def list_names(folder):
    return sorted(path.name for path in folder.glob("tf_trace*"))


def read_events(text):
    events = json.loads(text)["traceEvents"]
    for event in events:
        assert {"ph", "pid", "tid", "ts"} <= event.keys(), event
        assert event["ph"] != "X" or event["dur"] > 0, event
    return events


@pytest.mark.parametrize(
    ("options", "to", "steps"),
    [({"every_steps": 5}, 12, [1, 11, 6]), ({"at_steps": [3, 7, 20]}, 8, [3, 7])],
)
def test_the_steps_of_the_options_are_traced_and_logged(
    tmp_path, build, train, caplog, options, to, steps
):
    with caplog.at_level(logging.INFO, "tf_frame"):
        train(build(), [TimelineHook(str(tmp_path), **options)], to=to)
    assert list_names(tmp_path) == [f"tf_trace-{step}.json" for step in steps]
    assert f"Writing trace to {tmp_path}/tf_trace-{steps[0]}.json" in caplog.messages
    events = read_events((tmp_path / f"tf_trace-{steps[0]}.json").read_text())
    assert any("Momentum" in event["name"] for event in events if event["ph"] == "X")
    assert not list(tmp_path.glob("events*"))


def test_memory_is_drawn_if_it_is_wanted(tmp_path, build, train):
    for folder, memory in (("with", True), ("without", False)):
        hook = TimelineHook(str(tmp_path / folder), every_steps=1, memory=memory)
        train(build(), [hook], to=1)
        events = read_events((tmp_path / folder / "tf_trace-1.json").read_text())
        assert any(event["ph"] == "C" for event in events) == memory


def test_dataflow_is_drawn(tmp_path, monkeypatch, build, train):
    asked = []
    monkeypatch.setattr(
        "tf_frame.hooks.timeline.chrome_trace", lambda _, **drawn: asked.append(drawn) or "{}"
    )
    train(build(), [TimelineHook(str(tmp_path), every_steps=1)], to=1)
    assert asked == [{"dataflow": True, "memory": False}]


def test_a_writer_gets_the_run_metadata_under_slims_tag(tmp_path, build, train):
    graph = build()
    with graph.graph.as_default():
        writer = tf.summary.FileWriter(str(tmp_path))
    train(graph, [TimelineHook(str(tmp_path), every_steps=2, writer=writer)], to=3)
    writer.close()
    (file,) = tmp_path.glob("events.out.tfevents.*")
    found = [
        (event.tagged_run_metadata.tag, event.step)
        for event in tf.train.summary_iterator(str(file))
        if event.HasField("tagged_run_metadata")
    ]
    assert found == [("run_metadata-1", 0), ("run_metadata-3", 0)]


def test_a_folder_that_cannot_be_written_only_warns(tmp_path, build, train, caplog):
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING, "tf_frame"):
        hook = TimelineHook(str(tmp_path / "file"), every_steps=2)
        assert train(build(), [hook], to=4) == 4
    assert len([m for m in caplog.messages if "training goes on" in m]) == 2


@pytest.mark.parametrize("logdir", ["", None])
def test_without_a_folder_it_is_refused(logdir):
    with pytest.raises(ConfigError, match="timelines are written into a folder"):
        TimelineHook(logdir, every_steps=1)
