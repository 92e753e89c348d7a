"""Format of the object detection API's records, and checks of them by TensorFlow.

Keys: tensorflow/models, research/object_detection/data_decoders/tf_example_decoder.py and
g3doc/using_your_own_dataset.md. Boxes are shares of height and width. `image/object/corner/y` and
`.../x`, four of each for an object, are tf-frame's own, for rotated boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.inputs.checks import LEAST_AREA
from tf_frame_detection.inputs.record_marks import (
    CORNERS,
    CROWD,
    DIFFICULT,
    EDGES,
    GROUP,
    HEIGHT,
    LABEL,
    TEXT,
    WIDTH,
)
from tf_frame_vision.reading.orientation import UPRIGHT
from tf_frame_vision.reading.record_facts import IMAGE
from tf_frame_vision.reading.records import RecordFormat
from tf_frame_vision.reading.turning import find_turn, turned_shares

_FLAGS = (DIFFICULT, CROWD, GROUP)


def record_format(
    ids: Sequence[int], names: Sequence[str], *, ignore_difficult: bool, rotated: bool
) -> RecordFormat:
    """Returns the format; boxes and corners of examples are shares, see `in_pixels`.

    Args:
      ids: label of each class in the records.
      names: text of each class, which counts in records without labels.
      ignore_difficult: whether difficult objects are ignored.
      rotated: whether there are corners.
    """

    def parse(parsed: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any], Any]:
        values = {key: feature.values for key, feature in parsed.items()}
        count = tf.size(values[EDGES[0]])
        classes = _classes(values, ids, names)
        flags = {key: _flags(values[key], count) for key in _FLAGS}
        checks = [
            (tf.equal(tf.size(values[IMAGE]), 1), f"it has not one {IMAGE}"),
            *((tf.equal(tf.size(values[k]), count), _other(k, EDGES[0])) for k in EDGES),
            (tf.equal(tf.size(classes), count), _other(f"{LABEL} or {TEXT}", EDGES[0])),
            *((tf.equal(tf.size(flags[k]), count), _other(k, EDGES[0])) for k in _FLAGS),
            (tf.reduce_all(classes >= 0), "it has a class that the label map does not have"),
        ]
        if rotated:
            fours = [tf.equal(tf.size(values[k]), 4 * count) for k in CORNERS]
            checks += [(fours[k], f"it has not four {CORNERS[k]} for each box") for k in (0, 1)]
        problem = first_problem(checks)
        crowd = flags[CROWD] | flags[GROUP]
        fields = {
            "edges": tf.concat([values[key] for key in EDGES], 0),
            "classes": classes,
            "ignored": crowd | flags[DIFFICULT] if ignore_difficult else crowd,
            "crowd": crowd,
            "size": _size(values),
            "encoded": tf.strings.reduce_join(values[IMAGE][:1]),
        }
        if rotated:
            fields["corners"] = tf.concat([values[key] for key in CORNERS], 0)
        return tf.strings.reduce_join(values[IMAGE][:1]), fields, problem

    def decode(fields: Mapping[str, Any]) -> dict[str, Any]:
        size = fields["size"]
        turn = find_turn(fields["encoded"], size)
        boxes = tf.transpose(tf.reshape(fields["edges"], [4, -1]))
        opposite = turned_shares(tf.reshape(boxes, [-1, 2, 2]), turn)
        turned = tf.concat([tf.reduce_min(opposite, 1), tf.reduce_max(opposite, 1)], 1)
        changed = {
            "boxes": tf.where(turn > UPRIGHT, turned, boxes),
            "size": tf.where(turn > UPRIGHT, size[::-1], size),
        }
        if rotated:
            points = tf.transpose(tf.reshape(fields["corners"], [2, -1]))
            changed["corners"] = turned_shares(tf.reshape(points, [-1, 4, 2]), turn)
        return {**fields, **changed}

    specs = {
        "boxes": tf.TensorSpec([None, 4], tf.float32),
        "classes": tf.TensorSpec([None], tf.int32),
        "ignored": tf.TensorSpec([None], tf.bool),
        "crowd": tf.TensorSpec([None], tf.bool),
        "size": tf.TensorSpec([2], tf.int32),
    }
    if rotated:
        specs["corners"] = tf.TensorSpec([None, 4, 2], tf.float32)
    return RecordFormat(
        keys=_keys(rotated), specs=specs, parse=parse, decode=decode, not_decoded="it is damaged"
    )


def in_pixels(example: Mapping[str, Any]) -> dict[str, Any]:
    """Returns an example with boxes in pixels, and with a `problem` where one cannot be used."""
    size = tf.shape(example["image"])[:2]
    sides = tf.cast(size, tf.float32)
    boxes = example["boxes"] * tf.tile(sides, [2])
    heights, widths = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    shares = example["boxes"]
    other_size = tf.reduce_all(example["size"] > 0) & tf.reduce_any(
        tf.not_equal(example["size"], size)
    )
    changed = {"boxes": boxes}
    if "corners" in example:
        changed["corners"] = example["corners"] * sides
    problem = first_problem(
        [
            (~other_size, "its image has another size than image/height and image/width say"),
            (tf.reduce_all(tf.math.is_finite(shares)), "a box has an edge that is no number"),
            (~tf.reduce_any((heights < 0) | (widths < 0)), "a box is inverted"),
            (tf.reduce_all((heights > 0) & (widths > 0)), "a box is empty"),
            (
                tf.reduce_all((centres >= 0) & (centres <= sides)),
                "a box lies outside of the image; edges are shares of its height and width",
            ),
            *_corner_checks(changed),
        ]
    )
    named = tf.strings.join([example["name"], problem], separator=": ")
    first = tf.where(tf.equal(problem, ""), problem, named)
    first = tf.where(tf.equal(example["problem"], ""), first, example["problem"])
    return {**example, **changed, "problem": first}


def _corner_checks(changed: Mapping[str, Any]) -> list[tuple[Any, str]]:
    if "corners" not in changed:
        return []
    corners = changed["corners"]
    one, other = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    areas = tf.abs(one[:, 0] * other[:, 1] - other[:, 0] * one[:, 1]) / 2
    return [
        (tf.reduce_all(tf.math.is_finite(corners)), "a box has a corner that is no number"),
        (tf.reduce_all(areas >= LEAST_AREA), "four corners of a box enclose no area"),
    ]


def first_problem(checks: Sequence[tuple[Any, str]]) -> Any:
    """Returns the text of the first check that does not hold, a scalar string; empty: all do."""
    text: Any = tf.constant("")
    for is_right, problem in reversed(checks):
        text = tf.where(is_right, text, tf.constant(problem))
    return text


def _keys(rotated: bool) -> dict[str, Any]:
    floats = [*EDGES, *(CORNERS if rotated else ())]
    kinds = {
        tf.string: [IMAGE, TEXT],
        tf.int64: [HEIGHT, WIDTH, LABEL, *_FLAGS],
        tf.float32: floats,
    }
    return {key: tf.io.VarLenFeature(kind) for kind, keys in kinds.items() for key in keys}


def _classes(values: Mapping[str, Any], ids: Sequence[int], names: Sequence[str]) -> Any:
    """Numbers of the classes, -1 for one that is unknown; of the texts where labels are missing."""

    def found(each: Any, known: Any) -> Any:
        same = tf.equal(each[:, tf.newaxis], known)
        number = tf.argmax(tf.cast(same, tf.int32), axis=1, output_type=tf.int32)
        return tf.where(tf.reduce_any(same, axis=1), number, -tf.ones_like(number))

    by_label = found(values[LABEL], tf.constant(list(ids), tf.int64))
    by_text = found(values[TEXT], tf.constant(list(names)))
    return tf.cond(tf.size(by_label) > 0, lambda: by_label, lambda: by_text)


def _flags(values: Any, count: Any) -> Any:
    """Flags of the objects; a key that is missing means no."""
    missing = tf.equal(tf.size(values), 0)
    return tf.cond(missing, lambda: tf.fill([count], False), lambda: values > 0)


def _size(values: Mapping[str, Any]) -> Any:
    """Returns height and width of a record, 0 if the record has none."""
    sides = [tf.concat([values[key], [0]], 0)[0] for key in (HEIGHT, WIDTH)]
    return tf.cast(tf.stack(sides), tf.int32)


def _other(key: str, first: str) -> str:
    return f"it has another number of {key} than of {first}"
