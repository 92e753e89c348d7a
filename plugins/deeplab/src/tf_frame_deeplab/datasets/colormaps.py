"""The published colour maps, by the names that DeepLab's vis.py gives them.

ade20k, cityscapes, mapillary_vistas, pascal: tensorflow/models,
research/deeplab/utils/get_dataset_colormap.py; coco: see `datasets.coco`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tf_frame_deeplab.datasets.ade20k import ADE20K
from tf_frame_deeplab.datasets.cityscapes import CITYSCAPES
from tf_frame_deeplab.datasets.coco import COCO
from tf_frame_deeplab.datasets.dataset import Colour, parse_colours
from tf_frame_deeplab.datasets.voc import voc_colour

_MAPILLARY_VISTAS = """
a52a2a 00c000 c4c4c4 be9999 b4a5b4 66669c 66669c 8040ff 8c8cc8 aaaaaa faaaa0 606060 e6968c 804080
6e6e6e f423e8 966464 464646 96785a dc143c ff0000 ff0000 ff0000 c88080 ffffff 40aa40 804040 4682b4
ffffff 98fb98 6b8e23 00aa1e ffff80 fa001e 000000 dcdcdc aaaaaa de2828 64aa1e 282828 212121 aaaaaa
00008e aaaaaa d2aa64 999999 808080 00008e faaa1e c0c0c0 dcdc00 b4a5b4 770b20 00008e 003c64 00008e
00005a 0000e6 005064 804040 00006e 000046 0000c0 202020 000000 000000
"""
# As many as the later versions there have.
_NUM_PASCAL = 512
COLORMAPS: Mapping[str, Sequence[Colour]] = {
    "ade20k": ADE20K.colours,
    "cityscapes": CITYSCAPES.colours,
    "coco": COCO.colours,
    "mapillary_vistas": parse_colours(_MAPILLARY_VISTAS),
    "pascal": tuple(voc_colour(number) for number in range(_NUM_PASCAL)),
}
