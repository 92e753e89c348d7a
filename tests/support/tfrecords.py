"""Files of `tf.train.Example` records."""

from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf


def make_feature(*values):
    """Returns a feature of bytes, floats or ints; the first value decides."""
    feature = tf.train.Feature()
    if isinstance(values[0], bytes):
        feature.bytes_list.value.extend(values)
    elif isinstance(values[0], (float, np.floating)):
        feature.float_list.value.extend(values)
    else:
        feature.int64_list.value.extend(values)
    return feature


def make_example(values):
    """Returns a serialised example with a feature for each key: one value, or a list of values."""
    features = {
        key: make_feature(*value) if isinstance(value, list) else make_feature(value)
        for key, value in values.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def write_records(path, records):
    Path(path).parent.mkdir(exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
