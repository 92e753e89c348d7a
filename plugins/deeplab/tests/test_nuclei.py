import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from slow_cases import slow_but
from tf_frame import InputContext, Mode
from tf_frame.errors import ConfigError, DataError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_deeplab.nuclei import Nuclei, Params
from tf_frame_deeplab.tiles import shuffled
from tf_frame_vision.drawing.png import write_png

pytestmark = pytest.mark.usefixtures("graph")


def write(folder, image, instances):
    write_png(folder / "image.png", image)
    write_png(folder / "instances.png", instances)
    return str(folder)


def grey(height, width, dtype=np.uint8):
    return np.zeros([height, width], dtype)


def nuclei(**params):
    return Nuclei(params=Params(**params))


def take(source, mode, count=None, **context):
    """Returns the first (images, labels) batches, or all of them."""
    dataset = source.dataset(mode, InputContext(**{"batch_size": 4, **context}))
    batches = read_elements(dataset, count)
    return [(features["image"], labels["semantic"]) for features, labels in batches]


def concatenate_images(batches):
    return np.concatenate([images for images, _ in batches])


def test_sample_has_twelve_tiles_to_train_and_four_to_validate():
    info = nuclei().info
    assert info.num_examples == {Mode.TRAIN: 12, Mode.EVAL: 4, Mode.PREDICT: 4}
    assert (info.num_classes, info.ignore_label) == (2, 255)
    assert info.class_names == ("background", "nucleus")


def test_evaluation_yields_whole_tiles_once_and_in_order():
    source = nuclei()
    batches = take(source, Mode.EVAL, batch_size=3)
    assert [len(images) for images, _ in batches] == [3, 1]
    strip, instances = (
        np.asarray(Image.open(path))[384:] for path in (source.image_path, source.instances_path)
    )
    assert batches[0][0].dtype == np.float32
    assert batches[0][1].dtype == np.int32
    for channel in range(3):
        tiles = np.concatenate(list(concatenate_images(batches)[..., channel]), axis=1)
        np.testing.assert_array_equal(tiles, strip)
    labels = np.concatenate([tile for _, batch in batches for tile in batch], axis=1)
    np.testing.assert_array_equal(labels, instances > 0)


def plain(**params):
    return nuclei(min_scale_factor=1.0, max_scale_factor=1.0, flip=False, **params)


def test_training_takes_every_training_tile_once_an_epoch(tmp_path):
    """Tiles are told apart by their grey value, which is their number."""
    numbers = np.arange(12, dtype=np.uint8).reshape(4, 3)
    image = np.kron(numbers, np.ones([128, 128], np.uint8))
    folder = write(tmp_path, image, grey(*image.shape))
    epochs = concatenate_images(take(plain(data_dir=folder), Mode.TRAIN, 9, batch_size=3))
    orders = epochs[:, 0, 0, 0].astype(int).reshape(3, 9).tolist()
    assert [sorted(order) for order in orders] == [list(range(9))] * 3
    assert len(set(map(tuple, orders))) == 3
    validation = concatenate_images(take(plain(data_dir=folder), Mode.EVAL))
    assert validation[:, 0, 0, 0].tolist() == [9, 10, 11]


@pytest.mark.slow
def test_training_is_decided_by_the_seed_and_shared_by_shards():
    first, again, seed_2 = (take(nuclei(), Mode.TRAIN, 3, seed=seed) for seed in (1, 1, 2))
    for (images, labels), (images_again, labels_again) in zip(first, again, strict=True):
        np.testing.assert_array_equal(images, images_again)
        np.testing.assert_array_equal(labels, labels_again)
    assert not np.array_equal(concatenate_images(first), concatenate_images(seed_2))
    # Shards share one stream.
    images = concatenate_images(take(nuclei(), Mode.TRAIN, 4, batch_size=2))
    for index in range(2):
        shard = take(nuclei(), Mode.TRAIN, 2, batch_size=2, num_shards=2, shard_index=index)
        np.testing.assert_array_equal(images[index::2], concatenate_images(shard))


@pytest.mark.slow
@pytest.mark.parametrize(("instances", "num_clones"), [(False, 2), (False, 1), (True, 1)])
def test_crops_and_their_order_go_on_exactly_after_a_stop(instances, num_clones):
    # Twelve tiles train, so that the third batch of five begins another pass.
    source = nuclei(crop_size=33, instances=instances)
    check_exact_resume(source, batch_size=5, steps=5, num_clones=num_clones)


@pytest.mark.parametrize("crop_size", slow_but(0, [96, 128, 129]))
def test_crops_have_the_size_asked_for(crop_size):
    dataset = nuclei(crop_size=crop_size).dataset(Mode.TRAIN, InputContext(batch_size=2))
    features, labels = tf.data.get_output_shapes(dataset)
    assert features["image"].as_list() == [2, crop_size, crop_size, 3]
    assert labels["semantic"].as_list() == [2, crop_size, crop_size]


@pytest.mark.slow
def test_pixels_beyond_the_tile_are_black_and_ignored():
    source = nuclei(crop_size=160, min_scale_factor=0.5, max_scale_factor=0.5)
    ((images, labels),) = take(source, Mode.TRAIN, 1)
    inside = labels != 255
    assert inside.sum(axis=(1, 2)).tolist() == [64 * 64] * 4
    assert not images[~inside].any()
    assert set(np.unique(labels)) == {0, 1, 255}
    # Large scales leave nothing to ignore.
    source = nuclei(crop_size=128, min_scale_factor=1.0, max_scale_factor=2.0)
    ((_, labels),) = take(source, Mode.TRAIN, 1)
    assert set(np.unique(labels)) == {0, 1}


def test_labels_move_with_the_image(tmp_path):
    """The image shows the mask itself, so both must agree after any augmentation."""
    mask = np.zeros([128, 256], np.uint8)
    mask[30:70, 20:100] = mask[10:40, 150:170] = 255
    folder = write(tmp_path, mask, mask)
    for images, labels in take(nuclei(data_dir=folder), Mode.TRAIN, 6):
        inside = labels != 255
        np.testing.assert_array_equal((images[..., 0] > 127.5)[inside], (labels == 1)[inside])


def test_all_eight_symmetries_occur(tmp_path):
    corner = np.zeros([128, 256], np.uint8)
    corner[:20, :5] = 255
    params = {"min_scale_factor": 1.0, "max_scale_factor": 1.0}
    source = nuclei(data_dir=write(tmp_path, corner, corner), **params)
    labels = np.concatenate([labels for _, labels in take(source, Mode.TRAIN, 24)])
    assert len({tile.tobytes() for tile in labels}) == 8


def test_instance_numbers_of_16_bits_count(tmp_path):
    instances = grey(128, 256, np.uint16)
    instances[:, 128:] = 3
    source = nuclei(data_dir=write(tmp_path, grey(128, 256), instances))
    ((_, labels),) = take(source, Mode.EVAL)
    assert (labels == 1).all()


@pytest.mark.parametrize("count", [1, 2, 9])
def test_every_epoch_is_a_permutation(count):
    with tf.Session() as session:
        steps = tf.range(3 * count, dtype=tf.int64)
        numbers = [shuffled(step, count=count, seed=5) for step in tf.unstack(steps)]
        epochs = np.reshape(session.run(numbers), [3, count]).tolist()
    assert [sorted(epoch) for epoch in epochs] == [list(range(count))] * 3


# Shapes of image.png and instances.png -> the error.
REFUSED = {
    "unequal sizes": ((128, 256), (256, 128), r"image is 128 x 256 .* instances are 256 x 128"),
    "low": ((100, 256), (100, 256), "100 x 256 pixels.*multiples of 128"),
    "narrow": ((128, 200), (128, 200), "128 x 200 pixels.*multiples of 128"),
    "small": ((64, 64), (64, 64), "64 x 64 pixels.*multiples of 128"),
    "one tile": ((128, 128), (128, 128), "128 x 128 pixels, too small"),
    "colour": ((128, 256), (128, 256, 3), r"instances\.png is in colour"),
    "no image": (None, (128, 256), "image.png is missing"),
    "no instances": ((128, 256), None, "instances.png is missing"),
    "nothing": (None, None, r"is empty\. Put image\.png"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_that_does_not_fit_is_refused(case, tmp_path):
    *shapes, message = REFUSED[case]
    for name, shape in zip(("image.png", "instances.png"), shapes, strict=True):
        if shape:
            write_png(tmp_path / name, np.zeros(shape, np.uint8))
    with pytest.raises(DataError, match=message):
        nuclei(data_dir=str(tmp_path))


def test_a_missing_folder_and_scale_factors_the_wrong_way_round_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"nowhere \(--input.data_dir\) does not.*Put image\.png"):
        nuclei(data_dir=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="greater than"):
        nuclei(min_scale_factor=2.0, max_scale_factor=1.0)


@pytest.mark.filterwarnings("ignore:To make it possible to preserve tf.data options")
@pytest.mark.parametrize("mode", list(Mode))
def test_no_tuner_thread_can_hold_up_the_end_of_a_session(mode):
    dataset = nuclei().dataset(mode, InputContext(batch_size=2))
    assert dataset.options().autotune.enabled is False


def test_every_random_op_is_stateless():
    nuclei().dataset(Mode.TRAIN, InputContext(batch_size=2))
    graph = tf.get_default_graph().as_graph_def()
    nodes = [node.op for function in graph.library.function for node in function.node_def]
    random = {op for op in [*nodes, *(node.op for node in graph.node)] if "Random" in op}
    assert random
    assert all(op.startswith("Stateless") or op == "RandomIndexShuffle" for op in random)
