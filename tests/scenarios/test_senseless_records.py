"""Faults of data in TFRecord files: they give the warnings of `test_senseless_data`, too."""

import io

import numpy as np
import pytest
from PIL import Image

from tf_frame import Mode
from tf_frame.plugin.data_warnings import find_data_report
from tf_frame_classification.inputs import image_tfrecord
from tf_frame_deeplab.inputs import segmentation_tfrecord
from tf_frame_detection.inputs import detection_tfrecord
from tf_frame_recognition.inputs import text_tfrecord
from tf_frame_vision.reading.record_facts import read_record_facts
from tfrecords import make_example, write_records

BOX = (0.1, 0.2, 0.5, 0.6)
EDGES = ("ymin", "xmin", "ymax", "xmax")


def png(pixels):
    file = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(file, "PNG")
    return file.getvalue()


def image(seed, side=40):
    return png(np.random.RandomState(seed).randint(0, 255, [side, side, 3]))


def labelled(label, picture):
    return {"image/encoded": picture, "image/class/label": label}


def masked(value, inner, seed):
    mask = np.full([40, 40], value)
    mask[8 + seed : 20 + seed, 8:30] = inner
    return {"image/encoded": image(seed), "image/segmentation/class/encoded": png(mask)}


def boxed(box, seed, label=1, **flags):
    edges = {f"image/object/bbox/{k}": float(v) for k, v in zip(EDGES, box, strict=True)}
    marks = {f"image/object/{name}": value for name, value in flags.items()}
    return {"image/encoded": image(seed), "image/object/class/label": label, **edges, **marks}


def written(text, seed):
    return {"image/encoded": image(seed), "image/transcript": text.encode()}


def moved(n):
    return (0.1, 0.02 * n, 0.5, 0.5 + 0.02 * n)


def make_source(root, module, cls, train, evaluation):
    for name, records in (("train", train), ("val", evaluation)):
        write_records(root / f"{name}-00000-of-00001", map(make_example, records))
    (root / "labels.txt").write_text("0:cat\n1:dog\n")
    (root / "classes.txt").write_text("background\nthing\n")
    items = [f"item {{ id: {n} name: '{name}' }}" for n, name in ((1, "cone"), (7, "pole"))]
    (root / "label_map.pbtxt").write_text("\n".join(items))
    return getattr(module, cls)(params=module.Params(data_dir=str(root)))


IMAGES = (image_tfrecord, "ImageTfrecord")
MASKS = (segmentation_tfrecord, "SegmentationTfrecord")
BOXES = (detection_tfrecord, "DetectionTfrecord")
WORDS = (text_tfrecord, "TextTfrecord")
BOTH = [labelled(n % 2, image(n)) for n in range(8)]
OTHERS = [labelled(n % 2, image(20 + n)) for n in range(4)]
TRAINED = [boxed(moved(n), n) for n in range(6)]
EVALUATED = [boxed(moved(n), n + 20) for n in range(3)]
DARK = [labelled(n % 2, png(np.full([40, 40, 3], n))) for n in range(6)]
FAULTS = {
    "constant_labels": (IMAGES, BOTH[::2], OTHERS),
    "class_not_evaluated": (IMAGES, BOTH, OTHERS[::2]),
    "shared_images": (IMAGES, BOTH, [*OTHERS, BOTH[0]]),
    "contradicting_labels": (IMAGES, [*BOTH, labelled(1, image(0))], OTHERS),
    "duplicates": (IMAGES, [*BOTH, BOTH[3]], OTHERS),
    "dark_images": (IMAGES, DARK, OTHERS),
    "other_size": (IMAGES, BOTH, [labelled(n % 2, image(n, 90)) for n in range(4)]),
    "class_and_ignored": (MASKS, [masked(0, 255, n) for n in range(4)], [masked(0, 255, 9)]),
    "all_void": (MASKS, [masked(255, 255, n) for n in range(4)], [masked(0, 1, 9)]),
    "constant_labels of masks": (MASKS, [masked(1, 1, n) for n in range(4)], [masked(0, 1, 9)]),
    "constant_masks": (
        MASKS,
        [{**masked(0, 1, 3), "image/encoded": image(20 + n)} for n in range(4)],
        [masked(0, 1, 9)],
    ),
    "tiny_boxes": (BOXES, [boxed((0.1, 0, 0.12, 0.01), n) for n in range(3)], EVALUATED),
    "whole_image_boxes": (BOXES, [boxed((0, 0, 1, 1), n) for n in range(3)], EVALUATED),
    "constant_boxes": (BOXES, [boxed(BOX, n) for n in range(4)], EVALUATED),
    "all_void of boxes": (BOXES, [boxed(moved(n), n, difficult=1) for n in range(4)], EVALUATED),
    "nothing_to_evaluate": (BOXES, TRAINED, [boxed(BOX, 9, is_crowd=1)]),
    "class_not_trained": (BOXES, TRAINED, [*EVALUATED, boxed(BOX, 9, label=7)]),
    "constant_labels of words": (
        WORDS,
        [written("tree", n) for n in range(4)],
        [written("tree", 9)],
    ),
}
GOOD = {
    "images": (IMAGES, BOTH, OTHERS),
    "masks": (MASKS, [masked(0, 1, n) for n in range(4)], [masked(0, 1, 9)]),
    "boxes": (BOXES, TRAINED, EVALUATED),
    "words": (WORDS, [written("tree", 1), written("reet", 2)], [written("eert", 3)]),
}
COUNTS = {
    "images": {"cat": 4, "dog": 4},
    "masks": {"background": 4 * (1600 - 264), "thing": 4 * 264},
    "boxes": {"cone": 6, "pole": 0},
}


def report(case, root):
    (module, cls), train, evaluation = case
    return find_data_report(make_source(root, module, cls, train, evaluation))


@pytest.mark.parametrize("name", FAULTS)
def test_senseless_records_give_their_warning(name, tmp_path):
    kind = name.split()[0]
    assert [warning.kind for warning in report(FAULTS[name], tmp_path).warnings] == [kind]


@pytest.mark.parametrize("name", GOOD)
def test_good_records_are_counted_without_a_warning(name, tmp_path):
    data = report(GOOD[name], tmp_path)
    assert data.warnings == () and data.unused == ()
    split = data.splits[Mode.TRAIN]
    assert split.sizes == ((40, 40),) * 3 and split.counted is None
    assert split.counts == COUNTS.get(name, split.counts)


WRONG_TYPES = {
    "images": {"image/encoded": 3, "image/class/label": b"cat"},
    "masks": {"image/encoded": image(1), "image/segmentation/class/encoded": 3},
    "boxes": {**boxed(BOX, 1), "image/object/bbox/xmin": b"left"},
    "words": {"image/encoded": image(1), "image/transcript": 7},
}


@pytest.mark.parametrize("name", GOOD)
def test_records_with_values_of_other_types_are_not_counted(name, tmp_path):
    (module, cls), train, evaluation = GOOD[name]
    source = make_source(tmp_path, module, cls, [*train, WRONG_TYPES[name]], evaluation)
    assert source.data_report().splits[Mode.TRAIN].counted == len(train)


def test_of_many_records_some_are_read_and_damaged_records_are_left_out(tmp_path):
    damaged = {"image/encoded": b"no image", "image/class/label": 0}
    source = make_source(tmp_path, *IMAGES, BOTH, [*OTHERS, damaged])
    evaluated = source.data_report().splits[Mode.EVAL]
    assert (evaluated.examples, evaluated.counted) == (5, 4)
    indices = 2 * source.splits[Mode.TRAIN].content
    facts = read_record_facts(
        indices, lambda values: values("image/class/label")[0], max_pixels=9000, most=6
    )
    assert [name.rpartition(" ")[2] for name in facts.names] == [*"036147"]
    assert (facts.labels, facts.counted, len(facts.pictures)) == ((0, 1, 0, 1, 0, 1), 6, 6)
