"""Fixtures that import the programs of tools/ by path, and read their records."""

import gzip
import importlib.util
import pathlib

import pytest
import tensorflow.compat.v1 as tf

ROOT = pathlib.Path(__file__).parents[2]
FASHION = ROOT / "plugins/classification/src/tf_frame_classification/data/fashion_mnist"
PROGRAM = ROOT / "tools" / "convert_to_tfrecord.py"


@pytest.fixture
def program(monkeypatch):
    """The module tools/convert_to_tfrecord.py."""
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    # Its main() sets this; another test's process shall not inherit it.
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    spec = importlib.util.spec_from_file_location("convert_to_tfrecord", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def convert(program, tmp_path):
    """Runs the program; its words, without OUTPUT, which is `tmp_path/records`."""

    def convert(kind, source, *options):
        return program.main([kind, str(source), str(tmp_path / "records"), *options])

    return convert


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


def value_of(feature):
    (value,) = (feature.bytes_list.value or feature.int64_list.value)[:]
    return value


def examples_in(path):
    for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
        features = tf.train.Example.FromString(record).features.feature
        yield {key: value_of(feature) for key, feature in features.items()}


@pytest.fixture
def examples(tmp_path):
    """The examples of all shards of a split, in order: dicts of feature keys and values."""

    def examples(split="train"):
        shards = sorted((tmp_path / "records").glob(f"{split}-*-of-*"))
        return [example for path in shards for example in examples_in(path)]

    return examples
