"""Tables of known data sets against figures that were published with them."""

import numpy as np
import pytest

from tf_frame_deeplab.convert.cityscapes import meaning_of_label_ids
from tf_frame_deeplab.datasets.known import KNOWN

# Classes and ignored labels of research/deeplab/datasets/data_generator.py; first and last colours
# of research/deeplab/utils/get_dataset_colormap.py (tensorflow/models).
PUBLISHED = {
    "voc": (21, 255, (0, 0, 0), (0, 64, 128), "tvmonitor"),
    "pascal_voc_seg": (21, 255, (0, 0, 0), (0, 64, 128), "tvmonitor"),
    "cityscapes": (19, 255, (128, 64, 128), (119, 11, 32), "bicycle"),
    "ade20k": (151, 0, (0, 0, 0), (92, 0, 255), "flag"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_classes_colours_and_ignored_label_are_the_published_ones(name):
    known = KNOWN[name]
    first, last = known.colours[0], known.colours[-1]
    found = (known.num_classes, known.ignore_label, first, last, known.class_names[-1])
    assert found == PUBLISHED[name]
    assert len(known.colours) == len(set(known.class_names)) == known.num_classes
    assert np.array(known.colours).max() <= 255


def test_colours_of_voc_are_known_ones():
    # Colours of the classes 1 to 15, as the challenge shows them.
    assert KNOWN["voc"].colours[1] == (128, 0, 0)
    assert KNOWN["voc"].colours[8] == (64, 0, 0)
    assert KNOWN["voc"].colours[15] == (192, 128, 128)


def test_label_ids_of_cityscapes_become_train_ids():
    values = meaning_of_label_ids().values
    assert sorted(values) == list(range(34))
    # cityscapesscripts/helpers/labels.py: road, car, bicycle; ego vehicle, parking, caravan.
    assert [values[label] for label in (7, 26, 33, 1, 9, 29)] == [0, 13, 18, 255, 255, 255]
    assert sorted(set(values.values())) == [*range(19), 255]
