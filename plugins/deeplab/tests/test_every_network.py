"""Each backbone through the plugin: a step at two clones, an evaluation, an export, its names."""

import json
import math
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame import NetworkContext
from tf_frame.cli.main import main
from tf_frame_vision.slim_network import load_network

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]

TINY = ["--train_batch_size=2", "--eval_batch_size=1", "--max_steps=1", "--eval_steps=1"]
TINY += ["--input.crop_size=32", "--model.aspp_channels=8", "--model.decoder_channels=8"]
RESNET, XCEPTION = "block4/unit_3/bottleneck_v1/conv3", "exit_flow/block2/unit_1/xception_module"
LITE = ["--model.pyramid=lite", "--model.output_stride=32", "--model.decoder_output_stride=8"]
# Backbone -> its scope, a layer of the published checkpoint, and options.
# Names of layers: tensorflow/models, research/slim/nets and research/deeplab/core; of DeepLab's
# xception_65, see `test_names_of_the_published_xception`.
NETWORKS = {
    **{
        f"mobilenet_v2{width}": ("MobilenetV2", "expanded_conv_16/project", [])
        for width in ("_140", "_130", "", "_075", "_050", "_035")
    },
    "mobilenet_v3_large": ("MobilenetV3", "expanded_conv_14/squeeze_excite/Conv_1", []),
    "mobilenet_v3_small": ("MobilenetV3", "expanded_conv_10/squeeze_excite/Conv_1", []),
    "mobilenet_v3_large_seg": ("MobilenetV3", "Conv_1", LITE),
    "mobilenet_v3_small_seg": ("MobilenetV3", "Conv_1", LITE),
    "resnet_v1_50": ("resnet_v1_50", RESNET, []),
    "resnet_v1_101": ("resnet_v1_101", RESNET, []),
    "resnet_v1_50_beta": ("resnet_v1_50", "conv1_3", []),
    "resnet_v1_101_beta": ("resnet_v1_101", "conv1_3", []),
    **{
        f"xception_{layers}": (
            f"xception_{layers}",
            f"{XCEPTION}/separable_conv3_pointwise",
            ["--model.multi_grid=1,2,4"],
        )
        for layers in (41, 65, 71)
    },
}  # fmt: skip


def tf_frame(*argv):
    command = [sys.executable, "-m", "tf_frame", *argv]
    done = forked.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_a_step_an_evaluation_and_an_export(name, tmp_path):
    scope, layer, options = NETWORKS[name]
    folder = tmp_path / "run"
    words = ["--plugin=deeplab", f"--model.backbone={name}", f"--model_dir={folder}"]
    tf_frame("run", *words, *options, *TINY, "--num_clones=2", "--learning_rate=0.001")
    check_result(folder)
    exported = tmp_path / "exported"
    # The export is loaded again, and its outputs are compared with the model's.
    tf_frame("export", str(folder), "--format=saved_model", f"--output={exported}")
    assert list(exported.glob("*/saved_model.pb"))
    shapes = tf.train.load_checkpoint(str(folder)).get_variable_to_shape_map()
    assert f"{scope}/{layer}/weights" in shapes
    check_backbone(name, shapes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["--model.pyramid=lite", "--model.align_corners", "--model.image_pooling_crop_size=33,33"],
        ["--model.image_pyramid=0.5,1"],
    ],
)
@pytest.mark.usefixtures("short_backbone")
def test_options_of_the_network_from_training_to_export(options, tmp_path):
    """A short backbone at two clones, with a network that is not the default one."""
    words = [*options, *TINY, "--model.depth_multiplier=0.1", "--num_clones=2"]
    folder = tmp_path / "run"
    assert main(["run", "--plugin=deeplab", f"--model_dir={folder}", *words]) == 0
    check_result(folder)
    argv = ["--format=saved_model", f"--output={tmp_path}/exported"]
    assert main(["export", str(folder), *argv]) == 0


def check_result(folder):
    result = json.loads((folder / "result.json").read_text())
    assert 0 <= result["metrics"]["mean_iou"] <= 1
    assert math.isfinite(result["total_loss"])


def check_backbone(name, shapes):
    """Checks names and shapes of a network of the default width; its own tests count them."""
    context = NetworkContext(num_classes=None, is_training=True)
    with tf.Graph().as_default():
        load_network(name).features(tf.zeros([1, 33, 33, 3]), context)
        expected = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
    assert {variable: shapes.get(variable) for variable in expected} == expected
