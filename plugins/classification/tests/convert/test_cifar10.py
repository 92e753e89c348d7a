"""The binary batches of CIFAR-10 become TFRecords."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

RANDOM = np.random.RandomState(0)


def batch(pixels, labels):
    """Records of `[images, 32, 32, 3]`: the class, then each channel."""
    planes = pixels.transpose(0, 3, 1, 2).reshape(len(pixels), -1)
    return np.concatenate([np.array(labels, np.uint8)[:, None], planes], 1).tobytes()


@pytest.fixture
def source(tmp_path):
    """Five batches of two images, and one of one, in the folder of the archive."""
    root = tmp_path / "download" / "cifar-10-batches-bin"
    root.mkdir(parents=True)
    pixels = RANDOM.randint(0, 256, (11, 32, 32, 3)).astype(np.uint8)
    for number in range(5):
        labels = [number, 9 - number]
        data = batch(pixels[2 * number : 2 * number + 2], labels)
        (root / f"data_batch_{number + 1}.bin").write_bytes(data)
    (root / "test_batch.bin").write_bytes(batch(pixels[10:], [3]))
    return root, pixels


def test_all_batches_become_png_in_their_order(convert, examples, source, tmp_path):
    root, pixels = source
    # The archive makes a folder, so that the one above will do as well.
    assert convert("cifar10", root.parent, "--shards", "3") == 0
    decoded = [tf.io.decode_png(example["image/encoded"]).numpy() for example in examples()]
    np.testing.assert_array_equal(decoded, pixels[:10])
    labels = [example["image/class/label"] for example in examples()]
    assert labels == [0, 9, 1, 8, 2, 7, 3, 6, 4, 5]
    example = examples()[3]
    assert example["image/filename"] == b"data_batch_2/00001.png"
    assert example["image/class/text"] == b"ship"
    assert (example["image/height"], example["image/width"]) == (32, 32)
    assert (tmp_path / "records/labels.txt").read_text().startswith("0:airplane\n1:automobile\n")
    # The test batch is a split of its own.
    assert convert("cifar10", root, "--split", "test", "--shards", "1") == 0
    [example] = examples("test")
    np.testing.assert_array_equal(tf.io.decode_png(example["image/encoded"]), pixels[10])
    assert example["image/class/label"] == 3


def test_damaged_and_missing_batches_are_named(refuse, source):
    root, _ = source
    path = root / "data_batch_4.bin"
    good = path.read_bytes()
    for data, message in [
        (good[:-1], "has 6145 bytes, which is no multiple of the 3073 of a record"),
        (b"", "has 0 bytes"),
        (b"\x0a" + good[1:], "has a label 10; there are only 0 to 9"),
    ]:
        path.write_bytes(data)
        assert f"{path} {message}" in refuse("cifar10", root)
    path.unlink()
    assert f"there is no {path}" in refuse("cifar10", root)
