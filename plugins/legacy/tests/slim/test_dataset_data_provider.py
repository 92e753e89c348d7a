"""Data sets, and what provides their items."""

import collections

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.data_provider import DataProvider
from tf_frame_legacy.slim.dataset import Dataset
from tf_frame_legacy.slim.dataset_data_provider import DatasetDataProvider
from tf_frame_legacy.slim.tfexample_decoder import Tensor, TFExampleDecoder
from tfrecords import make_example, write_records

from .conftest import read_all

NUM_EXAMPLES = 6


@pytest.fixture
def dataset(tmp_path):
    """Numbers 0 to 5 in two files."""
    paths = [str(tmp_path / name) for name in ("first", "second")]
    for start, path in zip((0, 3), paths, strict=True):
        write_records(path, [make_example({"number": start + n}) for n in range(3)])
    decoder = TFExampleDecoder(
        {"number": tf.io.FixedLenFeature([], tf.int64)}, {"number": Tensor("number")}
    )
    with tf.Graph().as_default():
        yield Dataset(paths, tf.TFRecordReader, decoder, NUM_EXAMPLES, None, num_classes=6)


def test_one_reader_without_shuffling_gives_the_examples_in_order_with_their_keys(dataset):
    provider = DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
    number, key = provider.get(["number", "record_key"])
    seen = read_all([number, key])
    assert [int(number) for number, _ in seen] == [0, 1, 2, 3, 4, 5]
    files = [key.decode().rpartition(":")[0] for _, key in seen]
    assert files == [dataset.data_sources[0]] * 3 + [dataset.data_sources[1]] * 3
    assert sorted(provider.list_items()) == ["number", "record_key"]
    assert provider.num_samples() == NUM_EXAMPLES


def test_several_readers_and_a_shuffled_queue_give_each_example_once_an_epoch(dataset):
    provider = DatasetDataProvider(
        dataset, num_readers=2, num_epochs=3, common_queue_capacity=8, common_queue_min=4, seed=1
    )
    counts = collections.Counter(int(n) for [n] in read_all(provider.get(["number"])))
    assert counts == dict.fromkeys(range(NUM_EXAMPLES), 3)


def test_names_of_ops_and_summaries_are_those_of_old(dataset):
    graph = tf.get_default_graph()
    DatasetDataProvider(dataset, num_readers=2, common_queue_capacity=20, common_queue_min=7)
    DatasetDataProvider(dataset, shuffle=False, scope="eval")
    queue = graph.get_operation_by_name("parallel_read/common_queue")
    assert queue.type == "RandomShuffleQueueV2"
    assert queue.get_attr("capacity") == 20
    assert queue.get_attr("min_after_dequeue") == 7
    assert graph.get_operation_by_name("eval/common_queue").type == "FIFOQueueV2"
    assert [summary.op.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)] == [
        "parallel_read/filenames/fraction_of_32_full",
        "parallel_read/fraction_of_20_full",
        "eval/filenames/fraction_of_32_full",
        "eval/fraction_of_256_full",
    ]
    enqueues = {r.name: len(r.enqueue_ops) for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)}
    assert enqueues["parallel_read/common_queue"] == 2
    assert enqueues["eval/common_queue"] == 1


def test_the_key_of_records_may_not_be_an_item_but_can_have_another_name(dataset):
    with pytest.raises(ValueError, match="`record_key` cannot also be used for .* item: number"):
        DatasetDataProvider(dataset, record_key="number")
    assert "where" in DatasetDataProvider(dataset, record_key="where").list_items()


def test_reader_arguments_reach_each_reader(tmp_path):
    class Lines:
        def list_items(self):
            return ["line"]

        def decode(self, data, items):
            return [data for _ in items]

    path = tmp_path / "lines.csv"
    path.write_text("header\none\ntwo\n")
    with tf.Graph().as_default():
        lines = Dataset(str(path), tf.TextLineReader, Lines(), 2, {})
        provider = DatasetDataProvider(
            lines, reader_kwargs={"skip_header_lines": 1}, shuffle=False, num_epochs=1
        )
        assert read_all(provider.get(["line"])) == [[b"one"], [b"two"]]


def test_items_are_a_list_of_known_names():
    provider = DataProvider({"image": 1, "label": 2}, num_samples=3)
    assert provider.get(("label", "image")) == [2, 1]
    with pytest.raises(ValueError, match=r"Item \[box\] is invalid.*\['image', 'label'\]"):
        provider.get(["image", "box"])
    with pytest.raises(ValueError, match="items must be a list or tuple, not 'image'"):
        provider.get("image")


def test_a_data_set_holds_what_it_was_given_and_names_what_it_lacks(dataset):
    assert (dataset.num_classes, dataset.num_samples) == (6, NUM_EXAMPLES)
    with pytest.raises(AttributeError, match="no attribute 'labels_to_names'.*num_classes"):
        _ = dataset.labels_to_names
    assert getattr(dataset, "labels_to_names", None) is None
