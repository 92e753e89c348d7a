import tensorflow.compat.v1 as tf

from tf_frame.testing.events import read_events, read_scalars


def summary(tag, value):
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value)])


def test_events_of_open_writers_are_read_in_order(tmp_path):
    with tf.Graph().as_default():
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
        writer.add_summary(summary("loss", 0.5), 1)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="text")]), 2)
        writer.add_summary(summary("rate", 2.0), 3)
    steps = [event.step for event in read_events(tmp_path) if event.HasField("summary")]
    assert steps == [1, 2, 3]
    assert read_scalars(str(tmp_path)) == [(1, "loss", 0.5), (3, "rate", 2.0)]


def test_a_folder_without_events_has_none(tmp_path):
    (tmp_path / "train.log").touch()
    assert read_events(tmp_path) == []
