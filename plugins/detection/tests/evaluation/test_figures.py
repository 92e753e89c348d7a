import sys

import numpy as np
import pytest

from tf_frame import ClassMetric
from tf_frame.errors import ConfigError
from tf_frame_detection.evaluation import figures as module
from tf_frame_detection.evaluation.coco import COCO_FIGURES, coco_figures
from tf_frame_detection.evaluation.figures import Figures, angle_errors
from tf_frame_detection.evaluation.images import Found, Image, Truth

FIGURES = Figures(class_names=("a", "b", "c"))


def only(images, label):
    """The images without boxes and detections of other classes."""
    return [image.select_class(label) for image in images]


def test_ap_is_that_of_pycocotools_for_all_and_each_class(random_cases, monkeypatch):
    monkeypatch.setattr(module, "has_pycocotools", lambda: False)
    assert set(FIGURES.compute(random_cases[1])) & set(COCO_FIGURES) == {"ap", "ap50"}
    pytest.importorskip("pycocotools")
    for images in random_cases:
        expected = coco_figures(images, 3)
        found = FIGURES.compute(images)
        assert 0.05 < expected["ap"] < expected["ap50"] < 0.95
        for name in ("ap", "ap50"):
            assert found[name] == pytest.approx(expected[name], abs=1e-12)
    # Ap of each class is that of pycocotools.
    found = FIGURES.compute(random_cases[0])
    for label, name in enumerate("abc"):
        expected = coco_figures(only(random_cases[0], label), 3)
        assert found[f"ap50_{name}"] == pytest.approx(expected["ap50"], abs=1e-12, nan_ok=True)
        assert found[f"ap_{name}"] == pytest.approx(expected["ap"], abs=1e-12, nan_ok=True)
    # Nothing of the third class is in this case: means leave it out.
    assert np.isnan([found["ap50_c"], found["ap_c"], found["boxes_c"]]).all()
    assert found["ap50"] == pytest.approx((found["ap50_a"] + found["ap50_b"]) / 2)


def test_a_broken_installation_of_pycocotools_is_named(monkeypatch):
    monkeypatch.setattr(module, "has_pycocotools", lambda: True)
    monkeypatch.setitem(sys.modules, "pycocotools.cocoeval", None)
    with pytest.raises(ConfigError, match="pycocotools is installed, but cannot be imported: "):
        FIGURES.names()


def test_the_other_ten_figures_are_there_with_pycocotools(random_cases):
    pytest.importorskip("pycocotools")
    found = FIGURES.compute(random_cases[1])
    expected = coco_figures(random_cases[1], 3)
    assert {name: found[name] for name in COCO_FIGURES} == pytest.approx(expected)
    assert FIGURES.names() == list(found)
    assert all(value > 0 for value in expected.values())


def image(*, boxes=(), ignored=None, crowd=None, found=(), scores=()):
    boxes, found = (np.reshape(np.array(each, float), [-1, 4]) for each in (boxes, found))
    none = np.zeros(len(boxes), bool)
    truth = Truth(
        boxes,
        np.zeros(len(boxes), int),
        none if ignored is None else np.array(ignored),
        none if crowd is None else np.array(crowd),
    )
    return Image(truth, Found(found, np.array(scores, float), np.zeros(len(found), int)))


BOX, OTHER, FAR = (0, 0, 10, 10), (0, 20, 10, 30), (50, 50, 60, 60)


def one_class(*images):
    return Figures(class_names=("tree",), voc=True).compute(images)


def test_ignored_boxes_and_crowds_are_neither_right_nor_wrong():
    plain = one_class(image(boxes=[BOX], found=[BOX], scores=[0.5]))
    assert plain["ap50"] == plain["voc_ap"] == plain["boxes_tree"] == 1
    with_ignored = one_class(
        image(boxes=[BOX, OTHER], ignored=[False, True], found=[BOX, OTHER], scores=[0.5, 0.9])
    )
    names = ("ap", "ap50", "voc_ap", "voc07_ap", "boxes_tree")
    assert [with_ignored[name] for name in names] == [plain[name] for name in names]
    counted = one_class(image(boxes=[BOX], found=[BOX, OTHER], scores=[0.5, 0.9]))
    assert counted["ap50"] == counted["voc_ap"] == 0.5
    # A crowd takes all detections within.
    crowd = {"boxes": [BOX, (0, 0, 40, 40)], "ignored": [False, True]}
    inside = {"found": [BOX, (12, 0, 22, 10), (12, 12, 22, 22)], "scores": [0.5, 0.9, 0.8]}
    assert one_class(image(**crowd, crowd=[False, True], **inside))["ap50"] == 1
    # An ignored box that is no crowd is compared by IoU.
    figure = one_class(image(**crowd, **inside))["ap50"]
    assert figure == pytest.approx(1 / 3)
    found = one_class(image(), image(found=[BOX], scores=[0.9]))
    names = ("ap", "ap50", "voc_ap", "voc07_ap", "ap50_tree")
    assert np.isnan([found[name] for name in names]).all()
    # Boxes without detections count.
    missed, hit = image(boxes=[BOX]), image(boxes=[BOX], found=[BOX], scores=[0.9])
    assert one_class(missed)["ap50"] == 0
    # Recalls 0 to 0.5 of 101 are reached, and 0 to 0.5 of 11.
    found = one_class(missed, hit)
    assert found["ap50"] == pytest.approx(51 / 101)
    assert found["voc_ap"] == 0.5
    assert found["voc07_ap"] == pytest.approx(6 / 11)


def test_voc_counts_second_detections_and_angles_half_turns():
    """VOC: a detection goes to the box that it overlaps most; COCO gives it the other one."""
    boxes = [(0, 0, 10, 10), (0, 3, 10, 13)]
    twice = image(boxes=boxes, found=[(0, 0, 10, 10), (0, 1, 10, 11)], scores=[0.9, 0.8])
    found = one_class(twice)
    assert found["ap50"] == 1
    assert found["voc_ap"] == 0.5
    # 3 of 10 boxes reach the recall 0.3, and so four of the eleven points.
    images = [image(boxes=[BOX], found=[BOX], scores=[0.9]) for _ in range(3)]
    images += [image(boxes=[BOX]) for _ in range(7)]
    assert one_class(*images)["voc07_ap"] == pytest.approx(4 / 11)
    # Errors of angles are modulo half a turn and of long boxes.
    truth = np.zeros([4, 5])
    truth[:, 2:4] = [[2, 3], [2, 2.9], [2, 6], [2, 6]]
    truth[:, 4] = np.radians([-89, 0, 10, 0])
    found = truth.copy()
    found[:, 4] = np.radians([89, 45, -5, 90])
    np.testing.assert_allclose(angle_errors(found, truth), [2, 15, 90])


def test_metrics_of_classes_become_a_table():
    declared = [name for name in FIGURES.names() if isinstance(name, ClassMetric)]
    assert [(name.kind, name.class_name) for name in declared] == [
        (kind, name) for name in "abc" for kind in ("ap50", "ap", "boxes")
    ]
