"""Fixtures that run `tf-frame convert`, and read the records."""

import gzip
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

import tf_frame_classification
from tf_frame.cli.main import main

FASHION = Path(tf_frame_classification.__file__).parent / "data" / "fashion_mnist"


@pytest.fixture
def program(monkeypatch):
    """Runs `tf-frame convert` in this process; returns its exit code."""
    # The command sets this; another test's process shall not inherit it.
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    return lambda *words: main(["convert", *map(str, words)])


@pytest.fixture
def convert(program, tmp_path):
    """Runs the program; its words, without OUTPUT, which is `tmp_path/records`."""
    return lambda kind, source, *options: program(kind, source, tmp_path / "records", *options)


def first_of(name, number, header_bytes):
    """The beginning of an idx file; `number` takes the place of its first size."""
    with gzip.open(FASHION / f"{name}.gz") as file:
        data = file.read()
    example_bytes = (len(data) - header_bytes) // int.from_bytes(data[4:8], "big")
    rest = data[8 : header_bytes + number * example_bytes]
    return data[:4] + number.to_bytes(4, "big") + rest


@pytest.fixture
def fashion(tmp_path):
    """Folder with the first 60 test images of Fashion-MNIST in idx files."""
    root = tmp_path / "fashion_mnist"
    root.mkdir()
    for name, header_bytes in (("t10k-images-idx3-ubyte", 16), ("t10k-labels-idx1-ubyte", 8)):
        (root / name).write_bytes(first_of(name, 60, header_bytes))
    return root


def read_value(feature):
    (value,) = (feature.bytes_list.value or feature.int64_list.value)[:]
    return value


def examples_in(path):
    for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
        features = tf.train.Example.FromString(record).features.feature
        yield {key: read_value(feature) for key, feature in features.items()}


@pytest.fixture
def examples(tmp_path):
    """The examples of all shards of a split, in order: dicts of feature keys and values."""

    def examples(split="train"):
        shards = sorted((tmp_path / "records").glob(f"{split}-*-of-*"))
        return [example for path in shards for example in examples_in(path)]

    return examples
