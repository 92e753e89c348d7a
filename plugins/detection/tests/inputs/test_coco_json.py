"""COCO's JSON as programs write it: ids, layouts, images that are listed twice, root categories."""

import json

import numpy as np
import pytest
from PIL import Image

from tf_frame import Mode
from tf_frame.errors import ConfigError, DataError
from tf_frame_detection.inputs.coco_json import CocoJson, Params
from tf_frame_vision.reading import cache

BOX = [6, 4, 20, 16]


def content(count=3, **changes):
    """A file with an image for each number, and a box on each."""
    return {
        "images": [
            {"id": n, "file_name": f"p{n}.png", "width": 48, "height": 32} for n in range(count)
        ],
        "annotations": [
            {"id": n, "image_id": n, "category_id": 1, "bbox": BOX, "iscrowd": 0}
            for n in range(count)
        ],
        "categories": [{"id": 1, "name": "cone", "supercategory": "object"}],
        **changes,
    }


def each(records, **changes):
    """Records with values that are functions of their own ones."""
    return [
        {**record, **{key: change(record.get(key)) for key, change in changes.items()}}
        for record in records
    ]


def write(root, file, images, data):
    (root / images).mkdir(parents=True, exist_ok=True)
    pixels = Image.fromarray(np.zeros([32, 48, 3], np.uint8))
    for n in range(4):
        pixels.save(root / images / f"p{n}.png")
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return root


def source(root, **options):
    values = {"image_size": (), "data_augmentation": (), "eval_fraction": 0.0, **options}
    return CocoJson(params=Params(data_dir=str(root), **values))


def photographs(root, **options):
    return list(source(root, **options).splits[Mode.TRAIN].content)


PLAIN = content()
WRITINGS = {
    "ids as text": content(
        images=each(PLAIN["images"], id=str),
        annotations=each(PLAIN["annotations"], id=str, image_id=str, category_id=str),
        categories=each(PLAIN["categories"], id=str),
    ),
    "floats": content(
        images=each(PLAIN["images"], width=float, height=float),
        annotations=each(PLAIN["annotations"], image_id=float, category_id=float, iscrowd=bool),
    ),
    "numbers as text": content(
        images=each(PLAIN["images"], width=str, height=str),
        annotations=each(
            PLAIN["annotations"], bbox=lambda box: [*map(str, box)], iscrowd=lambda _: "0"
        ),
    ),
    "nothing but what counts": content(
        images=each(PLAIN["images"], width=lambda _: None, height=lambda _: None),
        annotations=each(PLAIN["annotations"], iscrowd=lambda _: None, area=lambda _: float("nan")),
    ),
    "other order": dict(reversed(PLAIN.items())),
}


@pytest.mark.parametrize("writing", WRITINGS)
def test_numbers_are_read_as_programs_write_them(tmp_path, writing):
    write(tmp_path, "a.json", "images", WRITINGS[writing])
    read = photographs(tmp_path)
    assert [(one.path.name, one.image_id) for one in read] == [
        ("p0.png", 0),
        ("p1.png", 1),
        ("p2.png", 2),
    ]
    assert [[(mark.box, mark.crowd) for mark in one.marks] for one in read] == [
        [((4, 6, 20, 26), False)]
    ] * 3


@pytest.mark.parametrize("changed", ["image-{}".format, lambda id_: 2**63 + id_])
def test_ids_that_are_no_numbers_or_large_keep_images_and_annotations_together(tmp_path, changed):
    data = content(
        images=each(PLAIN["images"], id=changed),
        annotations=each(PLAIN["annotations"], id=lambda id_: f"a{id_}", image_id=changed),
    )
    data["annotations"].reverse()
    read = photographs(write(tmp_path, "a.json", "images", data))
    assert [(one.image_id, one.marks[0].record) for one in read] == [
        (None, f"annotation a{n}") for n in range(3)
    ]


def test_an_image_that_is_listed_twice_is_one_example_with_all_objects(tmp_path):
    data = content()
    data["images"].append({**data["images"][0], "id": 99, "file_name": "./p0.png"})
    data["annotations"].append({**data["annotations"][0], "id": 99, "image_id": 99})
    of = source(write(tmp_path, "a.json", "images", data))
    assert [(one.image_id, len(one.marks)) for one in of.splits[Mode.TRAIN].content] == [
        *((0, 2), (1, 1), (2, 1))
    ]
    assert "lists 1 images more than once; each is one example with" in of.notes()[0]
    data["images"][-1]["height"] = 33
    write(tmp_path, "a.json", "images", data)
    with pytest.raises(DataError, match="image 99: another record says that .*p0.png has another"):
        source(tmp_path)


def test_an_id_of_two_images_takes_both_out(tmp_path):
    data = content()
    data["images"][1]["id"] = 0
    write(tmp_path, "a.json", "images", data)
    with pytest.raises(DataError, match="image 0: the file has the image id 0 twice"):
        source(tmp_path)
    assert [one.path.name for one in photographs(tmp_path, skip_corrupt=True)] == ["p2.png"]


@pytest.mark.parametrize(
    ("categories", "names"),
    [
        ([(0, "cones", "none"), (1, "cone", "cones")], ("cone",)),
        ([(0, "cone", "none"), (1, "cone", "cone")], ("cone",)),
        ([(0, "cones", "none"), (1, "cone", "cones"), (2, "x", "other")], ("cones", "cone", "x")),
        ([(1, "cones", "none"), (2, "cone", "cones")], ("cones", "cone")),
    ],
)
def test_the_root_category_of_roboflow_is_no_class(tmp_path, categories, names):
    data = content(
        categories=[
            {"id": id_, "name": name, "supercategory": above} for id_, name, above in categories
        ]
    )
    of = source(write(tmp_path, "a.json", "images", data))
    assert of.info.class_names == names
    assert [note for note in of.notes() if "is the root above all others" in note] == [
        f"the category 0, {categories[0][1]!r}, is the root above all others and has no object; "
        "it is no class"
    ] * (names == ("cone",))
    assert {mark.number for one in of.splits[Mode.TRAIN].content for mark in one.marks} == {
        names.index("cone") if categories[0][0] == 0 else 0,
    }


LAYOUTS = {
    "Label Studio": ("result.json", "images", "images/{}"),
    "Label Studio on Windows": ("result.json", "images", "images\\{}"),
    "CVAT": ("annotations/instances_default.json", "images/default", "{}"),
    "COCO": ("annotations/instances_train2017.json", "train2017", "{}"),
    "Roboflow": ("train/_annotations.coco.json", "train", "{}"),
    "data folder": ("labels.json", ".", "{}"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_programs_are_found(tmp_path, layout):
    file, images, form = LAYOUTS[layout]
    data = content(images=each(PLAIN["images"], file_name=form.format))
    write(tmp_path, file, images, data)
    (tmp_path / "._labels.json").write_bytes(b"\0\5\x16\7")
    read = photographs(tmp_path)
    assert [one.path for one in read] == [tmp_path / images / f"p{n}.png" for n in range(3)]


def test_the_test_part_is_evaluated_only_if_it_is_asked_for(tmp_path):
    for split, count in (("train", 3), ("valid", 2), ("test", 1)):
        write(tmp_path, f"{split}/_annotations.coco.json", split, content(count))
    of = source(tmp_path)
    assert of.info.num_examples[Mode.EVAL] == 2
    assert of.notes() == ("test is not used; --input.eval_split test evaluates the test part",)
    assert source(tmp_path, eval_split="test").info.num_examples[Mode.EVAL] == 1

    given = {"train_annotations": "train/_annotations.coco.json"}
    of = source(tmp_path, **given)
    assert of.info.num_examples[Mode.EVAL] == 0
    assert of.notes() == ("test and valid are not used",)
    assert source(tmp_path, **given, eval_split="test").info.num_examples[Mode.EVAL] == 1
    given = {"eval_annotations": "test/_annotations.coco.json"}
    assert source(tmp_path, **given).notes() == ("test and valid are not used",)
    with pytest.raises(ConfigError, match="--input.eval_annotations both choose the evaluation"):
        source(tmp_path, **given, eval_split="test")


def test_other_categories_of_the_file_to_evaluate_are_named(tmp_path):
    write(tmp_path, "annotations/instances_train.json", "train", content())
    categories = [{"id": 1, "name": "Cone"}, {"id": 2, "name": "barrel"}]
    other = content(categories=categories)
    write(tmp_path, "annotations/instances_val.json", "val", other)
    with pytest.raises(DataError, match="have other categories: 1 is 'cone' in the first and 'Con"):
        source(tmp_path)


def test_paths_lead_out_of_the_data_folder_only_if_they_may(tmp_path):
    root = write(tmp_path / "data", "a.json", "images", content())
    Image.new("RGB", (48, 32)).save(tmp_path / "x.png")
    for name in ("../../x.png", str(tmp_path / "x.png")):
        data = content(images=[{**PLAIN["images"][0], "file_name": name}, *PLAIN["images"][1:]])
        (root / "a.json").write_text(json.dumps(data))
        with pytest.raises(DataError, match="leads out of the data folder"):
            source(root)
        assert len(photographs(root, allow_outside=True)) == 3


def test_two_names_of_one_image_are_refused(tmp_path):
    second = {**PLAIN["images"][1], "file_name": "images/p0.png"}
    data = content(images=[PLAIN["images"][0], second, *PLAIN["images"][2:]])
    write(tmp_path, "a.json", "images", data)
    with pytest.raises(DataError, match=r"a.json has several names for the image images/p0.png;"):
        source(tmp_path)


def test_annotations_and_headers_are_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "KEPT_AFTER_SECS", 0)
    data = content()
    data["annotations"][0].update(id="odd", iscrowd=1)
    data["annotations"][1].update(bbox=[1, 2])
    data["annotations"].append({"id": 7, "image_id": 8, "category_id": 1, "bbox": BOX})
    write(tmp_path, "a.json", "images", data)

    def read():
        split = source(tmp_path, skip_corrupt=True).splits[Mode.TRAIN]
        return list(split.content), split.damaged

    first = read()
    assert [line.partition("a.json, ")[2] for line in first[1]] == [
        "annotation 7: there is no image 8",
        "annotation 1: its bbox has 2 instead of 4 numbers",
    ]
    monkeypatch.setattr("tf_frame_vision.formats.coco_file._read", None)
    monkeypatch.setattr("tf_frame_vision.reading.headers.open_image", None)
    assert read() == first
    reasons = [line.reason for line in first[1]]
    assert [line.reason for line in read()[1]] == reasons
