"""The model: training, clones, several inputs, predictions, exports, warm start."""

import dataclasses
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Input, InputInfo, Mode
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError
from tf_frame.testing.toy import make_setup, run_setup
from tf_frame_recognition.batches import join_batches
from tf_frame_recognition.model import Params, Recognition

INFO = InputInfo(num_classes=3, class_names=("a", "é", "c"))
TINY = {"lstm_units": 4, "attention_units": 4, "max_length": 3, "beam_width": 2}
SIZE = (16, 28)


def random_images(count):
    return np.random.RandomState(1).uniform(0, 255, [count, *SIZE, 1]).astype(np.float32)


# Both halves of the batch are the same, as clones take the statistics of their own half.
FEATURES = {"image": np.tile(random_images(2), [2, 1, 1, 1])}
LABELS = {"text": np.tile(np.array([[0, 1, 1], [2, -1, -1]], np.int32), [2, 1])}


class FourWords(Input):
    """The same four words in every batch."""

    @property
    def info(self):
        return INFO

    def dataset(self, mode, context):
        data = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).repeat()
        return data.batch(context.batch_size, drop_remainder=True)


def train_two_steps(folder, **options):
    """Trains two steps; returns the variables."""
    values = {f"model.{name}": value for name, value in TINY.items()}
    setup = make_setup(
        Recognition,
        FourWords,
        str(folder),
        optimizer="sgd",
        values=values,
        learning_rate=0.1,
        max_steps=2,
        train_batch_size=4,
        save_summaries_steps=0,
        evaluate=False,
        **options,
    )
    run_setup(setup, report=lambda line: None)
    reader = tf.train.load_checkpoint(str(folder))
    names = reader.get_variable_to_shape_map()
    return {name: reader.get_tensor(name) for name in names}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Folder and variables after two steps by CTC."""
    folder = tmp_path_factory.mktemp("trained")
    return folder, train_two_steps(folder)


@pytest.mark.slow
def test_two_clones_equal_one(trained, tmp_path):
    values = train_two_steps(tmp_path, num_clones=2)
    for name in filter(re.compile("FeatureExtractor|Predictor").match, trained[1]):
        # The unbiased variance of the batch depends on its size.
        if not name.endswith("moving_variance"):
            expected = trained[1][name]
            np.testing.assert_allclose(values[name], expected, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.slow
def test_a_warm_start_restores_the_convolutions_alone(trained, tmp_path):
    folder, values = trained
    # Only the head is trained; another seed has other initial values.
    options = {"warm_start_from": str(folder), "random_seed": 5, "trainable_scopes": ("Predictor",)}
    started = train_two_steps(tmp_path, **options)
    for name in values:
        if name.startswith("FeatureExtractor/") and name.endswith(("weights", "kernel")):
            is_restored = np.array_equal(started[name], values[name])
            assert is_restored == name.startswith("FeatureExtractor/Convnet/"), name


def build(mode, labels=None, **options):
    """Output of `build` in the default graph."""
    params = dataclasses.replace(Params(), **{**TINY, **options})
    features = {name: tf.constant(value) for name, value in FEATURES.items()}
    return Recognition(params=params, info=INFO).build(features, labels, mode)


@pytest.mark.parametrize("head", ["ctc", "attention"])
def test_predictions_and_metrics(head):
    with tf.Graph().as_default(), tf.Session() as session:
        labels = {name: tf.constant(value) for name, value in LABELS.items()}
        output = build(Mode.EVAL, labels, head=head, decoders="forward")
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        updates = {name: update for name, (_, update) in output.metrics.items()}
        predictions, loss, _ = session.run([output.predictions, output.loss, updates])
        metrics = session.run({name: value for name, (value, _) in output.metrics.items()})
    assert np.isfinite(loss) and 0 <= metrics["word_accuracy"] <= 1
    assert predictions["ids"].shape == (4, 3) and predictions["ids"].dtype == np.int32
    for ids, text in zip(predictions["ids"], predictions["text"], strict=True):
        assert text.decode() == "".join(INFO.class_names[number] for number in ids if number >= 0)
    assert ((predictions["confidence"] > 0) & (predictions["confidence"] <= 1)).all()
    assert set(predictions) == {"ids", "text", "confidence"}
    # Training does not decode.
    with tf.Graph().as_default():
        labels = {name: tf.constant(value) for name, value in LABELS.items()}
        assert build(Mode.TRAIN, labels, head=head).predictions == {}


def test_an_input_must_name_its_characters():
    with pytest.raises(ConfigError, match="needs to know the characters"):
        Recognition(params=Params(), info=InputInfo(num_classes=10))


def test_several_inputs_are_one_batch():
    parts = [{name: value[:3] for name, value in FEATURES.items()}]
    parts.append({"image": FEATURES["image"][3:], "name": np.array(["a"])})
    with tf.Graph().as_default(), tf.Session() as session:
        batches = [{name: tf.constant(v) for name, v in part.items()} for part in parts]
        joined = session.run(join_batches(batches))
    assert list(joined) == ["image"]
    np.testing.assert_array_equal(joined["image"], FEATURES["image"])
    batches = [{"text": tf.TensorSpec([2, length], tf.int32)} for length in (8, 25)]
    with pytest.raises(ConfigError, match="inputs' text .* sizes, 8, 25;"):
        join_batches(batches)


def test_a_short_run_has_no_profile():
    def config(*flags):
        return parse_command_line(["--plugin", "recognition", *flags]).setup().config

    assert config().profile_at_step == (200,)
    assert config("--max_steps", "199").profile_at_step == ()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("head", ["ctc", "attention"])
def test_an_export_reads_words(head, tmp_path):
    from tf_frame.cli.main import main

    run, exported = str(tmp_path / "run"), tmp_path / "export"
    words = ["run", "--plugin", "recognition", "--model.head", head, "--max_steps", "5"]
    assert main([*words, "--model_dir", run]) == 0
    words = ["export", run, "--format", "saved_model", "--output", str(exported)]
    assert main(words) == 0
    (folder,) = {path.parent for path in exported.rglob("saved_model.pb")}
    signatures = tf.saved_model.load_v2(str(folder)).signatures
    assert {"text", "confidence"} <= set(signatures["serving_default"].structured_outputs)
