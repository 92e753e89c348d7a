"""Tables of known data sets against figures that were published with them."""

import numpy as np
import pytest

from tf_frame_deeplab.convert.cityscapes import label_id_meaning
from tf_frame_deeplab.datasets.colormaps import COLORMAPS
from tf_frame_deeplab.datasets.known import KNOWN

# Classes and ignored labels of research/deeplab/datasets/data_generator.py; first and last colours
# of research/deeplab/utils/get_dataset_colormap.py (tensorflow/models).
PUBLISHED = {
    "voc": (21, 255, (0, 0, 0), (0, 64, 128), "tvmonitor"),
    "pascal_voc_seg": (21, 255, (0, 0, 0), (0, 64, 128), "tvmonitor"),
    "cityscapes": (19, 255, (128, 64, 128), (119, 11, 32), "bicycle"),
    # Colours, names and ids: google-research/deeplab2, data/coco_constants.py.
    "coco": (133, 255, (220, 20, 60), (250, 141, 255), "rug-merged"),
    "ade20k": (151, 0, (0, 0, 0), (92, 0, 255), "flag"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_classes_colours_and_ignored_label_are_the_published_ones(name):
    known = KNOWN[name]
    first, last = known.colours[0], known.colours[-1]
    facts = (known.num_classes, known.ignore_label, first, last, known.class_names[-1])
    assert facts == PUBLISHED[name]
    assert len(known.colours) == len(set(known.class_names)) == known.num_classes
    assert np.array(known.colours).max() <= 255


def test_colours_of_voc_and_the_five_colour_maps_are_the_published_ones():
    # As the challenge shows them.
    colours = [KNOWN["voc"].colours[number] for number in (1, 8, 15)]
    assert colours == [(128, 0, 0), (64, 0, 0), (192, 128, 128)]
    # Entries and some colours of get_dataset_colormap.py, as above.
    published = {
        "ade20k": (151, {1: (120, 120, 120), 75: (0, 255, 173)}),
        "cityscapes": (19, {10: (70, 130, 180), 13: (0, 0, 142)}),
        "coco": (133, {17: (182, 182, 255), 132: (250, 141, 255)}),
        "mapillary_vistas": (66, {0: (165, 42, 42), 37: (222, 40, 40), 63: (32, 32, 32)}),
        "pascal": (512, {15: (192, 128, 128), 255: (224, 224, 192), 511: (224, 224, 224)}),
    }
    assert COLORMAPS.keys() == published.keys()
    for name, (count, some) in published.items():
        assert len(COLORMAPS[name]) == count
        assert {number: COLORMAPS[name][number] for number in some} == some


def test_ids_of_coco_are_those_of_its_categories():
    coco = KNOWN["coco"]
    ids = dict(zip(coco.class_names, coco.ids, strict=True))
    assert (ids["person"], ids["toothbrush"], ids["banner"], ids["road"]) == (1, 90, 92, 149)
    assert list(coco.ids) == sorted(set(coco.ids))
    # 80 categories of things end with 90, 53 of stuff with 200.
    assert [sum(i <= 90 for i in coco.ids), max(coco.ids)] == [80, 200]


def test_label_ids_of_cityscapes_become_train_ids():
    values = label_id_meaning().values
    assert sorted(values) == list(range(34))
    # cityscapesscripts/helpers/labels.py: road, car, bicycle; ego vehicle, parking, caravan.
    assert [values[label] for label in (7, 26, 33, 1, 9, 29)] == [0, 13, 18, 255, 255, 255]
    assert sorted(set(values.values())) == [*range(19), 255]
