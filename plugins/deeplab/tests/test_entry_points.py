import subprocess
import sys

from tf_frame.plugin.find import find_plugins

_PROGRAM = """
import importlib, sys
for target in sys.argv[1:]:
    module, _, name = target.partition(":")
    loaded = getattr(importlib.import_module(module), name)
    print(loaded.__name__, "tensorflow" in sys.modules)
from tf_frame_deeplab.nuclei import Nuclei, Params
print(Nuclei(params=Params()).num_tiles, "tensorflow" in sys.modules)
"""

PLUGINS = [info for info in find_plugins() if info.distribution == "tf-frame-deeplab"]


def test_the_names_are_those_that_users_type():
    drawn = ("coco_masks", "yolo_masks", "labelme_masks")
    converters = ("segmentation_folder", "voc", "cityscapes", "ade20k", "coco_panoptic", *drawn)
    inputs = ("nuclei", "segmentation_folder", "segmentation_tfrecord", *drawn)
    assert {(info.kind.word, info.name) for info in PLUGINS} == {
        ("model", "deeplab"),
        *(("input", name) for name in inputs),
        *(("converter", name) for name in converters),
        ("gradient transform", "last_layer_multiplier"),
    }


def test_entry_points_load_and_data_are_checked_without_tensorflow():
    targets = [info.target for info in PLUGINS]
    command = [sys.executable, "-c", _PROGRAM, *targets]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    expected = [f"{target.partition(':')[2]} False" for target in targets]
    assert result.stdout.splitlines() == [*expected, "16 False"]
