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


@pytest.fixture
def refuse(convert, capsys):
    """Runs the program, which must end with a code other than 0; returns its error messages."""

    def refuse(kind, source, *options, code=2):
        capsys.readouterr()
        assert convert(kind, source, *options) == code
        error = capsys.readouterr().err
        assert "Traceback" not in error
        return error

    return refuse


@pytest.fixture
def fashion(tmp_path):
    """Folder with the first 60 test images of Fashion-MNIST in idx files."""
    root = tmp_path / "fashion_mnist"
    root.mkdir()
    for name, header_bytes, example_bytes in (
        ("t10k-images-idx3-ubyte", 16, 28 * 28),
        ("t10k-labels-idx1-ubyte", 8, 1),
    ):
        data = gzip.decompress((FASHION / f"{name}.gz").read_bytes())
        # The first size is the number of examples.
        data = data[:4] + (60).to_bytes(4, "big") + data[8 : header_bytes + 60 * example_bytes]
        (root / name).write_bytes(data)
    return root


def read_value(feature):
    (value,) = (feature.bytes_list.value or feature.int64_list.value)[:]
    return value


@pytest.fixture
def examples(tmp_path):
    """The examples of all shards of a split, in order: dicts of feature keys and values."""

    def examples(split="train"):
        shards = sorted(map(str, (tmp_path / "records").glob(f"{split}-*-of-*")))
        records = tf.data.TFRecordDataset(shards).as_numpy_iterator()
        features = [tf.train.Example.FromString(record).features.feature for record in records]
        return [{key: read_value(f) for key, f in example.items()} for example in features]

    return examples
