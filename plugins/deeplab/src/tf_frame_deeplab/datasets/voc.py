"""PASCAL VOC 2012: 20 classes and the background; borders of objects, 255, do not count.

Names: VOCcode/VOCinit.m of VOC's development kit. Colours: the rule of
`create_pascal_label_colormap` in tensorflow/models, research/deeplab/utils/get_dataset_colormap.py.
Classes and ignored label: research/deeplab/datasets/data_generator.py there (21 and 255).
"""

from tf_frame_deeplab.datasets.dataset import Colour, KnownDataset

_NAMES = (
    "background; aeroplane; bicycle; bird; boat; bottle; bus; car; cat; chair; cow; diningtable; "
    "dog; horse; motorbike; person; pottedplant; sheep; sofa; train; tvmonitor"
)


def voc_colour(number: int) -> Colour:
    """Returns the colour of a class: bits 0, 3, 6 of its number, reversed, are the red ones ..."""
    red, green, blue = (
        sum((number >> (3 * place + channel) & 1) << (7 - place) for place in range(8))
        for channel in range(3)
    )
    return red, green, blue


VOC = KnownDataset(
    class_names=tuple(_NAMES.split("; ")),
    colours=tuple(voc_colour(number) for number in range(21)),
    ignore_label=255,
)
