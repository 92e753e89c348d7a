"""Reads the folders of trainings: variables, summaries and traces."""

import types

import pytest
import tensorflow.compat.v1 as tf
from google.protobuf import text_format


def _written(folder):
    tf.summary.FileWriterCache.clear()
    tags, metadata = {}, []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        for event in tf.train.summary_iterator(str(path)):
            for value in event.summary.value:
                tags.setdefault(value.tag, []).append((event.step, value.simple_value))
            if event.HasField("tagged_run_metadata"):
                metadata.append(event.tagged_run_metadata.tag)
    graph = text_format.Parse((folder / "graph.pbtxt").read_text(), tf.GraphDef())
    checkpoint = tf.train.latest_checkpoint(str(folder))
    reader = tf.train.load_checkpoint(checkpoint)
    return types.SimpleNamespace(
        tags=tags,
        metadata=metadata,
        nodes={node.name: node for node in graph.node},
        checkpoint=checkpoint,
        variables={name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()},
        timelines=sorted(path.name for path in folder.glob("timeline-*.json")),
    )


@pytest.fixture(scope="session")
def written():
    return _written
