"""Files of `tf.train.Example` records."""

import tensorflow.compat.v1 as tf


def make_example(values):
    """Returns a serialised example with one value, bytes or an int, for each key."""
    example = tf.train.Example()
    for key, value in values.items():
        feature = example.features.feature[key]
        kind = feature.bytes_list if isinstance(value, bytes) else feature.int64_list
        kind.value.append(value)
    return example.SerializeToString()


def write_records(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
