"""Cityscapes: the 19 classes that are evaluated; all other label ids become 255, which is ignored.

Names, label ids and colours of the train ids 0 to 18: mcordts/cityscapesScripts,
cityscapesscripts/helpers/labels.py; the same ids and colours are in tensorflow/models,
research/deeplab/vis.py and utils/get_dataset_colormap.py. Classes and ignored label:
research/deeplab/datasets/data_generator.py there (19 and 255).
"""

from tf_frame_deeplab.datasets.dataset import KnownDataset, parse_colours

_NAMES = (
    "road; sidewalk; building; wall; fence; pole; traffic light; traffic sign; vegetation; "
    "terrain; sky; person; rider; car; truck; bus; train; motorcycle; bicycle"
)
_COLOURS = """
804080 f423e8 464646 66669c be9999 999999 faaa1e dcdc00 6b8e23 98fb98 4682b4 dc143c ff0000 00008e
000046 003c64 005064 0000e6 770b20
"""
CITYSCAPES = KnownDataset(
    class_names=tuple(_NAMES.split("; ")),
    colours=parse_colours(_COLOURS),
    ignore_label=255,
    ids=(7, 8, 11, 12, 13, 17, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 31, 32, 33),
    num_ids=34,
)
