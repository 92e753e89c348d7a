"""The readers of tf.contrib.learn."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.learn import readers

FEATURES = {"x": tf.FixedLenFeature([], tf.int64), "words": tf.VarLenFeature(tf.string)}


@pytest.fixture
def pattern(tmp_path, graph):
    """Five records in two files, with 0, 1, 2, 3 and 4 words."""
    for file, numbers in (("a", [0, 1, 2]), ("b", [3, 4])):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"{file}.tfrecord")) as writer:
            for number in numbers:
                words = [b"w"] * number
                feature = {
                    "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                    "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=words)),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())
    return str(tmp_path / "*.tfrecord")


def batches(tensors):
    """Returns the values of all batches."""
    found = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run(tensors))
    return found


def test_features_of_two_epochs_in_order(pattern):
    features = readers.read_batch_features(
        pattern, 2, FEATURES, tf.TFRecordReader, False, 2, num_enqueue_threads=1
    )
    assert isinstance(features["words"], tf.SparseTensor)
    assert features["x"].shape.as_list() == [None]
    found = batches({"x": features["x"], "shape": features["words"].dense_shape})
    numbers = [number for batch in found for number in batch["x"].tolist()]
    assert numbers == [0, 1, 2, 3, 4] * 2
    assert found[0]["shape"].tolist() == [2, 1]
    names = [variable.op.name for variable in tf.local_variables()]
    assert names == ["read_batch_features/file_name_queue/limit_epochs/epochs"]


def test_shuffled_records_with_keys(pattern):
    keys, records = readers.read_keyed_batch_examples(
        [pattern], 3, tf.TFRecordReader, num_epochs=1, queue_capacity=20, seed=1
    )
    parsed = readers.read_batch_examples(
        pattern,
        2,
        tf.TFRecordReader,
        num_epochs=1,
        parse_fn=lambda record: tf.parse_single_example(record, {"x": FEATURES["x"]}),
    )
    found = batches([keys, records])
    assert sorted(len(batch[0]) for batch in found) == [2, 3]
    assert len({key for batch in found for key in batch[0]}) == 5
    assert set(parsed) == {"x"}


def test_records_and_errors(pattern):
    features = readers.read_batch_record_features(pattern, 5, {"x": FEATURES["x"]}, num_epochs=1)
    assert sorted(batches(features["x"])[0]) == [0, 1, 2, 3, 4]
    for arguments, message in [
        (("no such file", 1), "No files match no such file"),
        ((pattern, 0), "Invalid batch_size 0"),
        ((pattern, 10000), "with queue_capacity 10000"),
        ((pattern, 1, True, 0), "Invalid num_epochs 0"),
    ]:
        file, size, *rest = arguments
        with pytest.raises(ValueError, match=message):
            readers.read_batch_examples(file, size, tf.TFRecordReader, *rest)
