"""`coco_json`, `voc_xml` and `dota` read the same photographs, and yield the same examples."""

import importlib
import json
import struct

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from sessions import run_initialized
from tf_frame import InputContext, Mode
from tf_frame.errors import ConfigError, DataError, NoDataError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume

INPUTS = {"coco_json": "CocoJson", "voc_xml": "VocXml", "dota": "Dota"}
PLAIN = {"image_size": (), "data_augmentation": ()}


def source(name, folder, **params):
    module = importlib.import_module(f"tf_frame_detection.inputs.{name}")
    values = {**PLAIN, "data_dir": str(folder), **params}
    return getattr(module, INPUTS[name])(params=module.Params(**values))


def take(of, mode, count=None, **context):
    return read_elements(of.dataset(mode, InputContext(**{"batch_size": 3, **context})), count)


def marks(of, field, mode=Mode.TRAIN):
    """A field of the objects of each photograph."""
    photographs = of.splits[mode].content
    return [[getattr(mark, field) for mark in photograph.marks] for photograph in photographs]


@pytest.mark.parametrize("name", INPUTS)
def test_objects_are_what_the_files_say(forms, tmp_path, name):
    of = source(name, getattr(forms, name)(tmp_path))
    info = of.info
    assert info.num_examples == {Mode.TRAIN: 3, Mode.EVAL: 1, Mode.PREDICT: 1}
    assert info.class_names == ("cat", "dog")
    assert info.class_ids == ((17, 18) if name == "coco_json" else (1, 2))
    assert [one.path.name for one in of.splits[Mode.TRAIN].content] == ["a.png", "b.png", "c.png"]
    assert marks(of, "box") == [
        [(3, 2, 9, 12), (4, 20, 20, 30)],
        [],
        [(5, 5, 21, 9)],
    ]
    assert marks(of, "number") == [[0, 1], [], [1]]
    is_coco = name == "coco_json"
    ignored = [[False, not is_coco], [], [True]]
    assert marks(of, "ignored") == ignored
    assert marks(of, "crowd")[2] == [is_coco]


def test_examples_are_padded_to_the_most_boxes_of_a_batch(forms, tmp_path):
    of = source("coco_json", forms.coco_json(tmp_path), shuffle_buffer=0)
    ((features, labels),) = take(of, Mode.TRAIN, 1)
    assert [path.decode()[-5:] for path in features["name"]] == ["a.png", "b.png", "c.png"]
    assert features["image_id"].tolist() == [97, 98, 99]
    np.testing.assert_array_equal(features["image"], [forms.image_of(k) for k in "abc"])
    assert features["original_size"].tolist() == features["image_size"].tolist() == [[24, 32]] * 3
    assert labels["boxes"].tolist() == [
        [[3, 2, 9, 12], [4, 20, 20, 30]],
        [[0, 0, 0, 0]] * 2,
        [[5, 5, 21, 9], [0, 0, 0, 0]],
    ]
    assert labels["classes"].tolist() == [[0, 1], [-1, -1], [1, -1]]
    assert labels["ignored"].tolist() == [[False, False], [False, False], [True, False]]
    assert labels["crowd"].tolist() == labels["ignored"].tolist()


def test_options_of_difficult_objects_classes_and_files(forms, tmp_path):
    for name in ("voc_xml", "dota"):
        folder = getattr(forms, name)(tmp_path / name)
        of = source(name, folder, ignore_difficult=False)
        assert marks(of, "ignored") == [[False, False], [], [False]]
    (tmp_path / "names.txt").write_text("bird\ndog\ncat\n")
    of = source("dota", forms.dota(tmp_path / "d"), classes=str(tmp_path / "names.txt"))
    assert marks(of, "number", Mode.EVAL)[0][0] == 2


def test_parts_are_held_out_where_nothing_says_which(forms, tmp_path):
    folder = forms.voc_xml(tmp_path)
    for name in ("train.txt", "val.txt"):
        (folder / "ImageSets" / "Main" / name).unlink()
    of = source("voc_xml", folder, eval_fraction=0.5)
    assert of.info.num_examples == {Mode.TRAIN: 2, Mode.EVAL: 2, Mode.PREDICT: 2}
    of = source("voc_xml", folder, eval_fraction=1.0)
    assert of.info.num_examples == {Mode.TRAIN: 4, Mode.EVAL: 4, Mode.PREDICT: 4}
    of = source("voc_xml", folder, eval_fraction=0.0)
    assert of.info.num_examples[Mode.TRAIN] == 4
    with pytest.raises(NoDataError, match="--input.eval_fraction 0.0 of .* leaves nothing"):
        of.dataset(Mode.EVAL, InputContext(batch_size=1))
    sets = folder / "ImageSets" / "Main"
    (sets / "default.txt").write_text("a\nb\nc\n")
    of = source("voc_xml", folder, eval_fraction=0.5)
    assert of.info.num_examples == {Mode.TRAIN: 1, Mode.EVAL: 2, Mode.PREDICT: 2}
    (sets / "default.txt").unlink()
    (sets / "train.txt").write_text("a\nb\n"), (sets / "test.txt").write_text("d\n")
    of = source("voc_xml", folder)
    assert [one.path.stem for one in of.splits[Mode.EVAL].content] == ["c"]
    assert "test.txt is not used; --input.eval_split test" in of.notes()[0]
    for name in ("train.txt", "test.txt"):
        (sets / name).unlink()
    (tmp_path / "some.txt").write_text("a\nd\n")
    of = source("voc_xml", folder, train_list=str(tmp_path / "some.txt"))
    assert of.info.num_examples == {Mode.TRAIN: 2, Mode.EVAL: 2, Mode.PREDICT: 2}


def test_files_of_other_names_are_given_by_options(forms, tmp_path):
    folder = forms.coco_json(tmp_path)
    (folder / "annotations/instances_train2017.json").rename(folder / "mine.json")
    (folder / "annotations/instances_val2017.json").rename(folder / "theirs.json")
    with pytest.raises(DataError, match="and 2 JSON files; say which one to train on"):
        source("coco_json", folder)
    of = source("coco_json", folder, train_annotations="mine.json", eval_annotations="theirs.json")
    assert of.info.num_examples[Mode.EVAL] == 1


def test_images_are_resized_and_padded(forms, tmp_path):
    of = source(
        "dota", forms.dota(tmp_path), image_size=(48, 96), keep_aspect_ratio=True, max_boxes=3
    )
    ((features, labels),) = take(of, Mode.EVAL)
    assert features["image"].shape == (1, 48, 96, 3)
    assert features["image_size"].tolist() == [[48, 64]]
    assert labels["boxes"].tolist() == [[[0, 0, 48, 64], [0, 0, 0, 0], [0, 0, 0, 0]]]
    assert labels["classes"].tolist() == [[0, -1, -1]]
    for params in ({"image_size": (16, 16, 16)}, {"image_size": (), "keep_aspect_ratio": True}):
        with pytest.raises(ConfigError, match=r"--input\.(image_size: give|keep_aspect_ratio has)"):
            source("dota", tmp_path, **params)


@pytest.mark.slow
def test_rotated_boxes_follow_the_corners(forms, tmp_path):
    folder = forms.dota(tmp_path)
    corners = [(4, 10), (10, 4), (22, 16), (16, 22)]
    words = " ".join(f"{x} {y}" for y, x in corners)
    (folder / "val/labelTxt/d.txt").write_text(f"{words} cat 0\n")
    ((_, labels),) = take(source("dota", folder, rotated=True), Mode.EVAL)
    assert labels["boxes"].tolist() == [[[4, 4, 22, 22]]]
    row, column, height, width, angle = labels["rotated_boxes"][0, 0]
    np.testing.assert_allclose([row, column, height, width], [13, 13, 72**0.5, 288**0.5], rtol=1e-5)
    np.testing.assert_allclose(angle, np.pi / 4, rtol=1e-5)


@pytest.mark.slow
def test_training_resumes_exactly_and_augments_before_resizing(forms, tmp_path):
    of = source(
        "voc_xml",
        forms.voc_xml(tmp_path),
        image_size=(16,),
        preprocess=("random_pad_image",),
        data_augmentation=("random_horizontal_flip",),
    )
    check_exact_resume(of, batch_size=2, steps=2)
    plain = source("voc_xml", tmp_path, image_size=(16,))
    one, other = (take(each, Mode.TRAIN, 1)[0][0]["image"] for each in (of, plain))
    assert one.shape == other.shape == (3, 16, 16, 3)
    assert not np.array_equal(one, other)


@pytest.mark.slow
def test_photographs_without_a_box_or_with_one_that_reaches_beyond(forms, tmp_path):
    folder = forms.dota(tmp_path)
    (folder / "val/labelTxt/d.txt").write_text("")
    (folder / "val/labelTxt/e.txt").write_text("-5 2 20 2 20 10 -5 10 cat 0\n")
    (folder / "val/images/e.png").write_bytes((folder / "val/images/d.png").read_bytes())
    of = source("dota", folder)
    assert of.notes() == ("1 boxes reach beyond their images and are cut",)
    batches = take(of, Mode.EVAL, batch_size=1)
    empty, cut = (labels["boxes"] for _, labels in batches)
    assert empty.shape == (1, 0, 4)
    assert cut.tolist() == [[[2, 0, 10, 20]]]


@pytest.mark.slow
def test_prediction_and_serving_prepare_images_as_evaluation_does(forms, tmp_path):
    of = source("dota", forms.dota(tmp_path), image_size=(16, 40), keep_aspect_ratio=True)
    ((evaluated, _),) = take(of, Mode.EVAL)
    path = str(tmp_path / "val" / "images" / "d.png")
    trained = type(of).without_data(params=of.params, info=of.info)
    assert trained.info == of.info
    context = InputContext(batch_size=2)
    (predicted,) = read_elements(trained.prediction_dataset([path, path], context))
    assert predicted["name"].tolist() == [path.encode()] * 2
    forms_of = of.raw_serving()
    features = forms_of["encoded"].features({"image_bytes": tf.io.read_file(path)[tf.newaxis]})
    pixels = forms_of["pixels"].features({"image": tf.constant(forms.image_of("d")[np.newaxis])})
    served = run_initialized([features, pixels])
    for found in (predicted, *served):
        for name in ("image", "image_size", "original_size"):
            np.testing.assert_array_equal(found[name][:1], evaluated[name])
    assert of.serving_features()["image"].shape.as_list() == [None, 16, 40, 3]
    fixed = trained.raw_serving(fixed_size=True)["pixels"]
    assert fixed.specs["image"].shape.as_list() == [None, 16, 40, 3]


def coco(change):
    """Changes the JSON file to train on."""

    def write(folder):
        path = folder / "annotations/instances_train2017.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return write


def box(*numbers):
    return annotation(bbox=[*numbers])


def annotation(**fields):
    return coco(lambda content: content["annotations"][0].update(fields))


def file(name, content):
    """Writes a file of the folder; None: removes it."""
    data = content.encode() if isinstance(content, str) else content

    def write(folder):
        (folder / name).unlink() if data is None else (folder / name).write_bytes(data)

    return write


def line(text):
    return file("train/labelTxt/a.txt", text)


def replaced(old, new):
    def write(folder):
        path = folder / "Annotations/a.xml"
        path.write_text(path.read_text().replace(old, new))

    return write


CUT = "1 1 9 1 9 9 1 9"
# Header of a bitmap of 60000 x 60000 pixels.
HUGE = b"BM" + struct.pack("<IIIIiiHH24x", 0, 0, 54, 40, 60000, 60000, 1, 24)
TRAIN, IMAGE, XML = "annotations/instances_train2017.json", "JPEGImages/a.png", "Annotations/a.xml"
SIZE = "a.xml: it says that .*a.png is 24 x 33 pixels, but it is 24 x 32"
# Format -> name of a fault -> change of the folder, message, and training photographs left with
# skip_corrupt.
BAD = {
    "coco_json": {
        "outside": (box(40, 3, 5, 5), "annotation 0: its box, .* outs", 2),
        "empty": (box(2, 3, 0, 5), "columns 2 to 2, is empty", 2),
        "inverted": (box(9, 3, -4, 5), "columns 9 to 5, is inverted", 2),
        "not finite": (box(9, float("nan"), 4, 5), "is not finite", 2),
        "too large": (box(10**400, 3, 4, 5), "its bbox has a number that is too large", 2),
        "list as image": (annotation(image_id=[1]), r"there is no image \[1\]", 3),
        "category id": (
            coco(lambda content: content["categories"][0].update(id=float("inf"))),
            *("category 0 of the list has no id, which is a number", None),
        ),
        "category twice": (
            coco(lambda content: content["categories"].append({"id": 20, "name": "cat"})),
            *("two categories with the name 'cat'", None),
        ),
        "no annotation list": (
            coco(lambda content: content.pop("annotations")),
            *("no list annotations; is it a file of instances", None),
        ),
        "numbers": (box(9, 4, 5), "its bbox has 3 instead of 4", 2),
        "category": (annotation(category_id=3), "its category 3 is none of", 2),
        "unknown image": (annotation(image_id=3), "there is no image 3", 3),
        "id twice": (annotation(id=1), "has the annotation id 1 twice", 2),
        "no file name": (
            coco(lambda content: content["images"][1].pop("file_name")),
            *("image 98: it has no file_name", 2),
        ),
        "no image at all": (
            coco(lambda content: content.update(images=[], annotations=[])),
            *("has no photograph to train on", None),
        ),
        "endless JSON": (file(TRAIN, "[" * 100000), "instances_train2017.json is no JSON: ", None),
        "no JSON": (file(TRAIN, "{"), "instances_train2017.json is no JSON: ", None),
        "no list": (coco(lambda content: content.pop("images")), "no list images", None),
    },
    "voc_xml": {
        "missing": (file(IMAGE, None), "a.jpg, of .*a.xml: it is missing", 2),
        "no image": (file(IMAGE, "no"), "a.png, of .*a.xml: it is no JPEG", 2),
        "too many pixels": (
            file(IMAGE, HUGE),
            "a.png, of .*xml: it is 60000 x 60000 pixels, more",
            2,
        ),
        "other size": (replaced("<width>32", "<width>33"), SIZE, 2),
        "no XML": (replaced("</object>", ""), "a.xml is no XML: ", 2),
        "other XML": (file(XML, "<svg/>"), "a.xml has no annotation, but 'svg'", 2),
        "no edge": (replaced("xmin>", "x>"), "object 1: its bndbox has 3 instead of 4", 2),
        "no annotation": (file(XML, None), "a.png has no annotation: write .*a.xml, without", 2),
    },
    "dota": {
        "fields": (line("1 2 3 4 5 6 cat 0"), "line 1: it has 8 fields instead of 10", 2),
        "no number": (line(f"{CUT[:-1]}x cat 0"), "line 1: .* something that is no number", 2),
        "crossed": (line("5 5 25 23 25 5 5 23 cat 0"), "line 1: its four corners enclose no", 2),
        "class": (line(f"\n{CUT} cow 0"), "line 2: its class 'cow' is none of cat, dog", 2),
        "no text": (line(b"\xff\xfe\x00"), "a.txt cannot be read: it is no text", 2),
    },
}


@pytest.mark.parametrize(("name", "fault"), [(name, fault) for name in BAD for fault in BAD[name]])
def test_bad_data_is_named_at_the_start_or_left_out(forms, tmp_path, name, fault):
    spoil, message, left = BAD[name][fault]
    folder = getattr(forms, name)(tmp_path)
    spoil(folder)
    if name == "dota":
        (folder / "classes.txt").write_text("cat\ndog\n")
    with pytest.raises(DataError, match=message) as caught:
        source(name, folder)
    assert "\n" not in str(caught.value)
    if left is not None:
        of = source(name, folder, skip_corrupt=True)
        assert of.info.num_examples[Mode.TRAIN] == left
        assert len(of.splits[Mode.TRAIN].damaged) >= 1


def test_an_image_that_is_cut_is_found_before_the_first_step(forms, tmp_path):
    folder = forms.dota(tmp_path)
    path = folder / "train/images/a.png"
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(DataError, match=r"a\.png, .* it cannot be decoded: image file is"):
        source("dota", folder)


def test_an_image_that_is_damaged_ends_the_run_or_is_left_out_and_counted(forms, tmp_path):
    folder = forms.dota(tmp_path)
    path = folder / "train/images/a.png"
    # Bytes are missing before its end.
    path.write_bytes(path.read_bytes()[:-500] + path.read_bytes()[-12:])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"a\.png: it cannot be decoded"):
        take(source("dota", folder), Mode.TRAIN, 2)
    (folder / "train/labelTxt/c.txt").write_text("1 2 3\n")
    of = source("dota", folder, skip_corrupt=True)
    ((features, _),) = take(of, Mode.TRAIN, 1, batch_size=2)
    assert features["skipped"][-1] == 2
    assert b"a.png: it cannot be decoded" in features["skipped_first"][-1]


def test_data_without_boxes_sizes_or_own_names(forms, tmp_path):
    folder = forms.dota(tmp_path / "empty")
    (folder / "classes.txt").write_text("cat\n")
    for name in "abc":
        (folder / f"train/labelTxt/{name}.txt").write_text("")
    with pytest.raises(DataError, match="no photograph of .* to train on has a box"):
        source("dota", folder)
    folder = forms.voc_xml(tmp_path / "sizes")
    replaced("<width>32", "<width>\u00b2")(folder)
    assert len(source("voc_xml", folder).splits[Mode.TRAIN].content) == 3
    folder = forms.dota(tmp_path / "names")
    Image.fromarray(forms.image_of("a")).save(folder / "train/images/a.bmp")
    with pytest.raises(DataError, match="has both a.bmp and a.png; remove one"):
        source("dota", folder)


def test_evaluation_splits_without_a_photograph(forms, tmp_path):
    folder = forms.voc_xml(tmp_path)
    (folder / "Annotations/d.xml").write_text("<annotation>")
    with pytest.raises(DataError, match=r"d\.xml is no XML: "):
        source("voc_xml", folder)
    # An evaluation split without a photograph is absent.
    folder = forms.coco_json(tmp_path)
    content = {"images": [], "annotations": [], "categories": forms.categories}
    (folder / "annotations/instances_val2017.json").write_text(json.dumps(content))
    of = source("coco_json", folder)
    with pytest.raises(NoDataError, match=f"^{tmp_path} has no photograph to evaluate$"):
        of.dataset(Mode.EVAL, InputContext(batch_size=1))
