"""Damage in a folder of images and masks is named, or left out and counted."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from segmentation_folders import names, picture, random_classes, source, take, write
from sessions import initialized_session
from slow_cases import slow_but
from tf_frame import InputContext, Mode
from tf_frame.errors import DataError
from tf_frame.testing.elements import read_elements
from tf_frame_deeplab.model import DeepLab, Params as ModelParams
from tf_frame_vision.reading.skipped import SkippedHook

pytestmark = pytest.mark.usefixtures("graph")


def damage(folder, kind):
    image, mask = folder / "images" / "p1.png", folder / "masks" / "p1.png"
    if kind == "no image":
        image.unlink()
    elif kind == "no mask":
        mask.unlink()
    elif kind == "another size":
        picture(mask, random_classes(1, (24, 31)))
    elif kind == "a class out of range":
        picture(mask, np.where(random_classes(1) == 2, 3, random_classes(1)).astype(np.uint8))
    elif kind == "a cut mask":
        mask.write_bytes(mask.read_bytes()[:-40])
    elif kind == "a cut image":
        image.write_bytes(image.read_bytes()[:200])
    elif kind == "no picture":
        image.write_text("no picture")
    elif kind == "a JPEG mask":
        picture(mask, random_classes(1), format="JPEG")
    elif kind == "a mask in colour":
        picture(mask, np.full([24, 32, 3], 9, np.uint8))
    elif kind == "an unknown colour":
        (folder / "classes.txt").write_text("a 1 1 1\nb 2 2 2\nc 3 3 3\n")
        picture(mask, np.full([24, 32, 3], 9, np.uint8))
    elif kind == "an empty folder":
        for path in (folder / "masks").iterdir():
            path.unlink()
    else:
        (folder / "train.txt").write_text("p0\np7\n")


DAMAGE = {
    "no image": r"in \S+masks, p1.png has no image; add it",
    "no mask": r"in \S+images, p1.png has no mask; add it",
    "another size": r"masks/p1.png is 24 x 31 pixels, but its image 24 x 32; mend or",
    "a class out of range": r"p1.png has the value 3; classes are 0 to 2, and 255 is ignored",
    "a cut mask": r"masks/p1.png: it cannot be decoded: ",
    "a cut image": r"images/p1.png: it cannot be decoded: ",
    "no picture": r"images/p1.png: it is no JPEG, PNG",
    "a JPEG mask": r"masks/p1.png is no PNG; masks must be PNG files",
    "a mask in colour": r"masks/p1.png is in colour, but the classes have no colours; write",
    "an unknown colour": r"masks/p1.png has the colour 9 9 9, which no class has",
    "an empty folder": r"images has no image with a mask, but p0.png, .* folders, train, and",
    "a name that is not there": r"train.txt lists p7, but there is no .* a line is a name",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_folder_is_one_line_at_the_start(tmp_path, kind):
    damage(write(tmp_path), kind)
    with pytest.raises(DataError, match=DAMAGE[kind]) as caught:
        source(tmp_path)
    assert "\n" not in str(caught.value)


LATER = {
    "another size": r"masks/p1.png is 24 x 31 pixels, but its image 24 x 32",
    "a class out of range": r"masks/p1.png has the value 3, which is no class",
    "a cut mask": r"images/p1.png: it or \S+masks/p1.png cannot be decoded",
    "an unknown colour": r"masks/p1.png has the colour 9 9 9, which no class has",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", slow_but(0, LATER))
def test_what_is_damaged_later_is_named_when_it_is_read(tmp_path, kind):
    write(tmp_path)
    if kind == "an unknown colour":
        for number in range(4):
            picture(tmp_path / "masks" / f"p{number}.png", np.zeros([24, 32, 3], np.uint8))
        (tmp_path / "classes.txt").write_text("a 0 0 0\nb 1 1 1\n")
    of = source(tmp_path, eval_fraction=0.0)
    damage(tmp_path, kind)
    with pytest.raises(tf.errors.InvalidArgumentError, match=LATER[kind]):
        take(of, Mode.TRAIN, count=4, batch_size=1)


def test_damaged_pairs_may_be_left_out_and_all_masks_are_checked_once(tmp_path, monkeypatch):
    damage(write(tmp_path), "another size")
    of = source(tmp_path, eval_fraction=0.0, skip_corrupt=True)
    assert names(of, Mode.TRAIN) == ["p0", "p2", "p3"]
    assert "p1.png is 24 x 31" in of.splits[Mode.TRAIN].damaged[0]
    left_out = of.data_report().splits[Mode.TRAIN].left_out
    assert left_out == {"a mask is N x N pixels, but its image N x N": 1}
    for number in range(4):
        (tmp_path / f"images/p{number}.png").write_bytes(b"no image")
    of = source(tmp_path, eval_fraction=0.0, skip_corrupt=True)
    assert of.data_report().splits[Mode.TRAIN].examples == 0
    with pytest.raises(DataError, match=r"not one example .* used: \S+images/p0.png: it is no J"):
        of.dataset(Mode.TRAIN, InputContext(batch_size=1))
    monkeypatch.setattr("tf_frame_deeplab.inputs.segmentation_folder._CHECKED_PIXELS", 24 * 32)
    damage(write(tmp_path), "a class out of range")
    with pytest.raises(DataError, match=r"p1.png has the value"):
        source(tmp_path, eval_fraction=0.0)
    monkeypatch.setattr("tf_frame_vision.reading.cache.KEPT_AFTER_SECS", 0)
    facts = source(write(tmp_path), eval_fraction=0.0).splits[Mode.TRAIN].content[1]
    monkeypatch.setattr("tf_frame_deeplab.inputs.segmentation_folder.check_pixels", None)
    assert source(tmp_path, eval_fraction=0.0).splits[Mode.TRAIN].content[1] == facts
    assert all(fact.counts for fact in facts)


def test_prediction_leaves_out_files_that_cannot_be_decoded(tmp_path):
    images = write(tmp_path) / "images"
    paths = [str(images / f"p{number}.png") for number in range(3)]
    (images / "p1.png").write_bytes((images / "p1.png").read_bytes()[:200])

    def predicted(**params):
        batches = source(tmp_path, **params).prediction_dataset(paths, InputContext(batch_size=1))
        return [Path(batch["name"][0].decode()).name for batch in read_elements(batches)]

    assert predicted(skip_corrupt=True) == ["p0.png", "p2.png"]
    (tmp_path / "val.txt").write_text("p0")
    (tmp_path / "train.txt").write_text("p2")
    with pytest.raises(tf.errors.InvalidArgumentError):
        predicted()


@pytest.mark.slow
def test_the_model_counts_what_is_left_out_while_reading(tmp_path, monkeypatch):
    monkeypatch.setattr("tf_frame_deeplab.inputs.segmentation_folder._CHECKED_PIXELS", 0)
    damage(write(tmp_path), "a class out of range")
    of = source(tmp_path, eval_fraction=0.0, skip_corrupt=True, crop_size=(33,))
    dataset = of.dataset(Mode.TRAIN, InputContext(batch_size=4))
    iterator = tf.data.make_initializable_iterator(dataset)
    params = ModelParams(depth_multiplier=0.1, aspp_channels=4, decoder_channels=0)
    output = DeepLab(params=params, info=of.info).build(*iterator.get_next(), Mode.TRAIN)
    (hook,) = output.hooks
    assert type(hook) is SkippedHook
    with initialized_session() as session:
        session.run(iterator.initializer)
        session.run(output.loss)
        session.run(output.loss)
        (count,) = [v for v in tf.local_variables() if v.op.name == "skipped_examples/count"]
        assert session.run(count) >= 1
