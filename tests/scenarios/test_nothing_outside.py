"""No file outside of the data folder is opened because a data file names it.

Python's audit events tell which files are opened; nothing here starts TensorFlow's own reading.
"""

import json
import os
import sys

import pytest

import exported_layouts as layouts
from tf_frame.errors import DataError
from tf_frame.plugin.kinds import INPUT
from tf_frame.testing.toy import installed_plugin

# Files that were opened while a test wants to know them; a hook cannot be removed.
OPENED = []
WATCHED = []


def note(event, arguments):
    if WATCHED and event == "open" and isinstance(arguments[0], (str, bytes)):
        OPENED.append(os.path.realpath(os.fsdecode(arguments[0])))


sys.addaudithook(note)


def changed_json(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def coco(root, name):
    layouts.coco_2017(root)
    path = root / "annotations/instances_train2017.json"
    changed_json(path, lambda content: content["images"][0].update(file_name=f"{name}.png"))


def labelme(root, name):
    layouts.labelme(root)
    (root / "p0.png").unlink()
    changed_json(root / "p0.json", lambda content: content.update(imagePath=f"{name}.png"))


def yolo_folder(root, name):
    layouts.ultralytics_seg(root)
    folder = os.path.dirname(name.replace("\\", "/"))
    layouts.text(root / "data.yaml", f"train: {folder}\nval: images/val\nnames: [cone, sign]\n")


def yolo_list(root, name):
    layouts.cvat_yolo(root)
    layouts.text(root / "train.txt", f"{name}.png\n")


def voc_list(root, name):
    layouts.cvat_voc(root)
    layouts.text(root / "ImageSets/Main/default.txt", f"p0\n{name}\n")


def words(root, name):
    layouts.picture(root / "p0.png")
    layouts.text(root / "labels.txt", f"p0.png\tword\n{name}.png\tword\n")


CASES = {
    "coco_json": coco,
    "coco_masks": coco,
    "labelme": labelme,
    "labelme_masks": labelme,
    "yolo": yolo_list,
    "yolo_masks": yolo_folder,
    "voc_xml": voc_list,
    "text_folder": words,
}


def opened_outside(name, root, **options):
    """Constructs an input; returns its error, and the files outside that were opened."""
    values = {"input.data_dir": str(root), **{f"input.{key}": v for key, v in options.items()}}
    OPENED.clear()
    WATCHED.append(True)
    error = None
    try:
        installed_plugin(INPUT, name, values, "input").make()
    except DataError as caught:
        error = str(caught)
    finally:
        WATCHED.clear()
    return error, [path for path in OPENED if path.startswith(str(root.parent / "outside"))]


@pytest.mark.parametrize("name", CASES)
def test_a_path_that_leads_out_is_refused_and_not_opened(tmp_path, name):
    outside = tmp_path.resolve() / "outside"
    for ending in (".png", ".jpg"):
        layouts.picture(outside / "far/p0.png")
        (outside / "far/p0.png").rename(outside / f"far/secret{ending}")
    layouts.text(outside / "far/secret.txt", layouts.yolo_lines("p0", "segments"))
    layouts.text(outside / "far/secret.xml", layouts.xml("p0"))
    far = "outside/far/secret"
    for place, path in enumerate((f"{outside.parent}/{far}", f"../../{far}", f"..\\..\\{far}")):
        root = outside.parent / f"{place}/data"
        CASES[name](root, path)
        error, opened = opened_outside(name, root)
        assert error and "leads out of the data folder" in error and "\n" not in error
        assert opened == []


def test_paths_that_lead_out_are_opened_on_request(tmp_path):
    outside = tmp_path.resolve() / "outside"
    layouts.picture(outside / "p0.png")
    coco(outside.parent / "data", f"{outside}/p0")
    error, opened = opened_outside("coco_json", outside.parent / "data", allow_outside=True)
    assert error is None
    assert opened == [f"{outside}/p0.png"]
