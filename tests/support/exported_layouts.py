"""Small data sets in the folders and files that annotation programs export.

Each function names the document or source of its structure. All have the same pictures: dark noise
with a bright rectangle for each object.
"""

import json
from pathlib import Path

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 24, 32
CLASSES = ("cone", "sign")
# Left, upper, right and lower edge in pixels, and the class, of the objects of each picture.
OBJECTS = {
    "p0": [(2, 3, 12, 9, "cone"), (18, 4, 30, 20, "sign")],
    "p1": [(5, 5, 15, 21, "sign")],
    "p2": [(1, 2, 31, 22, "cone")],
    "p3": [(8, 8, 20, 16, "sign")],
}
TRAIN, VALID = ("p0", "p1", "p2"), ("p3",)
BRIGHT = {"cone": (250, 240, 60), "sign": (60, 200, 250)}


def picture(path: Path) -> None:
    """Writes the picture of the name that ends the path."""
    name = path.stem[-2:]
    pixels = np.random.RandomState(int(name[1])).randint(0, 60, [HEIGHT, WIDTH, 3]).astype(np.uint8)
    for left, upper, right, lower, kind in OBJECTS[name]:
        pixels[upper:lower, left:right] = BRIGHT[kind]
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def text(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def outline(left, upper, right, lower):
    return [left, upper, right, upper, right, lower, left, lower]


def yolo_lines(name: str, form: str) -> str:
    lines = []
    for *edges, kind in OBJECTS[name]:
        left, upper, right, lower = edges
        values = {
            "boxes": [(left + right) / 2, (upper + lower) / 2, right - left, lower - upper],
            "obb": outline(*edges),
            # A polygon with a fifth point.
            "segments": [*outline(*edges), left, (upper + lower) / 2],
        }[form]
        sides = (WIDTH, HEIGHT) * 5
        shares = [f"{value / side:.6f}" for value, side in zip(values, sides, strict=False)]
        lines.append(" ".join([str(CLASSES.index(kind)), *shares]))
    return "".join(f"{line}\n" for line in lines)


def yolo_pairs(root, images, labels, names, form="boxes", prefix=""):
    """Writes pictures and label files into two folders."""
    for name in names:
        picture(root / images / f"{prefix}{name}.png")
        text(root / labels / f"{prefix}{name}.txt", yolo_lines(name, form))


def ultralytics(root, form="boxes"):
    """docs.ultralytics.com/datasets/detect, /obb and /segment: coco8, dota8, coco8-seg."""
    for split, names in (("train", TRAIN), ("val", VALID)):
        yolo_pairs(root, f"images/{split}", f"labels/{split}", names, form)
    text(
        root / "data.yaml",
        "path: coco8 # dataset root dir\ntrain: images/train\nval: images/val\ntest: # optional\n\n"
        "names:\n  0: cone\n  1: sign\n",
    )


def ultralytics_obb(root):
    ultralytics(root, "obb")


def ultralytics_seg(root):
    ultralytics(root, "segments")


def roboflow_yolo(root):
    """roboflow.com/formats/yolov8-pytorch-txt."""
    for split, names in (("train", TRAIN), ("valid", VALID)):
        yolo_pairs(root, f"{split}/images", f"{split}/labels", names)
    text(
        root / "data.yaml",
        "train: ../train/images\nval: ../valid/images\ntest: ../test/images\n\nnc: 2\n"
        "names: ['cone', 'sign']\n\nroboflow:\n  workspace: w\n  project: p\n  version: 1\n",
    )
    text(root / "README.dataset.txt", "# p > 1\nhttps://universe.roboflow.com\n")


def cvat_ultralytics(root):
    """docs.cvat.ai, format-yolo-ultralytics."""
    for split, names in (("train", TRAIN), ("val", VALID)):
        yolo_pairs(root, f"images/{split}", f"labels/{split}", names)
        text(root / f"{split}.txt", "".join(f"data/images/{split}/{n}.png\n" for n in names))
    text(
        root / "data.yaml",
        "names:\n  0: cone\n  1: sign\npath: .\ntrain: train.txt\nval: val.txt\n",
    )


def cvat_yolo(root):
    """docs.cvat.ai, format-yolo: YOLO 1.1."""
    for split, names in (("train", TRAIN), ("valid", VALID)):
        yolo_pairs(root, f"obj_{split}_data", f"obj_{split}_data", names)
        text(root / f"{split}.txt", "".join(f"data/obj_{split}_data/{n}.png\n" for n in names))
    text(root / "obj.names", "cone\nsign\n")
    text(root / "obj.data", "classes = 2\ntrain = data/train.txt\nnames = data/obj.names\n")


def label_studio_yolo(root):
    """HumanSignal/label-studio-sdk, converter: `YOLO`."""
    yolo_pairs(root, "images", "labels", OBJECTS, prefix="5f2d1c3a-")
    text(root / "classes.txt", "cone\nsign\n")
    text(root / "notes.json", {"categories": [{"id": 0, "name": "cone"}], "info": {"year": 2024}})


def labelme2yolo(root):
    """The package labelme2yolo: YOLODataset."""
    for split, names in (("train", TRAIN), ("val", VALID)):
        yolo_pairs(root, f"images/{split}", f"labels/{split}", names)
    text(
        root / "dataset.yaml",
        f"path: {root}\ntrain: images/train\nval: images/val\ntest: images/test\nnames:\n"
        "  0: cone\n  1: sign\n",
    )


def coco(names, *, file_name="{}.png", first_id=1, outlines=True):
    """The content of a JSON file of COCO."""
    ids = {kind: number for number, kind in enumerate(CLASSES, first_id)}
    objects = [(image, *row) for image, name in enumerate(names) for row in OBJECTS[name]]
    return {
        "info": {"year": 2024, "version": "1", "description": ""},
        "licenses": [{"id": 1, "name": "", "url": ""}],
        "categories": [{"id": id_, "name": name} for name, id_ in ids.items()],
        "images": [
            {"id": number, "file_name": file_name.format(name), "height": HEIGHT, "width": WIDTH}
            for number, name in enumerate(names)
        ],
        "annotations": [
            {
                "id": number,
                "image_id": image,
                "category_id": ids[kind],
                "bbox": [left, upper, right - left, lower - upper],
                "area": (right - left) * (lower - upper),
                "segmentation": [outline(left, upper, right, lower)] if outlines else [],
                "iscrowd": 0,
            }
            for number, (image, left, upper, right, lower, kind) in enumerate(objects)
        ],
    }


def coco_2017(root):
    """cocodataset.org: the unpacked archives."""
    for split, names in (("train2017", TRAIN), ("val2017", VALID)):
        text(root / f"annotations/instances_{split}.json", coco(names))
        for name in names:
            picture(root / split / f"{name}.png")


def roboflow_coco(root):
    """roboflow.com/formats/coco-json."""
    for split, names in (("train", TRAIN), ("valid", VALID)):
        text(root / split / "_annotations.coco.json", coco(names))
        for name in names:
            picture(root / split / f"{name}.png")


def cvat_coco(root):
    """docs.cvat.ai, format-coco: one subset, `default`."""
    text(root / "annotations/instances_default.json", coco(OBJECTS))
    for name in OBJECTS:
        picture(root / f"images/default/{name}.png")


def label_studio_coco(root):
    """HumanSignal/label-studio-sdk, converter: `COCO`."""
    content = coco(OBJECTS, file_name="images/5f2d1c3a-{}.png", first_id=0)
    text(root / "result.json", content)
    for name in OBJECTS:
        picture(root / f"images/5f2d1c3a-{name}.png")


def labelme2coco(root):
    """wkentaro/labelme, examples/instance_segmentation/labelme2coco.py."""
    text(root / "annotations.json", coco(OBJECTS, file_name="JPEGImages/{}.png"))
    for name in OBJECTS:
        picture(root / f"JPEGImages/{name}.png")
        picture(root / f"Visualization/{name}.png")


def xml(name):
    """The content of an XML file of PASCAL VOC; pixels count from 1."""
    objects = "".join(
        f"<object><name>{kind}</name><pose>Unspecified</pose><truncated>0</truncated>"
        f"<difficult>0</difficult><bndbox><xmin>{left + 1}</xmin><ymin>{upper + 1}</ymin>"
        f"<xmax>{right}</xmax><ymax>{lower}</ymax></bndbox></object>"
        for left, upper, right, lower, kind in OBJECTS[name]
    )
    return (
        f"<annotation><folder></folder><filename>{name}.png</filename><size><width>{WIDTH}</width>"
        f"<height>{HEIGHT}</height><depth>3</depth></size>{objects}</annotation>"
    )


def roboflow_voc(root):
    """roboflow.com/formats/pascal-voc-xml: images and XML files side by side."""
    for split, names in (("train", TRAIN), ("valid", VALID)):
        for name in names:
            picture(root / split / f"{name}.png")
            text(root / split / f"{name}.xml", xml(name))


def cvat_voc(root):
    """docs.cvat.ai, format-voc."""
    for name in OBJECTS:
        picture(root / f"JPEGImages/{name}.png")
        text(root / f"Annotations/{name}.xml", xml(name))
    text(root / "ImageSets/Main/default.txt", "".join(f"{name}\n" for name in OBJECTS))
    text(root / "labelmap.txt", "# label:color_rgb:parts:actions\ncone:1,2,3::\nsign:4,5,6::\n")


def label_studio_voc(root):
    """HumanSignal/label-studio-sdk, converter: `VOC`."""
    for name in OBJECTS:
        picture(root / f"images/{name}.png")
        text(root / f"Annotations/{name}.xml", xml(name))


def labelme2voc(root):
    """wkentaro/labelme, examples/bbox_detection/labelme2voc.py."""
    for name in OBJECTS:
        picture(root / f"JPEGImages/{name}.png")
        picture(root / f"AnnotationsVisualization/{name}.png")
        text(root / f"Annotations/{name}.xml", xml(name))
    text(root / "class_names.txt", "_background_\ncone\nsign\n")


def labelme(root):
    """wkentaro/labelme: the files that the program saves."""
    for name, rows in OBJECTS.items():
        picture(root / f"{name}.png")
        shapes = [
            {
                "label": kind,
                "points": [[left, upper], [right, upper], [right, lower], [left, lower]],
                "group_id": None,
                "description": "",
                "shape_type": "polygon",
                "flags": {},
                "mask": None,
            }
            for left, upper, right, lower, kind in rows
        ]
        content = {"version": "5.5.0", "flags": {}, "shapes": shapes, "imagePath": f"{name}.png"}
        size = {"imageData": None, "imageHeight": HEIGHT, "imageWidth": WIDTH}
        text(root / f"{name}.json", {**content, **size})


def mask(path: Path, colours=None) -> None:
    """Writes the mask of the picture of the name that ends the path: values, or colours of them."""
    name = path.stem.removesuffix("_mask")[-2:]
    values = np.zeros([HEIGHT, WIDTH], np.uint8)
    for left, upper, right, lower, kind in OBJECTS[name]:
        values[upper:lower, left:right] = 1 + CLASSES.index(kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(values if colours is None else np.array(colours, np.uint8)[values]).save(path)


def roboflow_masks(root):
    """roboflow.com/formats/semantic-segmentation-masks."""
    for split, names in (("train", TRAIN), ("valid", VALID)):
        for name in names:
            picture(root / split / f"{name}.png")
            mask(root / split / f"{name}_mask.png")
        text(root / split / "_classes.csv", "Pixel Value, Class\n0, background\n1, cone\n2, sign\n")


def cvat_masks(root):
    """docs.cvat.ai, format-smask: Segmentation mask 1.1."""
    for name in OBJECTS:
        picture(root / f"JPEGImages/{name}.png")
        for folder in ("SegmentationClass", "SegmentationObject"):
            mask(root / folder / f"{name}.png", [(0, 0, 0), (250, 50, 83), (52, 209, 183)])
    text(root / "ImageSets/Segmentation/default.txt", "".join(f"{name}\n" for name in OBJECTS))
    lines = ("# label:color_rgb:parts:actions", "cone:250,50,83::", "background:0,0,0::")
    text(root / "labelmap.txt", "\n".join([*lines, "sign:52,209,183::", ""]))


def labelme2voc_masks(root):
    """wkentaro/labelme, examples/semantic_segmentation/labelme2voc.py."""
    for name in OBJECTS:
        picture(root / f"JPEGImages/{name}.png")
        mask(root / f"SegmentationClass/{name}.png")
        picture(root / f"SegmentationClassVisualization/{name}.png")
    text(root / "class_names.txt", "_background_\ncone\nsign\n")


def label_studio_yolo_seg(root):
    """HumanSignal/label-studio-sdk, converter: `YOLO` of polygons."""
    yolo_pairs(root, "images", "labels", OBJECTS, "segments", prefix="5f2d1c3a-")
    text(root / "classes.txt", "cone\nsign\n")


# Function -> the input of detection.
DETECTION = {
    **dict.fromkeys([ultralytics, ultralytics_obb, ultralytics_seg, roboflow_yolo], "yolo"),
    **dict.fromkeys([cvat_ultralytics, cvat_yolo, label_studio_yolo, labelme2yolo], "yolo"),
    **dict.fromkeys([coco_2017, roboflow_coco, cvat_coco, label_studio_coco], "coco_json"),
    labelme2coco: "coco_json",
    **dict.fromkeys([roboflow_voc, cvat_voc, label_studio_voc, labelme2voc], "voc_xml"),
    labelme: "labelme",
}
# Function -> the input of deeplab.
MASKS = {
    **dict.fromkeys([roboflow_masks, cvat_masks, labelme2voc_masks], "segmentation_folder"),
    **dict.fromkeys([ultralytics_seg, ultralytics_obb, label_studio_yolo_seg], "yolo_masks"),
    **dict.fromkeys([coco_2017, roboflow_coco, cvat_coco, label_studio_coco], "coco_masks"),
    labelme2coco: "coco_masks",
    labelme: "labelme_masks",
}
