import gzip
import io

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame import InputContext, Mode
from tf_frame.errors import ConfigError, DataError, NoDataError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_deeplab.datasets.known import KNOWN
from tf_frame_deeplab.inputs.segmentation_tfrecord import Params, SegmentationTfrecord
from tfrecords import make_example, write_records

pytestmark = pytest.mark.usefixtures("graph")

SIZE = (6, 8)


def png(pixels, palette=None):
    image = Image.fromarray(pixels)
    if palette:
        image.putpalette(palette)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def random_classes(number, size=SIZE):
    mask = np.random.RandomState(number).randint(0, 3, size).astype(np.uint8)
    mask[0, 0] = 255
    return mask


def random_image(number, size=SIZE):
    return np.random.RandomState(100 + number).randint(0, 256, [*size, 3]).astype(np.uint8)


def record(image, mask=None):
    """A record as DeepLab's `image_seg_to_tfexample` makes it, without the keys for people."""
    values = {"image/encoded": image, "image/filename": b"p", "image/format": b"png"}
    if mask is not None:
        values["image/segmentation/class/encoded"] = mask
    return make_example(values)


def random_record(number):
    return record(png(random_image(number)), png(random_classes(number)))


@pytest.fixture
def folder(tmp_path):
    """Two files to train on, of two records each, and one to evaluate, of two."""
    write_records(tmp_path / "train-00000-of-00002.tfrecord", map(random_record, (0, 1)))
    write_records(tmp_path / "train-00001-of-00002.tfrecord", map(random_record, (2, 3)))
    write_records(tmp_path / "val-00000-of-00001.tfrecord", map(random_record, (4, 5)))
    (tmp_path / "classes.txt").write_text("background\nnucleus\nboundary\n")
    return tmp_path


def source(folder, **params):
    return SegmentationTfrecord(params=Params(data_dir=str(folder), **params))


def take(source, mode, count=None, **context):
    dataset = source.dataset(mode, InputContext(**{"batch_size": 2, **context}))
    return read_elements(dataset, count)


def test_evaluation_yields_every_record_in_order(folder):
    of = source(folder)
    assert of.info.num_examples == {Mode.TRAIN: 4, Mode.EVAL: 2, Mode.PREDICT: 2}
    assert of.info.class_names == ("background", "nucleus", "boundary")
    assert of.info.ignore_label == 255
    ((features, labels),) = take(of, Mode.EVAL)
    for place, number in enumerate((4, 5)):
        np.testing.assert_array_equal(features["image"][place], random_image(number))
        np.testing.assert_array_equal(labels["semantic"][place], random_classes(number))


@pytest.mark.slow
def test_training_takes_crops_of_all_files(folder):
    batches = take(source(folder, crop_size=(16, 20)), Mode.TRAIN, count=3)
    assert {batch[0]["image"].shape for batch in batches} == {(2, 16, 20, 3)}
    assert {batch[1]["semantic"].shape for batch in batches} == {(2, 16, 20)}


@pytest.mark.slow
def test_masks_of_few_or_many_bits_are_classes(folder):
    three = (np.arange(48) % 3).reshape(SIZE)
    masks = [
        (png(three > 0), three > 0),
        (png(three.astype(np.uint16)), three),
        (png(np.stack([three, three + 200], -1).astype(np.uint8)), three),
    ]
    write_records(
        folder / "val-00000-of-00001.tfrecord", [record(png(random_image(0)), m) for m, _ in masks]
    )
    batches = take(source(folder), Mode.EVAL, batch_size=1)
    for (_, labels), (_, expected) in zip(batches, masks, strict=True):
        np.testing.assert_array_equal(labels["semantic"][0], expected)


@pytest.mark.slow
def test_files_may_be_gzipped_and_have_deeplabs_other_names(tmp_path):
    for name in ("train_fine-00000-of-00001", "val_fine-00000-of-00001"):
        write_records(tmp_path / name, [random_record(0)])
        (tmp_path / name).write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    of = source(tmp_path, dataset="cityscapes")
    assert of.info.num_examples[Mode.EVAL] == 1
    known = KNOWN["cityscapes"]
    assert (of.info.class_colours, of.info.class_ids) == (known.colours, known.ids)
    ((_, labels),) = take(of, Mode.EVAL)
    np.testing.assert_array_equal(labels["semantic"][0], random_classes(0))


@pytest.mark.slow
def test_a_known_data_set_needs_no_file_of_classes(folder):
    (folder / "classes.txt").unlink()
    with pytest.raises(DataError, match=r"classes.txt is missing; write it.*--input.dataset voc\|"):
        source(folder)
    of = source(folder, dataset="ade20k", crop_size=(16,))
    assert (of.info.num_classes, of.info.ignore_label) == (151, 0)
    assert of.info.class_names[:2] == ("other", "wall")
    # Beyond an image lies what is ignored; 255 is no class of this data set.
    with pytest.raises(tf.errors.InvalidArgumentError, match="its mask has the value 255"):
        take(of, Mode.EVAL)
    assert source(folder, dataset="pascal_voc_seg").info.num_classes == 21


def test_a_file_of_classes_that_a_data_set_contradicts_is_noted(folder):
    assert source(folder).notes() == ()
    (note,) = source(folder, dataset="voc").notes()
    assert "names 3 classes, but --input.dataset voc has 21" in note
    (folder / "classes.txt").write_text("\n".join(f"class {n}" for n in range(21)))
    assert source(folder, dataset="voc").notes() == ()


def test_padding_has_the_ignored_label_of_the_data_set(folder):
    mask = np.full(SIZE, 150, np.uint8)
    write_records(folder / "val-00000-of-00001.tfrecord", [record(png(random_image(0)), png(mask))])
    of = source(folder, dataset="ade20k", eval_crop_size=(16,))
    ((_, labels),) = take(of, Mode.EVAL)
    assert (labels["semantic"][0, :6, :8] == 150).all()
    assert (labels["semantic"][0, 6:] == 0).all()


def test_options_that_contradict_each_other_are_refused(folder):
    with pytest.raises(ConfigError, match="--input.ignore_label 7 contradicts --input.dataset voc"):
        source(folder, dataset="voc", ignore_label=7)
    with pytest.raises(ConfigError, match="--input.classes has no effect with --input.dataset"):
        source(folder, dataset="voc", classes="classes.txt")


def test_a_cut_file_is_one_line_at_the_start_and_without_files_to_evaluate_a_run_only_trains(
    folder,
):
    (folder / "val-00000-of-00001.tfrecord").unlink()
    of = source(folder)
    assert of.info.num_examples[Mode.EVAL] == 0
    with pytest.raises(NoDataError, match=r"has no file that is called val-\*"):
        of.dataset(Mode.EVAL, InputContext(batch_size=1))
    path = folder / "train-00001-of-00002.tfrecord"
    path.write_bytes(path.read_bytes()[:-9])
    message = r"train-00001\S+: record 1 .* it is cut: 9 of its"
    with pytest.raises(DataError, match=message) as error:
        source(folder)
    assert "\n" not in str(error.value)
    path.unlink()
    with pytest.raises(DataError, match="00001-of-00002"):
        source(folder)


IMAGE, MASK = png(random_image(0)), png(random_classes(0))
DAMAGE = {
    "a mask of another size": (
        record(IMAGE, png(random_classes(0, (6, 7)))),
        "its mask is 6 x 7 pixels, but its image 6 x 8",
    ),
    "a class out of range": (
        record(IMAGE, png(np.full(SIZE, 3, np.uint8))),
        "its mask has the value 3, which is no class",
    ),
    "a mask that claims to be large": (
        record(IMAGE, MASK[:16] + (12000).to_bytes(4, "big") * 2 + MASK[24:]),
        "its mask has more pixels than --input.max_pixels or its bytes allow",
    ),
    "a cut mask": (record(IMAGE, MASK[:40]), "its mask cannot be decoded as PNG"),
    "a mask that is no picture": (record(IMAGE, b"no"), "its mask "),
    "an empty mask": (record(IMAGE, b""), "its mask "),
    "a mask with a palette": (
        record(IMAGE, png(random_classes(0), palette=[7, 7, 7] * 256)),
        "its mask is a PNG of colours or of a palette; it must have grey values",
    ),
    "no mask": (record(IMAGE), "it has not one image/segmentation/class/encoded"),
    "a cut image": (record(IMAGE[:60], MASK), "it cannot be decoded: "),
    "both cut": (record(IMAGE[:60], MASK[:40]), "it cannot be decoded: "),
    "no example": (b"no example", "it is no tf.train.Example"),
}


def problems(source):
    """Problem of each evaluation record; empty: none."""
    split = source.splits[Mode.EVAL]
    order = tf.data.Dataset.range(split.count).map(lambda number: (number, number))
    read = source.read(split, order).map(lambda _, example: source.checked(example)["problem"])
    return [problem.decode() for problem in read_elements(read)]


@pytest.mark.slow
def test_a_damaged_record_is_named_and_ends_the_run_or_is_left_out(folder):
    path = folder / "val-00000-of-00001.tfrecord"
    write_records(path, [random_record(4), *(record for record, _ in DAMAGE.values())])
    for number, problem in enumerate(problems(source(folder))):
        _, expected = [("", ""), *DAMAGE.values()][number]
        assert bool(problem) == bool(number)
        assert problem.startswith(f"{path}: record {number} (byte offset" if number else "")
        assert expected in problem
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        take(source(folder), Mode.EVAL)
    (line,) = [line for line in error.value.message.splitlines() if str(path) in line]
    assert "record 1 (byte offset" in line and "6 x 7 pixels, but its image 6 x 8" in line
    batches = take(source(folder, skip_corrupt=True), Mode.EVAL)
    assert [len(labels["semantic"]) for _, labels in batches] == [1]
    assert batches[0][0]["skipped"].tolist() == [0]


@pytest.mark.slow
def test_a_position_can_be_saved(folder):
    check_exact_resume(source(folder, crop_size=(16,)), batch_size=2, steps=3)
