import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cli.main import main
from tf_frame.command_line.parsing import parse_command_line
from tf_frame_deeplab.model import DeepLab
from tf_frame_vision.resizing import ALIGN_CORNERS
from tfrecords import make_example, write_records

DATASETS = {
    # Crop, steps, classes.
    "deeplab_voc": ((513,), 30000, 21),
    "deeplab_cityscapes": ((769,), 90000, 19),
    "deeplab_ade20k": ((513,), 150000, 151),
}
TINY = ["--model.backbone", "mobilenet_v2", "--model.depth_multiplier", "0.1", "--max_steps", "1"]
TINY += ["--train_batch_size", "2", "--model.aspp_channels", "8", "--model.decoder_channels", "8"]
TINY += ["--input.crop_size", "33", "--noevaluate"]


def parse_preset(preset, *options):
    return parse_command_line(["--plugin", "deeplab", "--preset", preset, *options]).setup()


@pytest.mark.parametrize("preset", DATASETS)
def test_presets_of_data_sets_are_the_published_commands(preset):
    setup = parse_preset(preset)
    crop, steps, _ = DATASETS[preset]
    assert (setup.input.params.crop_size, setup.config.max_steps) == (crop, steps)
    assert setup.model.params.backbone == "xception_65"
    assert (setup.config.learning_rate, setup.config.train_batch_size) == (0.007, 16)
    assert preset.endswith(setup.input.params.dataset)
    assert setup.input.params.resizing == ALIGN_CORNERS


def test_options_win_over_a_preset_and_another_input_drops_those_of_its_own():
    setup = parse_preset("deeplab_voc", "--input", "nuclei", "--max_steps", "10")
    assert (setup.input.name, setup.input.params.crop_size) == ("nuclei", 128)
    assert setup.config.max_steps == 10


def test_the_preset_tower_combines_clones_and_the_preset_quantized_rounds_before_the_end():
    config = parse_preset("tower").config
    combination = (config.num_clones, config.regularization, config.total_loss, config.update_ops)
    assert combination == (2, "scaled", "sum", "all_clones")
    assert config.allow_inexact_resume
    config = parse_preset("quantized").config
    assert 0 < config.quantize_delay_step < config.max_steps


def write_images(folder, count):
    """TFRecords of four images with a mask, of classes from 1 on."""
    with tf.Graph().as_default(), tf.Session() as session:
        random = np.random.RandomState(0)
        image = session.run(tf.io.encode_png(random.randint(0, 256, [40, 48, 3]).astype(np.uint8)))
        mask = random.randint(1, count, [40, 48, 1]).astype(np.uint8)
        mask = session.run(tf.io.encode_png(mask))
    example = make_example({"image/encoded": image, "image/segmentation/class/encoded": mask})
    for name in ("train", "val"):
        write_records(folder / f"{name}-00000-of-00001.tfrecord", [example] * 4)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.usefixtures("short_backbone")
@pytest.mark.parametrize("preset", DeepLab.presets)
def test_each_preset_trains_a_step(preset, tmp_path):
    argv = ["run", "--plugin", "deeplab", "--preset", preset, *TINY]
    if preset in DATASETS:
        (tmp_path / "data").mkdir()
        write_images(tmp_path / "data", DATASETS[preset][2])
        argv += ["--input.data_dir", str(tmp_path / "data")]
    if preset == "quantized":
        argv += ["--quantize_delay_step", "0"]
    assert main([*argv, "--model_dir", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "model.ckpt-1.index").exists()
