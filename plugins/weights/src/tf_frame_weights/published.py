"""Weights in the web: a plugin class for each row of `table`, named as its plugin.

Nobody has tried the files for this package, which thus calls them unverified: the first download is
compared with the hash, where one is known, and with the variables of the network.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame import Weights, WeightsFile
from tf_frame_weights.packaged import FINE_TUNING, read_names
from tf_frame_weights.table import Row, file_facts, rows

_SLIM = "research/slim/README.md and nets/mobilenet_v1.md, nets/mobilenet/README.md"
_DEEPLAB = "research/deeplab/g3doc/model_zoo.md"
_DETECTION = "research/object_detection/g3doc/tf1_detection_zoo.md"
_GOOGLE = "Apache-2.0, Google"
_BGR = "red, green and blue from 0 to 255, less 123.68, 116.78 and 103.94"
_DATASETS = {
    "voc": "PASCAL VOC",
    "cityscapes": "Cityscapes",
    "ade20k": "ADE20K",
    "coco": "COCO",
    "imagenet": "ImageNet",
}
# The side of images that classifiers with another default than 224 pixels have in tf-frame-vision.
_SIDES = {"inception_v3": 299, "inception_v4": 299, "inception_resnet_v2": 299}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """The facts that rows share; see `Weights` for the attributes.

    Attributes:
      title: what follows the network and its size in `about`.
      model_options: options of the model, without the network.
      preset: preset of the model.
    """

    model: str
    title: str
    source: str
    resizing: str
    values: str = "-1 to 1"
    licence: str = _GOOGLE
    model_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    preset: str = ""


_SLIM_KIND = Kind(
    model="classification",
    title="the 1,000 classes of {dataset}",
    source=_SLIM,
    resizing="bilinear, of the middle 87.5 % of height and width",
)
_DEEPLAB_KIND = Kind(
    model="deeplab",
    title="segmentation of {dataset}",
    source=_DEEPLAB,
    resizing="bilinear, with aligned corners; smaller images are padded",
    model_options={"aspp_channels": 256, "batch_norm_decay": 0.9997, "align_corners": True},
)
_DETECTION_KIND = Kind(
    model="detection",
    title="boxes of {dataset}'s classes",
    source=_DETECTION,
    resizing="bilinear, corners as in TensorFlow 1",
)


def _deeplab(**options: Any) -> Kind:
    return dataclasses.replace(
        _DEEPLAB_KIND, model_options={**_DEEPLAB_KIND.model_options, **options}
    )


def _detection(preset: str, **options: Any) -> Kind:
    return dataclasses.replace(_DETECTION_KIND, preset=preset, model_options=options)


KINDS: Mapping[str, Kind] = {
    "slim": _SLIM_KIND,
    "caffe": dataclasses.replace(
        _SLIM_KIND,
        resizing="bilinear, the smaller side to 256 pixels, and the middle of it",
        values=_BGR,
        licence=f"{_GOOGLE}, who converted a Caffe model of the network's authors",
    ),
    "deeplab_xception": _deeplab(atrous_rates=[6, 12, 18], decoder_channels=256),
    "deeplab_mobilenet": _deeplab(pyramid="plain", decoder_channels=0),
    "deeplab_decoder": _deeplab(pyramid="plain", decoder_channels=256),
    "deeplab_lite": _deeplab(
        pyramid="lite",
        aspp_channels=128,
        decoder_output_stride=[8],
        output_stride=32,
        image_pooling_crop_size=[769, 769],
        image_pooling_stride=[4, 5],
    ),
    "backbone": dataclasses.replace(
        _DEEPLAB_KIND, model="", title="a backbone for deeplab, trained on ImageNet"
    ),
    "ssd_mobilenet_v1_coco": _detection("ssd_mobilenet_v1_coco"),
    "ssd_mobilenet_v1_075_coco": _detection(
        "ssd_mobilenet_v1_coco",
        depth_multiplier=0.75,
        classification_loss="focal",
        focal_alpha=0.75,
        hard_example_mining=False,
        normalize_by_code_size=True,
        batch_norm_decay=0.97,
    ),
    "ssd_mobilenet_v1_fpn_coco": _detection(
        "ssd_resnet50_v1_fpn_coco", backbone="mobilenet_v1", weight_decay=4e-5
    ),
    "ssd_resnet50_v1_fpn_coco": dataclasses.replace(
        _detection("ssd_resnet50_v1_fpn_coco"), values=_BGR
    ),
    "ssd_mobilenet_v2_coco": _detection("ssd_mobilenet_v2_coco"),
    "ssdlite_mobilenet_v2_coco": _detection("ssdlite_mobilenet_v2_coco"),
}


def _options(row: Row, kind: Kind) -> dict[str, Any]:
    """Returns the options that the values of a row need."""
    if kind.preset:
        own = {"model": dict(kind.model_options)} if kind.model_options else {}
        return {"preset": kind.preset, **own}
    if kind.model == "classification":
        side, _ = row.image_size
        size = {"image_size": side} if side != _SIDES.get(row.network, 224) else {}
        inputs = {"input": size} if size else {}
        return {"model": {"name": row.network}, **inputs, **FINE_TUNING}
    return {"model": {"backbone": row.network, **kind.model_options}} if kind.model else {}


def _dataset(row: Row) -> str:
    """Returns the data set of the classes, whose names are in `data`; empty: no classes."""
    if not row.classes:
        return ""
    return next(name for name in _DATASETS if f"_{name}" in row.name)


def _make_class(row: Row) -> type[Weights]:
    kind = KINDS[row.kind]
    size, sha256 = file_facts(row.url)

    def file(self: Any) -> WeightsFile:
        """Returns the archive in the web."""
        return WeightsFile(url=row.url, path=row.path, size=size, sha256=sha256)

    def class_names(self: Any) -> Sequence[str]:
        """Returns the names, in the order of the logits; those from Caffe have no background."""
        names = read_names(f"{_dataset(row)}_classes.txt") if row.classes else []
        return names[len(names) - row.classes :]

    height, width = row.image_size
    title = kind.title.format(dataset=_DATASETS.get(_dataset(row)))
    attributes = {
        "__doc__": f"Weights of {row.network}, {height} x {width} pixels.",
        "__module__": __name__,
        "about": f"{row.network}, {height} x {width} pixels: {title}",
        "network": row.network,
        "depth_multiplier": kind.model_options.get("depth_multiplier", 1.0),
        "model": kind.model,
        "options": _options(row, kind),
        "num_classes": row.classes,
        "image_size": row.image_size,
        "resizing": kind.resizing,
        "values": kind.values,
        "figures": row.figures,
        "figures_from": f"tensorflow/models, {kind.source}" if row.figures else "",
        "licence": kind.licence,
        "origin": f"tensorflow/models, {kind.source}",
        "verified": False,
        "file": file,
        "class_names": class_names,
    }
    return type(row.name, (Weights,), attributes)


globals().update({row.name: _make_class(row) for row in rows()})
