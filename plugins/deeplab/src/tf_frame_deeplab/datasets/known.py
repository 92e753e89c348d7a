"""The known data sets by name, as `--input.dataset` takes them."""

from collections.abc import Mapping

from tf_frame_deeplab.datasets.ade20k import ADE20K
from tf_frame_deeplab.datasets.cityscapes import CITYSCAPES
from tf_frame_deeplab.datasets.coco import COCO
from tf_frame_deeplab.datasets.dataset import KnownDataset
from tf_frame_deeplab.datasets.voc import VOC

# DeepLab calls VOC `pascal_voc_seg` (research/deeplab/datasets/data_generator.py).
KNOWN: Mapping[str, KnownDataset] = {
    "voc": VOC,
    "pascal_voc_seg": VOC,
    "cityscapes": CITYSCAPES,
    "ade20k": ADE20K,
    "coco": COCO,
}
