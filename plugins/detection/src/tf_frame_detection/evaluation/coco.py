"""COCO's twelve figures, by COCO's own program, the package `pycocotools`.

They are there if it is installed: `pip install tf-frame-detection[coco]`. Small, medium and large
are areas of boxes up to 32 * 32 and 96 * 96 pixels, and larger; COCO itself takes those of masks.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import math
from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame_detection.evaluation.images import Array, Image

# In the order of `COCOeval.stats`, with the names that Detectron2 gives those of precision.
COCO_FIGURES = (
    *("ap", "ap50", "ap75", "aps", "apm", "apl"),
    *("ar1", "ar10", "ar100", "ars", "arm", "arl"),
)
# In no range of sizes, so that COCOeval ignores the box.
_NO_SIZE = -1.0


def has_pycocotools() -> bool:
    """Returns whether the package is installed."""
    return importlib.util.find_spec("pycocotools") is not None


def coco_figures(images: Sequence[Image], num_classes: int) -> dict[str, float]:
    """Computes the figures of upright boxes.

    Args:
      images: all images of the evaluation.

    Returns:
      The figures by the names in `COCO_FIGURES`; NaN for those without boxes, where COCO has -1.

    Raises:
      ConfigError: the package is installed, but cannot be imported.
    """
    try:
        from pycocotools.cocoeval import COCOeval
    except (ImportError, ValueError) as error:  # ValueError: it was built for another NumPy.
        raise ConfigError(
            f"pycocotools is installed, but cannot be imported: {error}; install it again, or "
            "remove it, and ap50 and ap are evaluated alone"
        ) from error

    # The package prints what it does.
    with contextlib.redirect_stdout(io.StringIO()):
        truth = _coco(images, num_classes, list(_annotations(images)))
        results = _coco(images, num_classes, list(_results(images)))
        evaluation = COCOeval(truth, results, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    stats = (float(value) if value >= 0 else math.nan for value in evaluation.stats)
    return dict(zip(COCO_FIGURES, stats, strict=True))


def _coco(images: Sequence[Image], num_classes: int, annotations: list[Any]) -> Any:
    from pycocotools.coco import COCO

    coco = COCO()
    coco.dataset = {
        "images": [{"id": number} for number in range(len(images))],
        "categories": [{"id": label} for label in range(num_classes)],
        # COCOeval takes 0 for no box at all.
        "annotations": [{"id": number, **each} for number, each in enumerate(annotations, 1)],
    }
    coco.createIndex()
    return coco


def _annotations(images: Sequence[Image]) -> Iterator[dict[str, Any]]:
    for number, (truth, _) in enumerate(images):
        for box, label, is_ignored, is_crowd in zip(*truth, strict=True):
            described = _described(number, box, label) | {"iscrowd": int(is_crowd)}
            yield described | ({"area": _NO_SIZE} if is_ignored else {})


def _results(images: Sequence[Image]) -> Iterator[dict[str, Any]]:
    for number, (_, found) in enumerate(images):
        for box, score, label in zip(*found, strict=True):
            yield _described(number, box, label) | {"score": float(score), "iscrowd": 0}


def _described(image: int, box: Array, label: Any) -> dict[str, Any]:
    x, y, width, height = xywh(box)
    return {
        "image_id": image,
        "category_id": int(label),
        "bbox": [x, y, width, height],
        "area": width * height,
    }


def xywh(box: Array) -> list[float]:
    """Returns a box as COCO's files have it: left and upper edge, width and height."""
    upper, left, lower, right = map(float, box)
    return [left, upper, right - left, lower - upper]
