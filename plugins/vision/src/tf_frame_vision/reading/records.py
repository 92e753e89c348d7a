"""Examples of TFRecord files in any order, each record read at its byte offset.

    indices = [index_records(path) for path in paths]
    examples = record_examples(indices, order, IMAGE_AND_LABEL)  # the last is a `RecordFormat`

`tf.data.TFRecordDataset` reads a file from its beginning and stops at the first damaged record.
With offsets a data set can be shuffled as a whole, resumed anywhere, and damaged records skipped.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf.message import DecodeError

from tf_frame_vision.reading import arrays
from tf_frame_vision.reading.decoding import image_decoders, require
from tf_frame_vision.reading.examples import (
    COLOUR_IMAGE,
    example,
    first_readable,
    read_by_data_sets,
    traced_once,
    unreadable,
)
from tf_frame_vision.reading.record_index import RecordIndex

# The file is opened for each record, so a buffer would read bytes that are not used.
_BUFFER_BYTES = 0
_KINDS = {tf.string: "bytes_list", tf.int64: "int64_list", tf.float32: "float_list"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordFormat:
    """Content of the records of a data set.

    Attributes:
      keys: their features, for `tf.io.parse_single_example`.
      specs: the fields of an example in addition to its `image`.
      parse: from the parsed features to the encoded image, the fields, and why the
        record cannot be used: a scalar string, empty if it can.
      decode: from the fields of `parse` to those of the example; it may fail.
      not_decoded: why a record cannot be used if `decode` fails.
    """

    keys: Mapping[str, Any]
    specs: Mapping[str, Any]
    parse: Callable[[Mapping[str, Any]], tuple[Any, Mapping[str, Any], Any]]
    decode: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    not_decoded: str = ""


def record_examples(
    indices: Sequence[RecordIndex], order: Any, form: RecordFormat, options: Any = None
) -> Any:
    """Returns a data set of `(number, example)`; see `tf_frame_vision.reading.examples`.

    Args:
      indices: the records of each file; an example's index counts through all of them.
      order: data set of `(number, index)`.
      form: content of the records.
      options: see `decoding.image_decoders`.
    """
    paths = arrays.strings([str(index.copy or index.path) for index in indices])
    names = paths
    if any(index.copy for index in indices):
        names = arrays.strings([str(index.path) for index in indices])
    counts = [len(index.offsets) for index in indices]
    ends = arrays.Rows(list(itertools.accumulate(counts)))
    # One vector of sizes packs better than offsets that begin anew in each file.
    offsets = arrays.Rows(list(itertools.chain.from_iterable(i.offsets for i in indices)))

    def read(index: Any) -> Any:
        file = tf.searchsorted(ends.all(), [index], side="right")[0]
        begin = tf.where(file > 0, ends[tf.maximum(file - 1, 0)], tf.zeros_like(index))
        path, offset = paths[file], offsets[index]
        name = _name(names[file], index - begin, offset)
        return _example(_record(path, offset), name, form, image_decoders(options))

    return read_by_data_sets(order, read)


def _example(record: Any, name: Any, form: RecordFormat, decoders: Sequence[Any]) -> Any:
    specs = {"image": COLOUR_IMAGE, **form.specs}

    @traced_once
    def parsed(data: Any) -> tuple[Any, Mapping[str, Any], Any]:
        return form.parse(tf.io.parse_single_example(data, form.keys))

    @traced_once
    def make_example(image: Any, fields: Any, reason: Any) -> dict[str, Any]:
        return example(specs, {"image": image, **(form.decode or dict)(fields)}, name, reason)

    def whole(decode_image: Callable[[Any], tuple[Any, Any]], data: Any) -> Any:
        encoded, fields, problem = parsed(data)
        with tf.control_dependencies([require(tf.equal(problem, ""), "the record has a problem")]):
            encoded, fields = tf.nest.map_structure(tf.identity, (encoded, fields))
        image, reason = decode_image(encoded)
        return make_example(image, fields, reason)

    def unusable(data: Any) -> dict[str, Any]:
        encoded, _, problem = parsed(data)
        reason = decoders[-1](encoded)[1]
        reason = tf.where(tf.equal(reason, ""), form.not_decoded, reason)
        return unreadable(specs, name, tf.where(tf.equal(problem, ""), reason, problem))

    def not_parsed(data: Any) -> dict[str, Any]:
        explain = functools.partial(_explain_not_parsed, keys=form.keys)
        # It has no state, so that the position in the data can be saved.
        problem = tf.numpy_function(explain, [data], tf.string, stateful=False)
        return unreadable(specs, name, tf.ensure_shape(problem, []))

    functions: list[Callable[[Any], Any]] = [
        functools.partial(whole, decode_image) for decode_image in decoders
    ]
    functions += [unusable, not_parsed]
    last = unreadable(specs, name, "the checksum of its data is wrong")
    return first_readable(record, functions, last)


def _explain_not_parsed(data: bytes, keys: Mapping[str, Any]) -> str:
    """Returns why TensorFlow does not parse a record: it is no example, or has other types."""
    try:
        features = tf.train.Example.FromString(data).features.feature
    except DecodeError:
        return "it is no tf.train.Example"
    for key, expected in keys.items():
        kind = features[key].WhichOneof("kind") if key in features else None
        if kind not in (None, _KINDS[expected.dtype]):
            return f"its {key} is of type {kind}, but must be of type {_KINDS[expected.dtype]}"
    return "its features have other numbers of values than they must have"


def _record(path: Any, offset: Any) -> Any:
    """Returns a data set of the one record at an offset."""
    # tf.data.TFRecordDataset has no offsets.
    variant = tf.raw_ops.TFRecordDatasetV2(
        filenames=path[tf.newaxis],
        compression_type="",
        buffer_size=tf.constant(_BUFFER_BYTES, tf.int64),
        byte_offsets=offset[tf.newaxis],
    )
    spec = tf.TensorSpec([], tf.string)
    return tf.data.experimental.from_variant(variant, spec).take(1)


def _name(path: Any, number: Any, offset: Any) -> Any:
    text = tf.strings.as_string
    return tf.strings.join([path, ": record ", text(number), " (byte offset ", text(offset), ")"])
