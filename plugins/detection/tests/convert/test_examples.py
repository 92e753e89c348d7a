"""Records of photographs are read as they were written."""

import contextlib
from types import SimpleNamespace

import numpy as np
import tensorflow.compat.v1 as tf
from hypothesis import strategies
from PIL import Image

from properties import COUNTS, check_many
from tf_frame_detection.convert.examples import DetectionRecords
from tf_frame_detection.inputs.annotations import Marked
from tf_frame_detection.inputs.detection_records import record_format

HEIGHT, WIDTH = 24, 32
IDS, NAMES = (0, 7, 2**40), ("a'b\"\\", "\u00fc\u2028", "x\n{}")
EDGE = strategies.floats(-4, 40, width=32)
MARKS = strategies.builds(
    Marked,
    box=strategies.tuples(EDGE, EDGE, EDGE, EDGE),
    number=strategies.integers(0, 2),
    record=strategies.just(""),
    ignored=strategies.booleans(),
    crowd=strategies.booleans(),
    corners=strategies.one_of(strategies.just(()), strategies.tuples(*[EDGE] * 8)),
)


@COUNTS
def test_objects_are_read_as_they_were_written(tmp_path, count):
    records = DetectionRecords(IDS, NAMES, rotated=True)
    form = record_format(IDS, NAMES, ignore_difficult=True, rotated=True)
    path = tmp_path / "a.png"
    Image.new("RGB", (WIDTH, HEIGHT)).save(path)
    with tf.Graph().as_default() as graph:
        data = tf.placeholder(tf.string, [])
        _, fields, problem = form.parse(tf.io.parse_single_example(data, form.keys))
        fetches = {**form.decode(fields), "problem": problem}

    def check(marks, has_labels):
        picture = SimpleNamespace(
            photograph=SimpleNamespace(path=path, marks=marks), filename="a.png"
        )
        record = records.record(picture)
        if not has_labels:
            record = without_labels(record)
        read_back = session.run(fetches, {data: record})
        assert read_back["problem"] == b""
        assert read_back["classes"].tolist() == [mark.number for mark in marks]
        assert read_back["crowd"].tolist() == [mark.crowd for mark in marks]
        ignored = [mark.ignored or mark.crowd for mark in marks]
        assert read_back["ignored"].tolist() == ignored
        boxes = np.reshape([mark.box for mark in marks], [-1, 4])
        written = read_back["boxes"] * [HEIGHT, WIDTH, HEIGHT, WIDTH]
        np.testing.assert_allclose(written, boxes, atol=1e-4)
        corners = np.reshape([mark.four_corners for mark in marks], [-1, 4, 2])
        np.testing.assert_allclose(read_back["corners"] * [HEIGHT, WIDTH], corners, atol=1e-4)

    with contextlib.closing(tf.Session(graph=graph)) as session:  # Records are made eagerly.
        marks = strategies.lists(MARKS, max_size=4)
        check_many(check, count, marks=marks, has_labels=strategies.booleans())


def without_labels(record):
    """Returns the record with texts of classes only, as some programs write them."""
    example = tf.train.Example.FromString(record)
    del example.features.feature["image/object/class/label"]
    return example.SerializeToString()
