import gzip

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from idx_files import encode_idx
from tf_frame import InputContext, Mode
from tf_frame.errors import ConfigError, DataError, NoDataError, PluginError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_classification.inputs.fashion_mnist import _SAMPLE, FashionMnist, Params

pytestmark = pytest.mark.usefixtures("graph")

RANDOM = np.random.RandomState(0)


def fashion(**params):
    return FashionMnist(params=Params(**params))


def take(source, mode, count=None, **context):
    """Returns the features and labels of the first batches, or of all."""
    dataset = source.dataset(mode, InputContext(**{"batch_size": 4, **context}))
    return read_elements(dataset, count)


def pixels(batches):
    """Images as they were before the preprocessing `none`, which makes -1 to 1 of 0 to 255."""
    images = np.concatenate([features["image"] for features, _ in batches])
    return np.rint((images + 1) * 127.5).astype(np.uint8)


def labels(batches):
    return np.concatenate([labels["label"] for _, labels in batches])


def write(folder, *, sizes=(7, 5), gz=True, num_classes=10):
    """Writes the four files and returns their arrays."""
    arrays = {}
    write_file = gzip.open if gz else open
    for part, size in zip(("train", "t10k"), sizes, strict=True):
        images = RANDOM.randint(0, 256, [size, 6, 4]).astype(np.uint8)
        images[:, 0, 0] = np.arange(size)
        arrays[part] = images, RANDOM.randint(0, num_classes, [size]).astype(np.uint8)
        for array, kind in zip(arrays[part], ("images-idx3", "labels-idx1"), strict=True):
            name = f"{part}-{kind}-ubyte" + (".gz" if gz else "")
            with write_file(folder / name, "wb") as file:
                file.write(encode_idx(array))
    return arrays


def test_the_sample_has_ten_balanced_classes():
    source = fashion()
    info = source.info
    assert info.num_examples == {Mode.TRAIN: 2000, Mode.EVAL: 500, Mode.PREDICT: 500}
    names = info.class_names
    assert (info.num_classes, names[0], names[9]) == (10, "T-shirt/top", "Ankle boot")
    batches = take(source, Mode.EVAL, batch_size=200)
    assert [len(features["image"]) for features, _ in batches] == [200, 200, 100]
    assert np.bincount(labels(batches)).tolist() == [50] * 10
    assert batches[0][0]["image"].shape == (200, 28, 28, 1)
    assert batches[0][0]["image"].dtype == np.float32
    assert batches[0][1]["label"].dtype == np.int32
    with gzip.open(_SAMPLE / "t10k-images-idx3-ubyte.gz") as file:
        expected = np.frombuffer(file.read()[16:], np.uint8).reshape(500, 28, 28, 1)
    np.testing.assert_array_equal(pixels(batches), expected)
    assert "Copyright (c) 2017 Zalando SE" in (_SAMPLE / "LICENSE.txt").read_text()


@pytest.mark.parametrize("gz", [True, False])
def test_another_folder_is_read_also_with_a_dot_in_the_names_of_files(tmp_path, gz):
    arrays = write(tmp_path, gz=gz)
    source = fashion(data_dir=str(tmp_path), preprocessing="lenet", image_size=6)
    assert source.info.num_examples[Mode.TRAIN] == 7
    ((features, batch_labels),) = take(source, Mode.EVAL, batch_size=9)
    # The family lenet pads 6 x 4 pixels by one on each side, and (x - 128) / 128.
    np.testing.assert_array_equal(features["image"][:, :, 1:5, 0] * 128 + 128, arrays["t10k"][0])
    np.testing.assert_array_equal(batch_labels["label"], arrays["t10k"][1])
    # MNIST has such names.
    for path in list(tmp_path.iterdir()):
        path.rename(tmp_path / path.name.replace("-idx", ".idx"))
    digits = tuple("0123456789")
    assert fashion(data_dir=str(tmp_path), class_names=digits).info.class_names == digits


def test_training_takes_every_example_once_an_epoch_with_its_own_label(tmp_path):
    arrays = write(tmp_path)
    source = fashion(data_dir=str(tmp_path), preprocessing="lenet", image_size=6)
    batches = take(source, Mode.TRAIN, 7, batch_size=3)
    numbers = np.concatenate([features["image"][:, 0, 1, 0] for features, _ in batches])
    numbers = np.rint(numbers * 128 + 128).astype(int)
    epochs = numbers.reshape(3, 7).tolist()
    assert [sorted(epoch) for epoch in epochs] == [list(range(7))] * 3
    assert len(set(map(tuple, epochs))) == 3
    np.testing.assert_array_equal(labels(batches), arrays["train"][1][numbers])


@pytest.mark.slow
def test_shuffling_can_be_left_out_or_kept_to_neighbours(tmp_path):
    write(tmp_path)

    def epochs(shuffle_buffer):
        params = {"preprocessing": "lenet", "image_size": 6, "shuffle_buffer": shuffle_buffer}
        batches = take(fashion(data_dir=str(tmp_path), **params), Mode.TRAIN, 2, batch_size=7)
        return [
            np.rint(f["image"][:, 0, 1, 0] * 128 + 128).astype(int).tolist() for f, _ in batches
        ]

    assert epochs(0) == [list(range(7))] * 2
    for epoch in epochs(3):
        assert sorted(epoch) == list(range(7))
        blocks = [{number // 3 for number in epoch[begin : begin + 3]} for begin in (0, 3, 6)]
        assert all(len(block) == 1 for block in blocks)
        assert blocks[2] == {2}


@pytest.mark.slow
def test_shards_share_one_stream_and_split_an_evaluation(tmp_path):
    arrays = write(tmp_path)
    source = fashion(data_dir=str(tmp_path), image_size=6)
    images = pixels(take(source, Mode.TRAIN, 2, batch_size=4))
    for index in range(2):
        part = take(source, Mode.TRAIN, 1, num_shards=2, shard_index=index)
        np.testing.assert_array_equal(images[index::2], pixels(part))
        batches = take(source, Mode.EVAL, num_shards=2, shard_index=index)
        np.testing.assert_array_equal(labels(batches), arrays["t10k"][1][index::2])


@pytest.mark.slow
def test_augmentation_is_decided_by_the_seed_and_differs_between_passes(tmp_path):
    write(tmp_path, sizes=(1, 1))
    params = {"data_dir": str(tmp_path), "preprocessing": "cifarnet", "image_size": 6}
    once, again = (take(fashion(**params), Mode.TRAIN, 3, batch_size=1, seed=1) for _ in range(2))
    seed_2 = take(fashion(**params), Mode.TRAIN, 1, batch_size=1, seed=2)
    images = [features["image"] for features, _ in once]
    np.testing.assert_array_equal(images, [features["image"] for features, _ in again])
    assert len({image.tobytes() for image in [*images, seed_2[0][0]["image"]]}) == 4
    plain = fashion(augment=False, **params)
    images = [features["image"] for features, _ in take(plain, Mode.TRAIN, 3, batch_size=1)]
    assert len({image.tobytes() for image in images}) == 1
    # Training goes on exactly where it stopped.
    write(tmp_path)
    check_exact_resume(fashion(**params), batch_size=4, steps=2)


def test_grey_images_become_colour_where_the_network_wants_it():
    ((features, _),) = take(fashion(channels=3), Mode.EVAL, 1)
    image = features["image"]
    assert image.shape == (4, 28, 28, 3)
    np.testing.assert_array_equal(image[..., 0], image[..., 2])
    assert fashion(channels=3, image_size=9).serving_features() == {
        "image": tf.TensorSpec([None, 9, 9, 3], tf.float32)
    }


def test_labels_begin_at_the_offset(tmp_path):
    write(tmp_path)
    path = tmp_path / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(encode_idx(np.array([1, 2, 9, 1, 5]))))
    source = fashion(data_dir=str(tmp_path), labels_offset=1)
    assert (source.info.num_classes, source.info.class_names[0]) == (9, "Trouser")
    assert labels(take(source, Mode.EVAL)).tolist() == [0, 1, 8, 0, 4]
    # Without an offset of 1 label 0 has a class, with it not.
    path.write_bytes(gzip.compress(encode_idx(np.array([1, 0, 9, 1, 5]))))
    message = "example 1: its label is 0; labels are 1 to 9"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        take(fashion(data_dir=str(tmp_path), labels_offset=1), Mode.EVAL)


def test_the_size_of_a_training_batch_is_known_and_the_graph_does_not_hold_the_images():
    dataset = fashion().dataset(Mode.TRAIN, InputContext(batch_size=2))
    features, label_specs = dataset.element_spec
    assert features["image"].shape == [2, 28, 28, 1]
    assert label_specs["label"].shape == [2]
    assert tf.get_default_graph().as_graph_def().ByteSize() < 100_000


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options")
@pytest.mark.parametrize("mode", list(Mode))
def test_no_tuner_thread_can_hold_up_the_end_of_a_session(mode):
    dataset = fashion().dataset(mode, InputContext(batch_size=2))
    assert dataset.options().autotune.enabled is False


def test_wrong_options_a_missing_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="labels_offset 10 leaves none of the 10 classes"):
        fashion(labels_offset=10)
    with pytest.raises(PluginError, match="no preprocessing.*'lennet'"):
        fashion(preprocessing="lennet")
    with pytest.raises(DataError, match=r"nowhere .*does not exist.*Put the four files"):
        fashion(data_dir=str(tmp_path / "nowhere"))
    write(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(DataError, match=r"t10k-labels-idx1-ubyte.gz is missing.*leave --input"):
        fashion(data_dir=str(tmp_path))
    (tmp_path / "t10k-images-idx3-ubyte.gz").unlink()
    source = fashion(data_dir=str(tmp_path))
    assert source.info.num_examples == {Mode.TRAIN: 7, Mode.EVAL: 0, Mode.PREDICT: 0}
    with pytest.raises(NoDataError, match=r"t10k-images-idx3-ubyte.gz is missing"):
        source.dataset(Mode.EVAL, InputContext(batch_size=1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(encode_idx(np.zeros([7]))), "begins with 00000801, not with 00000803"),
        (gzip.compress(b""), "begins with nothing"),
        (gzip.compress(encode_idx(np.zeros([7, 6, 4]))[:-1]), "has 183 bytes.*need 184"),
        (gzip.compress(encode_idx(np.zeros([0, 6, 4]))), "holds nothing"),
        (gzip.compress(encode_idx(np.zeros([8, 6, 4]))), "8 images, but .* 7 labels"),
        (gzip.compress(encode_idx(np.zeros([7, 6, 4])))[:-9], "cannot be read"),
        (b"no gzip", "cannot be read"),
    ],
    # A gzip file holds the time of its making, which must not be part of a test's name.
    ids=["rank", "empty", "short", "nothing", "other", "cut", "text"],
)
def test_a_damaged_file_is_named(tmp_path, content, message):
    write(tmp_path)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(content)
    with pytest.raises(DataError, match=f"train-images-idx3-ubyte.gz .*{message}"):
        fashion(data_dir=str(tmp_path))


@pytest.mark.parametrize("gz", [True, False])
def test_too_few_names_of_classes_are_refused_by_their_number(tmp_path, gz):
    message = r"--input.class_names has 2 names for 10 classes: the data has labels 0 to 9; give"
    with pytest.raises(ConfigError, match=message):
        fashion(class_names=("boot", "bag"))
    arrays = write(tmp_path, num_classes=3, gz=gz)
    count = max(part[1].max() for part in arrays.values()) + 1
    names = tuple("abcdef")
    assert fashion(data_dir=str(tmp_path), class_names=names[:count]).info.num_classes == count
    assert fashion(data_dir=str(tmp_path), class_names=names).info.num_classes == 6
    with pytest.raises(ConfigError, match=f"has {count - 1} names for {count} classes"):
        fashion(data_dir=str(tmp_path), class_names=names[: count - 1])
