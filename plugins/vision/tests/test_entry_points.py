import subprocess
import sys

from tf_frame.plugin.find import find_plugins

_PROGRAM = """
import sys
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.load import load_plugin_info
import tf_frame_vision.drawing.palette, tf_frame_vision.drawing.png, tf_frame_vision.example_input
for found in find_plugins():
    if found.distribution == "tf-frame-vision":
        load_plugin_info(found)
print("tensorflow" in sys.modules)
"""


def names(kind):
    found = [f for f in find_plugins() if f.distribution == "tf-frame-vision"]
    return {f.name for f in found if f.kind.word == kind}


def test_networks_and_preprocessing_are_known_and_load_without_tensorflow():
    resnets = [f"resnet_v{v}_{layers}" for v in (1, 2) for layers in (50, 101, 152, 200)]
    assert names("network") == {
        *("lenet", "cifarnet", "alexnet_v2", "vgg_a", "vgg_16", "vgg_19"),
        *("inception_v1", "inception_v2", "inception_v3", "inception_v4", "inception_resnet_v2"),
        *("resnet_v1_18", *resnets),
        *("resnet_v1_50_beta", "resnet_v1_101_beta"),
        *("xception_41", "xception_65", "xception_71"),
        *("mobilenet_v1", "mobilenet_v1_075", "mobilenet_v1_050", "mobilenet_v1_025"),
        *("mobilenet_v2", "mobilenet_v2_140", "mobilenet_v2_130", "mobilenet_v2_075"),
        *("mobilenet_v2_050", "mobilenet_v2_035"),
        *("mobilenet_v3_small", "mobilenet_v3_large"),
        *("mobilenet_v3_small_seg", "mobilenet_v3_large_seg"),
        *("mobilenet_v3_small_minimalistic", "mobilenet_v3_large_minimalistic"),
    }
    families = {"lenet", "cifarnet", "vgg", "inception", "inception_full", "none"}
    assert names("preprocessing") == families
    result = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["False"]
