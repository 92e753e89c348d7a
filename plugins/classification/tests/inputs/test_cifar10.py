import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputContext, Mode
from tf_frame.errors import DataError, NoDataError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_classification.inputs.cifar10 import Cifar10, Params

pytestmark = pytest.mark.usefixtures("graph")

NAMES = [*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"]


@pytest.fixture
def records(tmp_path):
    """Writes files of one, two ... six records; returns each file's `[records, 3073]`."""
    random = np.random.RandomState(0)
    arrays = {}
    for count, name in enumerate(NAMES, 1):
        arrays[name] = random.randint(0, 256, [count, 3073]).astype(np.uint8)
        arrays[name][:, 0] %= 10
        (tmp_path / name).write_bytes(arrays[name].tobytes())
    return arrays


def cifar(folder, **params):
    return Cifar10(params=Params(data_dir=str(folder), **params))


def images_and_labels(source, mode, count, batch_size):
    batches = read_elements(source.dataset(mode, InputContext(batch_size=batch_size)), count)
    images = np.rint((np.concatenate([features["image"] for features, _ in batches]) + 1) * 127.5)
    return images.astype(np.uint8), np.concatenate([labels["label"] for _, labels in batches])


def expected(records):
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return images, records[:, 0]


def test_evaluation_yields_the_records_of_the_test_file(tmp_path, records):
    source = cifar(tmp_path)
    assert source.info.num_examples == {Mode.TRAIN: 15, Mode.EVAL: 6, Mode.PREDICT: 6}
    images, labels = images_and_labels(source, Mode.EVAL, 2, 4)
    assert images.shape == (6, 32, 32, 3)
    np.testing.assert_array_equal(images, expected(records["test_batch.bin"])[0])
    np.testing.assert_array_equal(labels, expected(records["test_batch.bin"])[1])
    # Without the test file there is no evaluation split.
    (tmp_path / "test_batch.bin").unlink()
    source = cifar(tmp_path)
    assert source.info.num_examples == {Mode.TRAIN: 15, Mode.EVAL: 0, Mode.PREDICT: 0}
    with pytest.raises(NoDataError, match=r"test_batch.bin is missing"):
        source.dataset(Mode.EVAL, InputContext(batch_size=1))


def test_training_goes_through_all_five_files(tmp_path, records):
    all_records = np.concatenate([records[name] for name in NAMES[:5]])
    pictures, _ = expected(all_records)
    plain = images_and_labels(cifar(tmp_path, shuffle_buffer=0), Mode.TRAIN, 2, 15)
    np.testing.assert_array_equal(plain[0], np.concatenate([pictures] * 2))
    images, labels = images_and_labels(cifar(tmp_path), Mode.TRAIN, 1, 15)
    order = [int(np.argmax((pictures == image).all(axis=(1, 2, 3)))) for image in images]
    assert sorted(order) == list(range(15))
    assert order != sorted(order)
    np.testing.assert_array_equal(labels, all_records[order, 0])


@pytest.mark.slow
def test_training_goes_on_exactly_where_it_stopped(tmp_path, records):
    source = cifar(tmp_path, preprocessing="cifarnet", image_size=24)
    check_exact_resume(source, batch_size=8, steps=2)


def test_colour_images_become_grey_where_the_network_wants_it(tmp_path, records):
    images, _ = images_and_labels(cifar(tmp_path, channels=1), Mode.EVAL, 1, 6)
    assert images.shape == (6, 32, 32, 1)
    grey = expected(records["test_batch.bin"])[0] @ [0.2989, 0.587, 0.114]
    np.testing.assert_allclose(images[..., 0], grey, atol=1)


def test_the_folder_may_be_that_of_the_unpacked_archive(tmp_path, records):
    inner = tmp_path / "cifar-10-batches-bin"
    inner.mkdir()
    for name in NAMES:
        (tmp_path / name).rename(inner / name)
    assert cifar(tmp_path).info.class_names[9] == "truck"
    (inner / "batches.meta.txt").write_text("\n".join("abcdefghij") + "\n\n")
    assert cifar(tmp_path).info.class_names == tuple("abcdefghij")
    (inner / "batches.meta.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match=r"batches.meta.txt has 2 names for 10 classes"):
        cifar(tmp_path)


def test_a_label_beyond_the_classes_names_its_record(tmp_path, records):
    records["data_batch_3.bin"][1, 0] = 17
    (tmp_path / "data_batch_3.bin").write_bytes(records["data_batch_3.bin"].tobytes())
    message = "data_batch_3.bin: example 1: its label is 17; labels are 0 to 9"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        images_and_labels(cifar(tmp_path), Mode.TRAIN, 1, 15)


@pytest.mark.usefixtures("records")
def test_missing_folder_missing_file_and_cut_file(tmp_path):
    with pytest.raises(DataError, match=r"--input.data_dir is not given. Unpack cifar-10-binary"):
        cifar("")
    (tmp_path / "data_batch_2.bin").write_bytes(b"\0" * 3072)
    with pytest.raises(DataError, match=r"data_batch_2.bin has 3072 bytes, not a multiple of 3073"):
        cifar(tmp_path)
    (tmp_path / "data_batch_2.bin").unlink()
    with pytest.raises(DataError, match=r"data_batch_2.bin is missing"):
        cifar(tmp_path)
