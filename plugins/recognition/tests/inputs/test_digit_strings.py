import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputContext, Mode
from tf_frame.errors import ConfigError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_recognition.inputs import compose
from tf_frame_recognition.inputs.digit_strings import _FOLDER, DigitStrings, Params


def strings(**params):
    return DigitStrings(params=Params(**params))


def take(mode=Mode.TRAIN, count=1, source=None, **context):
    with tf.Graph().as_default():
        context = InputContext(**{"batch_size": 8, **context})
        return read_elements((source or strings()).dataset(mode, context), count)


def test_a_batch_has_images_and_texts_of_three_to_eight_digits():
    ((features, labels),) = take(batch_size=64)
    assert features["image"].shape == (64, 32, 160, 1) and features["image"].dtype == np.float32
    assert 0 <= features["image"].min() < 60 and 195 < features["image"].max() <= 255
    assert labels["text"].shape == (64, 8) and labels["text"].dtype == np.int32
    lengths = (labels["text"] >= 0).sum(axis=1)
    assert sorted(set(lengths)) == [3, 4, 5, 6, 7, 8]
    places = np.arange(8)[np.newaxis] < lengths[:, np.newaxis]
    np.testing.assert_array_equal(labels["text"] >= 0, places)
    assert set(labels["text"].ravel()) == set(range(-1, 10))


@pytest.mark.slow
def test_the_evaluation_strings_are_the_same_for_every_seed_and_shard():
    source = strings()
    assert source.info.num_examples == {Mode.EVAL: 500, Mode.PREDICT: 500}
    ((features, labels),) = take(Mode.EVAL, None, batch_size=600, seed=1)
    assert len(features["image"]) == 500 and features["name"][7] == b"string 7"
    ((shard, shard_labels),) = take(Mode.EVAL, 1, seed=2, num_shards=2, shard_index=1)
    np.testing.assert_array_equal(shard["image"], features["image"][1:17:2])
    np.testing.assert_array_equal(shard_labels["text"], labels["text"][1:17:2])


@pytest.mark.slow
def test_a_training_string_follows_from_the_seed_and_its_number():
    ((batch, _),) = take(seed=3)
    ((shard, _),) = take(seed=3, num_shards=2, shard_index=1, batch_size=4)
    np.testing.assert_array_equal(batch["image"][1::2], shard["image"])
    ((batch_of_another_seed, _),) = take(seed=4)
    assert not np.array_equal(batch_of_another_seed["image"], batch["image"])
    assert len({image.tobytes() for image in batch["image"]}) == 8


# The test of several inputs in test_several.py covers it, too.
@pytest.mark.slow
def test_training_goes_on_exactly_where_it_stopped():
    check_exact_resume(strings(), batch_size=2, steps=2, num_clones=2)


def find_ink(**params):
    """Pixels that are darker than the ground, of strings with little noise."""
    ((features, _),) = take(batch_size=32, source=strings(**params))
    image = features["image"][..., 0]
    ground = np.median(image, axis=(1, 2), keepdims=True)
    return image < ground - 60


def mean_height(ink):
    """Mean height of the part of an image that has ink."""
    rows = [np.flatnonzero(image.sum(axis=1) > 2) for image in ink]
    return np.mean([row.max() - row.min() for row in rows if len(row)])


@pytest.mark.slow
def test_bent_and_turned_strings_fit_into_the_image_and_are_higher():
    size = (64, 160)
    plain = mean_height(find_ink(image_size=size))
    assert 20 < plain < 34
    strong = find_ink(image_size=size, bend=1 / 3, rotation=30.0)
    assert mean_height(strong) > plain + 8
    # A digit that is cut would leave ink at the edges.
    edges = strong[:, [0, -1]].mean() + strong[:, :, [0, -1]].mean()
    assert edges < 0.1 * strong.mean()


@pytest.mark.slow
def test_digits_of_training_are_turned_and_have_other_strokes(monkeypatch):
    ((varied, texts),) = take(batch_size=32)
    monkeypatch.setattr(compose, "_TURN", 0.0)
    monkeypatch.setattr(compose, "_PEN", 0.0)
    ((plain, plain_texts),) = take(batch_size=32)
    np.testing.assert_array_equal(texts["text"], plain_texts["text"])
    # Turned digits have about as much ink, so the ratio is that of the strokes.
    varied_ink, plain_ink = (255 - batch["image"].mean(axis=(1, 2, 3)) for batch in (varied, plain))
    ratio = varied_ink / plain_ink
    assert 0.7 < ratio.min() < 0.99 and 1.01 < ratio.max() < 1.3
    ((evaluated, _),) = take(Mode.EVAL, batch_size=32)
    monkeypatch.undo()
    np.testing.assert_array_equal(take(Mode.EVAL, batch_size=32)[0][0]["image"], evaluated["image"])


def test_the_form_follows_the_options(tmp_path):
    source = strings(max_length=10, characters="lower", channels=3, image_size=(16, 64))
    assert source.info.num_classes == 36
    ((features, labels),) = take(source=source)
    assert features["image"].shape == (8, 16, 64, 3)
    np.testing.assert_array_equal(features["image"][..., 0], features["image"][..., 2])
    assert labels["text"].shape == (8, 10) and labels["text"].max() <= 9
    with pytest.raises(ConfigError, match="max_length 2 is less than the 3 digits"):
        strings(max_length=2)
    with pytest.raises(ConfigError, match="image_size needs two numbers"):
        strings(image_size=(32,))
    (tmp_path / "letters").write_text("a\nb")
    with pytest.raises(ConfigError, match="letters: the label map does not have .* '0'"):
        strings(characters=str(tmp_path / "letters"))


def test_the_licence_is_beside_the_digits_and_the_graph_does_not_hold_them():
    assert "CC BY 4.0" in (_FOLDER / "LICENSE.txt").read_text()
    with tf.Graph().as_default() as graph:
        strings().dataset(Mode.TRAIN, InputContext(batch_size=2))
        assert graph.as_graph_def().ByteSize() < 100_000
