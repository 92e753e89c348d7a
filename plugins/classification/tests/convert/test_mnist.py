"""idx files become TFRecords."""

import gzip

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from idx_files import encode_idx
from sessions import initialized_session
from tf_frame_legacy.slim.dataset import Dataset
from tf_frame_legacy.slim.dataset_data_provider import DatasetDataProvider
from tf_frame_legacy.slim.queues import QueueRunners
from tf_frame_legacy.slim.tfexample_decoder import Image, Tensor, TFExampleDecoder

PIXELS = np.arange(5 * 3 * 2, dtype=np.uint8).reshape(5, 3, 2)
LABELS = np.array([1, 9, 0, 4, 4], np.uint8)


@pytest.fixture
def files(tmp_path):
    """Writes two idx files into `tmp_path/idx`."""

    def files(images=None, labels=None, *, prefix="train", suffix=""):
        root = tmp_path / "idx"
        root.mkdir(exist_ok=True)
        pack = gzip.compress if suffix else bytes
        images = encode_idx(PIXELS) if images is None else images
        labels = encode_idx(LABELS) if labels is None else labels
        (root / f"{prefix}-images-idx3-ubyte{suffix}").write_bytes(pack(images))
        (root / f"{prefix}-labels-idx1-ubyte{suffix}").write_bytes(pack(labels))
        return root

    return files


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_pixels_become_png_in_the_order_of_the_file(convert, examples, files, tmp_path, suffix):
    assert convert("mnist", files(suffix=suffix), "--shards", "2") == 0
    pixels = [tf.io.decode_png(example.pop("image/encoded")).numpy() for example in examples()]
    np.testing.assert_array_equal(np.squeeze(pixels, 3), PIXELS)
    assert [example["image/class/label"] for example in examples()] == LABELS.tolist()
    assert {**examples()[0], "image/encoded": b""} == {
        "image/encoded": b"",
        "image/format": b"png",
        "image/height": 3,
        "image/width": 2,
        "image/class/label": 1,
        "image/class/text": b"one",
        "image/filename": b"train-images-idx3-ubyte/00000.png",
    }
    labels = (tmp_path / "records" / "labels.txt").read_text().splitlines()
    assert (labels[0], labels[9], len(labels)) == ("0:zero", "9:nine", 10)


def test_the_test_split_is_the_files_called_t10k(convert, examples, files):
    root = files(prefix="t10k")
    assert convert("fashion_mnist", root, "--split", "validation", "--shards", "1") == 0
    names = [example["image/class/text"] for example in examples("validation")]
    assert names[:2] == [b"Trouser", b"Ankle boot"]
    assert convert("fashion_mnist", root, "--split", "train", "--shards", "1") == 2


def test_fashion_mnist_comes_back_through_slims_data_provider(convert, fashion, tmp_path):
    assert convert("fashion_mnist", fashion, "--split", "test", "--shards", "2") == 0
    images = np.fromfile(fashion / "t10k-images-idx3-ubyte", np.uint8, offset=16)
    images = images.reshape(60, 28, 28, 1)
    labels = np.fromfile(fashion / "t10k-labels-idx1-ubyte", np.uint8, offset=8)
    decoder = TFExampleDecoder(
        {
            "image/encoded": tf.io.FixedLenFeature([], tf.string),
            "image/format": tf.io.FixedLenFeature([], tf.string),
            "image/class/label": tf.io.FixedLenFeature([1], tf.int64),
        },
        {
            "image": Image(shape=[28, 28, 1], channels=1),
            "label": Tensor("image/class/label", shape=[]),
        },
    )
    with tf.Graph().as_default():
        pattern = str(tmp_path / "records" / "test-*")
        dataset = Dataset(pattern, tf.TFRecordReader, decoder, len(labels), None)
        provider = DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
        batch = tf.train.batch(provider.get(["image", "label"]), len(labels))
        with initialized_session() as session, QueueRunners(session):
            values = session.run(batch)
    np.testing.assert_array_equal(values[0], images)
    np.testing.assert_array_equal(values[1], labels)


@pytest.mark.parametrize(
    "damage,message",
    [
        (
            {"images": encode_idx(LABELS)},
            "00 00 08 01, not with the magic number 0x00000803",
        ),
        ({"labels": b""}, "begins with nothing, not with the magic number 0x00000801"),
        ({"images": encode_idx(PIXELS)[:-1]}, "has 45 bytes; for [5, 3, 2] there must be 46"),
        ({"images": encode_idx(PIXELS)[:10]}, "train-images-idx3-ubyte has 10 bytes"),
        ({"labels": encode_idx(LABELS[:4])}, "5 images, but"),
        ({"labels": encode_idx(LABELS + np.uint8(1))}, "has a label 10; there are only 0 to 9"),
        ({"images": b"\x1f\x8bbroken"}, "cannot read"),
        ({"images": gzip.compress(encode_idx(PIXELS))[:-9]}, "cannot read"),
    ],
)
def test_damaged_idx_files_are_named(refuse, files, tmp_path, damage, message):
    assert message in refuse("mnist", files(**damage), "--shards", "1")
    assert not (tmp_path / "records").exists()


def test_missing_files_are_named(refuse, files, tmp_path):
    root = files()
    (root / "train-labels-idx1-ubyte").unlink()
    error = refuse("mnist", root)
    assert f"{root} has neither train-labels-idx1-ubyte.gz nor train-labels-idx1-ubyte" in error
    assert f"there is no {tmp_path}/none" in refuse("mnist", tmp_path / "none")
