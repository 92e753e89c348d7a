"""The options of the object detection API's trainers, from the command line, in short runs."""

import csv

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import summary_tags
from job import RunningJob
from tf_frame.cli.main import main
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError

PLUGIN = ("--plugin", "detection")
TINY = (
    *("--model.depth_multiplier", "0.1", "--model.pyramid_channels", "8"),
    *("--model.predictor_layers", "1", "--model.strides", "16", "--input.image_size", "32"),
    *("--train_batch_size", "2", "--input.data_augmentation", "random_horizontal_flip"),
    *("--noevaluate", "--save_checkpoint_steps", "1", "--max_to_keep", "0"),
    *("--save_summaries_steps", "1", "--log_every_n_steps", "1"),
)
NORM = 1e-3
RATES = (1.0, 0.5)
NO_RATE = ("--warmup_learning_rate", "0")
TOWER = "WeightSharedConvolutionalBoxPredictor"


def run(folder, *words):
    assert main(["run", *PLUGIN, *TINY, "--model_dir", str(folder), *words]) == 0
    return folder


def values(folder, step):
    reader = tf.train.load_checkpoint(f"{folder}/model.ckpt-{step}")
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def rows(folder):
    with open(folder / "metrics.csv") as file:
        return [row for row in csv.DictReader(file) if row["split"] == "train"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a run with all options of the gradients."""
    return run(
        tmp_path_factory.mktemp("options") / "run",
        *("--max_steps", "3", "--optimizer", "sgd", "--learning_rate", str(RATES[0])),
        *("--schedule", "manual_steps", "--schedule.boundaries", "2"),
        *("--schedule.learning_rates", str(RATES[1])),
        *("--transform", "scale_biases:0", "--transform", "freeze:FeatureExtractor/.*"),
        *("--transform", f"clip_by_norm:{NORM}", "--regularization", "none"),
        *("--model.api_summaries", "grouped", "--moving_average_decay", "0.5"),
        *("--keep_checkpoint_every_n_hours", "2"),
    )


@pytest.mark.slow
def test_options_and_summaries_are_those_of_the_apis_trainer(trained):
    first, last = values(trained, 1), values(trained, 3)
    frozen = [n for n in first if n.startswith("FeatureExtractor/") and n.endswith("weights")]
    assert len(frozen) > 5
    for name in frozen:
        np.testing.assert_array_equal(first[name], last[name], err_msg=name)
    np.testing.assert_allclose(last[f"{TOWER}/ClassPredictor/biases"], -4.6)
    np.testing.assert_array_equal(last[f"{TOWER}/BoxPredictor/biases"], 0)
    name = f"{TOWER}/ClassPredictor/weights"
    one, two, three = (values(trained, step)[name] for step in (1, 2, 3))
    # A gradient of the untrained network is far larger than the bound.
    assert np.linalg.norm(two - one) == pytest.approx(NORM * RATES[0], rel=1e-3)
    assert np.linalg.norm(three - two) == pytest.approx(NORM * RATES[1], rel=1e-3)
    assert len(rows(trained)) == 3
    assert all("loss" in row and "total_loss" not in row for row in rows(trained))
    average = last[f"{name}/ExponentialMovingAverage"]
    assert not np.array_equal(average, last[name]) and not np.array_equal(average, first[name])
    np.testing.assert_allclose(average, last[name], atol=2 * NORM)
    assert {path.name for path in trained.glob("model.ckpt-*.index")} >= {
        f"model.ckpt-{step}.index" for step in (1, 2, 3)
    }
    assert "keep_checkpoint_every_n_hours: 2" in (trained / "config.yaml").read_text()
    # Summaries are grouped as those of the api.
    assert summary_tags(trained) >= {
        "Losses/TotalLoss",
        "Losses/localization_loss",
        "Losses/classification_loss",
        f"ModelVars/{TOWER}/ClassPredictor/weights",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "restores_predictor"),
    [
        (("--model.fine_tune_checkpoint_type", "detection"), True),
        (("--model.fine_tune_checkpoint_type", "classification"), False),
        (("--model.from_detection_checkpoint", "true"), True),
        (("--model.from_detection_checkpoint", "false"), False),
    ],
)
def test_a_checkpoint_is_fine_tuned(trained, tmp_path, words, restores_predictor):
    folder = run(
        tmp_path / "fine",
        *("--warm_start_from", str(trained), *words, "--max_steps", "1"),
        *("--optimizer", "sgd", "--learning_rate", "0", "--random_seed", "7"),
        *("--schedule", "exponential", "--schedule.decay_steps", "1"),
        *("--model.api_summaries", "plain"),
    )
    before, after = values(trained, 3), values(folder, 1)
    features = "FeatureExtractor/resnet_v1_18/conv1/weights"
    assert features in before or any(n.startswith("FeatureExtractor/resnet") for n in before)
    shared = [n for n in before if n.startswith("FeatureExtractor/") and n.endswith("/weights")]
    backbone = [n for n in shared if "/fpn/" not in n]
    for name in backbone:
        np.testing.assert_array_equal(after[name], before[name], err_msg=name)
    name = f"{TOWER}/ClassPredictor/weights"
    assert np.array_equal(after[name], before[name]) == restores_predictor
    assert summary_tags(folder) >= {"TotalLoss", "localization_loss", f"{name}"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("exponential", "--schedule.decay_steps", "1", "--schedule.decay_factor", "0.5"),
            (0.1, 0.05, 0.025),
        ),
        (("cosine", "--warmup", "linear", "--warmup_steps", "2", *NO_RATE), (0.0, 0.05, None)),
    ],
)
def test_families_of_learning_rates(tmp_path, words, expected):
    folder = run(tmp_path, "--max_steps", "3", "--learning_rate", "0.1", "--schedule", *words)
    for row, rate in zip(rows(folder), expected, strict=True):
        assert rate is None or float(row["learning_rate"]) == pytest.approx(rate, abs=1e-6)


def make_config(*words):
    return parse_command_line([*PLUGIN, *words]).setup().config


def test_synchronous_replicas_divide_the_batch():
    words = ("--sync_replicas", "--replicas_to_aggregate=2", "--batch_size_scope=global")
    words += ("--train_batch_size",)
    assert make_config(*words, "24").clone_batch_size == 12
    with pytest.raises(ConfigError, match="25 is not divisible by .* 2 aggregated replicas"):
        make_config(*words, "25")


@pytest.mark.slow
@pytest.mark.process
def test_synchronous_workers_train_a_detector(tmp_path):
    """A chief, a worker and a parameter server; the batch of an update is shared."""
    words = ("run", *PLUGIN, *TINY, "--sync_replicas", "--batch_size_scope", "global")
    with RunningJob(tmp_path, (*words, "--max_steps", "3"), num_ps=1, num_workers=2) as job:
        job.start()
        job.ended_well(secs=240.0)
        assert job.variables(3)["global_step"] == 3
