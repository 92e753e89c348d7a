"""DeepLab's two trainers and its evaluation, as processes: they learn cell nuclei."""

import re
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

import old_script
from event_files import scalars, summary_tags
from tf_frame_deeplab.nuclei import _SAMPLE, TILE_SIZE
from tfrecords import make_example, write_records

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

SCRIPTS = Path(__file__).parent / "deeplab_scripts"
NUM_TRAINING, NUM_TILES, COLUMNS = 12, 16, 4
# A network that gives every pixel the class background has less than half.
GOOD_MIOU = 0.65
# Losses in the logs.
OF_CLONES = r"\bstep\.py.*global step \d+: loss = (\S+)"
OF_TOWERS = r"Total loss is :\[(\S+)\]"


def _example(name, image, mask):
    return make_example(
        {
            "image/encoded": image,
            "image/filename": name.encode(),
            "image/format": b"png",
            "image/height": TILE_SIZE,
            "image/width": TILE_SIZE,
            "image/segmentation/class/encoded": mask,
            "image/segmentation/class/format": b"png",
        }
    )


def _tiles():
    """Yields the encoded image and mask of each tile of the plugin's sample."""
    with tf.Graph().as_default(), tf.Session() as session:
        content = [tf.io.read_file(str(_SAMPLE / f"{name}.png")) for name in ("image", "instances")]
        image = tf.io.decode_png(content[0], channels=3)
        instances = tf.io.decode_png(content[1], channels=1, dtype=tf.uint16)
        mask = tf.cast(tf.cast(instances, tf.int32) > 0, tf.uint8)
        corner = tf.placeholder(tf.int32, [2])
        tile = tf.concat([corner, [0]], axis=0), [TILE_SIZE, TILE_SIZE, -1]
        cut = [tf.io.encode_png(tf.slice(picture, *tile)) for picture in (image, mask)]
        for number in range(NUM_TILES):
            at = [number // COLUMNS * TILE_SIZE, number % COLUMNS * TILE_SIZE]
            yield session.run(cut, {corner: at})


@pytest.fixture(scope="module")
def dataset_dir(tmp_path_factory):
    """TFRecords of the tiles of the sample, as DeepLab's scripts make them."""
    folder = tmp_path_factory.mktemp("nuclei")
    records = [_example(f"{i}", *tile) for i, tile in enumerate(_tiles())]
    write_records(folder / "train-00000-of-00001", records[:NUM_TRAINING])
    write_records(folder / "val-00000-of-00001", records[NUM_TRAINING:])
    return folder


@pytest.fixture(scope="module")
def run_script(dataset_dir):
    """Runs a script with flags; returns what it logged."""

    def run(name, mode, **flags):
        flags = {"dataset": "nuclei", "dataset_dir": dataset_dir, "atrous_rates": 3, **flags}
        return old_script.run(SCRIPTS / f"{name}.py", mode, **flags)

    return run


TRAINING = {
    "train_crop_size": "65,65",
    "train_batch_size": 8,
    # After half as many, one training in twenty has less than GOOD_MIOU.
    "training_number_of_steps": 60,
    "base_learning_rate": 0.1,
    "slow_start_step": 4,
    "slow_start_learning_rate": 0.01,
    "last_layer_gradient_multiplier": 2,
    "min_scale_factor": 0.75,
    "max_scale_factor": 1.25,
    "log_steps": 1,
}


def mean_iou(run_script, tmp_path, mode, **flags):
    """Mean IoU of a folder's newest checkpoint by DeepLab's evaluation script."""
    run_script(
        "eval_deeplab",
        mode,
        checkpoint_dir=tmp_path / "train",
        eval_logdir=tmp_path / "eval",
        eval_batch_size=2,
        eval_crop_size=f"{TILE_SIZE},{TILE_SIZE}",
        max_number_of_evaluations=1,
        **flags,
    )
    return scalars(tmp_path / "eval", "miou_1.0")[-1][1]


def losses(pattern, log):
    return [float(loss) for loss in re.findall(pattern, log)]


def check(logged):
    """Checks that the losses of all steps fell."""
    assert len(logged) == TRAINING["training_number_of_steps"]
    assert sum(logged[-5:]) < 0.7 * sum(logged[:5])


@pytest.fixture(scope="module")
def clones(run_script, tmp_path_factory):
    """A folder that the trainer of clones has left, and its log."""
    folder = tmp_path_factory.mktemp("clones")
    log = run_script(
        "train_clones",
        "reference",
        train_logdir=folder / "train",
        num_clones=2,
        clone_on_cpu=True,
        save_summaries_images=True,
        save_summaries_secs=1,
        **TRAINING,
    )
    return folder, log


@pytest.mark.slow
def test_the_trainer_of_clones_learns(clones, run_script):
    folder, log = clones
    assert "Training on train set" in log
    check(losses(OF_CLONES, log))
    tags = summary_tags(folder / "train")
    assert {"learning_rate", "total_loss_1", "clone_0/Losses/clone_0//clone_loss"} <= tags
    assert {f"samples/{name}/image/0" for name in ("image", "label", "semantic")} <= tags
    # They are made twice, and those of all clones are written.
    assert {"logits/semantic/weights_1", "logits/semantic/weights_2"} <= tags
    assert any(re.fullmatch(r"losses/clone_0/semantic_merged_logits/\w+", tag) for tag in tags)
    assert mean_iou(run_script, folder, "reference") > GOOD_MIOU


@pytest.mark.slow
def test_the_trainer_of_towers_learns(run_script, tmp_path):
    log = run_script(
        "train_towers",
        "resource",
        train_logdir=tmp_path / "train",
        num_clones=2,
        save_summaries_images=True,
        save_summaries_secs=20,
        end_learning_rate=0.001,
        top_k_percent_pixels=0.5,
        hard_example_mining_step=1000,
        **TRAINING,
    )
    check(losses(OF_TOWERS, log))
    tags = summary_tags(tmp_path / "train")
    assert {"learning_rate", "total_loss_1", "samples/semantic/image/0"} <= tags
    assert "logits/semantic/weights_1" in tags
    assert not [tag for tag in tags if tag.startswith("clone_1")]
    assert mean_iou(run_script, tmp_path, "resource") > GOOD_MIOU


@pytest.mark.slow
def test_a_quantised_tower_begins_with_the_checkpoint_of_clones(clones, run_script, tmp_path):
    folder, of_clones = clones
    checkpoint = tf.train.latest_checkpoint(str(folder / "train"))
    log = run_script(
        "train_towers",
        "reference",
        train_logdir=tmp_path / "train",
        profile_logdir=tmp_path / "profile",
        tf_initial_checkpoint=checkpoint,
        quantize_delay_step=5,
        optimizer="adam",
        adam_learning_rate=0.001,
        **TRAINING | {"training_number_of_steps": 15},
    )
    assert f"Initializing model from path: {checkpoint}" in log
    logged = losses(OF_TOWERS, log)
    assert max(logged) < min(losses(OF_CLONES, of_clones)[:10])
    names = {name for name, _ in tf.train.list_variables(str(tmp_path / "train"))}
    assert "logits/semantic/weights_quant/max" in names
    assert mean_iou(run_script, tmp_path, "reference", quantize_delay_step=0) > GOOD_MIOU
