import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import ImageFont

from tf_frame import InputContext, Mode
from tf_frame.errors import DataError, NoDataError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_recognition.inputs.fonts import EMBEDDED, find_fonts
from tf_frame_recognition.inputs.render import draw_word
from tf_frame_recognition.inputs.rendered_words import Params, RenderedWords

SMALL = {"image_size": (16, 48), "fonts": ()}


@pytest.fixture(autouse=True)
def only_the_embedded_font(monkeypatch):
    monkeypatch.setattr("tf_frame_recognition.inputs.fonts._FOLDERS", ())


def words(**params):
    return RenderedWords(params=Params(**{**SMALL, **params}))


def take(source, mode=Mode.TRAIN, count=1, **context):
    with tf.Graph().as_default():
        dataset = source.dataset(mode, InputContext(**{"batch_size": 8, **context}))
        return read_elements(dataset, count)


def test_words_are_drawn_and_those_held_out_are_evaluated():
    source = words()
    assert source.notes() == ["fonts that have all characters: 1 (the one of Pillow)"]
    ((features, labels),) = take(source)
    assert features["image"].shape == (8, 16, 48, 1) and features["image"].dtype == np.float32
    assert labels["text"].shape == (8, 25) and labels["text"].dtype == np.int32
    assert (features["image"].std(axis=(1, 2, 3)) > 5).all()
    trained, evaluated = (set(source.splits[mode].content[1]) for mode in (Mode.TRAIN, Mode.EVAL))
    assert len(trained) > 200 and len(evaluated) > 20 and not trained & evaluated
    texts = {source.label_map.text(row) for row in labels["text"]}
    assert texts <= trained and len(texts) == 8
    assert source.info.num_examples[Mode.EVAL] == 500


@pytest.mark.slow
def test_evaluation_images_do_not_depend_on_the_seed():
    ((first, labels),) = take(words(), Mode.EVAL, seed=1, batch_size=60)
    ((second, _),) = take(words(), Mode.EVAL, seed=2, batch_size=60)
    np.testing.assert_array_equal(first["image"], second["image"])
    same = np.flatnonzero((labels["text"] == labels["text"][0]).all(axis=1))
    assert len(same) > 1
    assert not np.array_equal(first["image"][same[0]], first["image"][same[1]])


# The test of several inputs in test_several.py covers it, too.
@pytest.mark.slow
def test_training_goes_on_exactly_where_it_stopped():
    check_exact_resume(words(channels=3), batch_size=2, steps=2, num_clones=2)


def test_a_list_of_words_and_its_faults(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("Ab\n\nna\u00efve\nAb\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"words.txt: na.*: its text .* has the character ï"):
        words(words=str(path), eval_fraction=0.0)
    source = words(words=str(path), eval_fraction=0.0, skip_corrupt=True)
    assert source.info.num_examples[Mode.TRAIN] == 2
    ((_, labels),) = take(source)
    assert set(map(tuple, labels["text"][:, :3])) == {(10, 11, -1)}
    with pytest.raises(NoDataError, match="leaves nothing to evaluate"):
        take(source, Mode.EVAL)
    path.write_text("\n")
    with pytest.raises(DataError, match=r"words.txt has no word"):
        words(words=str(path))
    with pytest.raises(DataError, match=r"gone.txt cannot be read"):
        words(words=str(tmp_path / "gone.txt"))


def test_bent_words_are_whole_and_differ_from_straight_ones():
    def draw(bent):
        form = {"fonts": [EMBEDDED], "size": (32, 96), "channels": 1}
        image = draw_word("mill", np.random.default_rng(5), bent=bent, **form)[..., 0]
        ground = np.median(image)
        return np.abs(image - ground) > 40

    straight, bent = draw(False), draw(True)
    assert straight.any(axis=1).mean() > 0.5 and (straight != bent).mean() > 0.05
    for ink in (straight, bent):
        edges = [ink[0], ink[-1], ink[:, 0], ink[:, -1]]
        assert np.concatenate(edges).mean() < 0.1 * ink.mean()


def test_only_fonts_that_have_the_characters_are_used(tmp_path):
    embedded = ImageFont.load_default(16)
    path = tmp_path / "fonts" / "embedded.TTF"
    path.parent.mkdir()
    embedded.path.seek(0)
    path.write_bytes(embedded.path.read())
    (path.parent / "broken.otf").write_bytes(b"no font")
    assert find_fonts([str(path.parent)], "abc 1") == [str(path)]
    with pytest.raises(DataError, match=r"none of the 2 fonts there .* has all characters"):
        find_fonts([str(path.parent)], "ab\u0e01")
    with pytest.raises(DataError, match=r"--input.fonts .*gone does not exist"):
        find_fonts([str(tmp_path / "gone")], "a")
