"""Records of many files through one queue."""

import collections

import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy.slim import parallel_reader
from tf_frame_legacy.slim.queues import QueueRunners
from tfrecords import write_records

from .conftest import read_all


@pytest.fixture
def files(tmp_path):
    """Three files with two records each: `a0`, `a1`, `b0` ..."""
    for name in "abc":
        write_records(tmp_path / f"part-{name}", [f"{name}0".encode(), f"{name}1".encode()])
    with tf.Graph().as_default():
        yield [str(tmp_path / f"part-{name}") for name in "abc"]


def test_every_record_is_read_once_an_epoch(files):
    _, value = parallel_reader.parallel_read(
        files, tf.TFRecordReader, num_epochs=2, num_readers=3, capacity=8, min_after_dequeue=2
    )
    expected = {f"{name}{number}".encode(): 2 for name in "abc" for number in (0, 1)}
    assert collections.Counter(read_all(value)) == expected


def test_a_single_pass_keeps_the_order_of_the_files(files):
    _, value = parallel_reader.single_pass_read(files, tf.TFRecordReader, scope="once")
    assert value.op.name.startswith("once/")
    assert read_all(value) == [b"a0", b"a1", b"b0", b"b1", b"c0", b"c1"]


def test_several_records_can_be_taken_at_once_and_are_counted(files):
    queue = tf.FIFOQueue(20, [tf.string, tf.string], shapes=[[], []])
    reader = parallel_reader.ParallelReader(tf.TFRecordReader, queue, num_readers=2)
    _, values = reader.read_up_to(tf.train.string_input_producer(files, num_epochs=1), 4)
    counts = [reader.num_records_produced("records"), reader.num_work_units_completed("files")]
    assert [count.op.name for count in counts] == ["records", "files"]
    assert (reader.num_readers, reader.common_queue) == (2, queue)
    with initialized_session() as session, QueueRunners(session):
        batches = []
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                batches.append(session.run(values).tolist())
        assert session.run(counts) == [6, 3]
    assert max(len(batch) for batch in batches) <= 4
    names = sorted(value.decode() for batch in batches for value in batch)
    assert names == ["a0", "a1", "b0", "b1", "c0", "c1"]


def test_a_reader_is_a_reader_of_tensorflow_so_that_others_take_it(files):
    queue = tf.FIFOQueue(20, [tf.string, tf.string])
    assert isinstance(parallel_reader.ParallelReader(tf.TFRecordReader, queue), tf.ReaderBase)


@pytest.mark.parametrize("dtypes", [[tf.string], [tf.string, tf.int64]])
def test_the_queue_holds_two_strings(dtypes):
    with tf.Graph().as_default(), pytest.raises(TypeError, match=r"must be \[tf.string, tf.str"):
        parallel_reader.ParallelReader(tf.TFRecordReader, tf.FIFOQueue(2, dtypes))


def test_sources_are_paths_patterns_and_lists_of_them(files):
    folder = files[0].rpartition("/")[0]
    assert parallel_reader.get_data_files(f"{folder}/part-*") == files
    assert parallel_reader.get_data_files((f"{folder}/part-[ab]", "plain")) == [*files[:2], "plain"]
    assert parallel_reader.get_data_files("not/there") == ["not/there"]


@pytest.mark.parametrize("source", ["{}/none-*", "{}/none-?", []])
def test_a_pattern_without_files_is_named(tmp_path, source):
    sources = source if source == [] else source.format(tmp_path)
    with pytest.raises(ValueError, match="No data files found in"):
        parallel_reader.get_data_files(sources)
