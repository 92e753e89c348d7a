"""Reads the folders of trainings: variables, summaries and traces."""

import types

import pytest
import tensorflow.compat.v1 as tf
from google.protobuf import text_format

from event_files import events, summaries


def _written(folder):
    tags = {}
    for step, value in summaries(folder):
        tags.setdefault(value.tag, []).append((step, value.simple_value))
    traced = [event for event in events(folder) if event.HasField("tagged_run_metadata")]
    graph = text_format.Parse((folder / "graph.pbtxt").read_text(), tf.GraphDef())
    checkpoint = tf.train.latest_checkpoint(str(folder))
    reader = tf.train.load_checkpoint(checkpoint)
    return types.SimpleNamespace(
        tags=tags,
        metadata=[event.tagged_run_metadata.tag for event in traced],
        nodes={node.name: node for node in graph.node},
        checkpoint=checkpoint,
        variables={name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()},
        timelines=sorted(path.name for path in folder.glob("timeline-*.json")),
    )


@pytest.fixture(scope="session")
def written():
    return _written
