"""A folder of images becomes TFRecords."""

import io
import shutil

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame_classification.convert.divide import divide
from tf_frame_classification.convert.folder import read_parts
from tf_frame_vision.convert import conversion

RANDOM = np.random.RandomState(0)


def content(image_format, height=4, width=5):
    """An image file."""
    pixels = RANDOM.randint(0, 256, (height, width, 3)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, image_format)
    return file.getvalue()


@pytest.fixture
def photos(tmp_path):
    """Two classes, four images, and files that are none."""
    root = tmp_path / "photos"
    for name, data in {
        "dog/a.JPG": content("JPEG"),
        "dog/b.png": content("PNG", 7, 3),
        "cat/c.bmp": content("BMP"),
        # A PNG by its bytes, whatever it is called.
        "cat/d.jpeg": content("PNG"),
        "cat/notes.txt": b"no image",
        "cat/.hidden.jpg": b"no image",
        ".thumbnails/x.jpg": b"no image",
        "readme.jpg": b"in no class",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def test_images_are_stored_as_they_are_with_slims_keys(convert, examples, photos, tmp_path):
    assert convert("image_folder", photos, "--shards", "2") == 0
    by_name = {example["image/filename"].decode(): example for example in examples()}
    for name, example in by_name.items():
        assert example["image/encoded"] == (photos / name).read_bytes()
    assert by_name["dog/b.png"] == {
        "image/encoded": (photos / "dog/b.png").read_bytes(),
        "image/format": b"png",
        "image/height": 7,
        "image/width": 3,
        "image/class/label": 1,
        "image/class/text": b"dog",
        "image/filename": b"dog/b.png",
    }
    formats = {name: example["image/format"] for name, example in by_name.items()}
    expected = {"dog/a.JPG": b"jpeg", "dog/b.png": b"png", "cat/c.bmp": b"bmp"}
    assert formats == {**expected, "cat/d.jpeg": b"png"}
    assert by_name["cat/c.bmp"]["image/class/label"] == 0
    assert (tmp_path / "records" / "labels.txt").read_text() == "0:cat\n1:dog\n"
    assert sorted(path.name for path in (tmp_path / "records").iterdir()) == [
        "labels.txt",
        "train-00000-of-00002",
        "train-00001-of-00002",
        "train.conversion.json",
    ]


def test_the_first_frame_of_a_gif_and_a_webp_become_a_png(convert, examples, tmp_path):
    frames = [Image.new("P", (6, 2), color) for color in (0, 1)]
    for frame in frames:
        frame.putpalette([10, 20, 30, 200, 100, 50])
    folder = tmp_path / "photos" / "only"
    folder.mkdir(parents=True)
    frames[0].save(folder / "a.gif", save_all=True, append_images=frames[1:])
    for mode in ("RGB", "RGBA"):
        image = Image.new(mode, (6, 2), (10, 20, 30))
        image.save(folder / f"{mode}.webp", lossless=True, exact=True)
    assert convert("image_folder", tmp_path / "photos", "--shards", "1") == 0
    assert len(examples()) == 3
    for example in examples():
        size = example["image/height"], example["image/width"]
        assert (example["image/format"], size) == (b"png", (2, 6))
        pixels = tf.io.decode_png(example["image/encoded"]).numpy()
        np.testing.assert_array_equal(pixels, np.full([2, 6, 3], [10, 20, 30]))


def test_the_order_mixes_the_classes_and_follows_from_the_seed(many):
    def order(seed):
        return [(p.filename, p.label) for p in read_parts(many, seed=seed)["train"].pictures]

    assert order(0) == order(0)
    assert order(0) != order(1)
    assert sorted(order(0)) == sorted(order(1))
    assert {label for _, label in order(0)[:10]} >= {0, 1}


@pytest.mark.parametrize(
    "damage,reason",
    [
        (lambda data: b"", "it is empty"),
        (lambda data: b"<html>", "it is no JPEG, PNG"),
        (lambda data: data[:-20], "it cannot be decoded: "),
    ],
)
def test_a_corrupt_image_is_named_and_nothing_is_left_half_written(
    convert, refuse, photos, tmp_path, damage, reason
):
    path = photos / "dog" / "a.JPG"
    good = path.read_bytes()
    path.write_bytes(damage(good))
    error = refuse("image_folder", photos, "--shards", "1")
    assert f"dog/a.JPG: {reason}" in error and "--skip_corrupt" in error
    names = {path.name for path in (tmp_path / "records").iterdir()}
    assert names == {"labels.txt", "train.conversion.json"}
    # No shard is finished yet, so the source may change.
    path.write_bytes(good)
    assert convert("image_folder", photos, "--shards", "1") == 0


def test_names_of_files_do_not_steer_a_terminal(convert, photos, capsys):
    (photos / "dog" / "\x1b[2J.png").write_bytes(b"")
    assert convert("image_folder", photos, "--shards", "1", "--skip_corrupt") == 0
    assert "left out: dog/\\u001b[2J.png: it is empty" in capsys.readouterr().err


def test_corrupt_images_can_be_left_out_and_are_counted(
    convert, refuse, examples, photos, tmp_path, capsys
):
    (photos / "dog" / "a.JPG").write_bytes(b"")
    words = ["image_folder", photos, "--shards", "2"]
    assert convert(*words, "--skip_corrupt") == 0
    printed = capsys.readouterr()
    assert "left out: dog/a.JPG: it is empty" in printed.err
    assert "3 images of 2 classes in 2 shards; 1 corrupt images left out" in printed.out
    assert len(examples()) == 3
    result = (tmp_path / "records" / "train.conversion.json").read_text()
    assert '"dog/a.JPG"' in result
    # A finished shard lacks the image, which a rerun notices.
    assert "does without 1 images, such as dog/a.JPG" in refuse(*words)
    assert convert(*words, "--skip_corrupt") == 0
    assert "2 of them finished before; 1 corrupt" in capsys.readouterr().out
    assert (tmp_path / "records" / "train.conversion.json").read_text() == result
    # Without any good image there is nothing to convert.
    shutil.rmtree(tmp_path / "records")
    for path in photos.glob("*/*"):
        path.write_bytes(b"")
    error = refuse(*words, "--skip_corrupt")
    assert "none of the 4 images can be decoded" in error
    assert not list((tmp_path / "records").glob("*-of-*"))


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda root: None, "there is no {root}: give the folder of the class folders"),
        (lambda root: root.write_text(""), "{root} is a file"),
        (lambda root: root.mkdir(), "{root} has no folder in it: no file either. It needs"),
        (lambda root: (root / "cat").mkdir(parents=True), "class folder {root}/cat has no image"),
    ],
)
def test_a_source_that_holds_no_classes_is_refused(refuse, tmp_path, make, message):
    root = tmp_path / "source"
    make(root)
    assert message.format(root=root) in refuse("image_folder", root)
    assert not (tmp_path / "records").exists()


def test_links_are_followed_and_what_cannot_be_read_is_no_corrupt_image(
    convert, refuse, photos, tmp_path
):
    words = ["image_folder", photos, "--shards", "1"]
    path = photos / "dog" / "z.jpg"
    path.symlink_to(photos / "dog" / "b.png")
    assert convert(*words) == 0
    shutil.rmtree(tmp_path / "records")
    path.unlink()
    path.symlink_to(photos / "gone.jpg")
    error = refuse(*words, "--skip_corrupt")
    assert f"cannot read {path}: No such file or directory; mend or remove it" in error


def test_the_parts_of_a_folder_are_converted_with_the_names_of_their_images(
    convert, refuse, examples, tmp_path
):
    root = tmp_path / "photos"
    for name in (
        *("train/cat/photo.png", "train/cat/more/photo.png", "train/dog/photo.png"),
        *("valid/dog/photo.png", "test/dog/photo.png", "train/dog/._photo.png"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content("PNG"))
    assert convert("image_folder", root, "--shards", "1") == 0

    def labels(split):
        return {e["image/filename"].decode(): e["image/class/label"] for e in examples(split)}

    training = {"cat/photo.png": 0, "cat/more/photo.png": 0, "dog/photo.png": 1}
    assert labels("train") == training
    assert labels("validation") == labels("test") == {"dog/photo.png": 1}
    assert "--split other is the name of one part" in refuse("image_folder", root, "--split=other")
    assert "leave the option out" in refuse("image_folder", root, "--eval_fraction=0.5")


@pytest.fixture
def many(tmp_path):
    """Ten images of each of two classes, and one of a third."""
    for name in [*(f"{c}/{n}" for c in "ab" for n in range(10)), "c/0"]:
        path = tmp_path / "many" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content("PNG"))
    return tmp_path / "many"


def test_a_part_of_each_class_can_be_held_out_for_validation(
    convert, refuse, examples, many, capsys
):
    words = ["image_folder", many, "--eval_fraction", "0.2", "--shards", "4"]
    assert convert(*words) == 0
    printed = capsys.readouterr()
    assert "train: 17 images of 3 classes in 4 shards" in printed.out
    assert "validation: 4 images of 3 classes in 1 shard" in printed.out
    assert "warning" not in printed.err
    training, validation = (
        {example["image/filename"].decode() for example in examples(split)}
        for split in ("train", "validation")
    )
    assert not training & validation
    assert len(training | validation) == 21 and "c/0.png" in training
    assert [sum(name.startswith(c) for name in validation) for c in "ab"] == [2, 2]
    assert convert(*words) == 0
    assert "4 of them finished before" in capsys.readouterr().out
    assert "seed was 0, now 1" in refuse(*words, "--seed", "1")


def test_the_choice_follows_from_the_seed(many):
    def held_out(seed, order_seed=0):
        _, validation = divide(read_parts(many, seed=order_seed)["train"], 0.3, seed=seed)
        return {picture.filename for picture in validation.pictures}

    assert held_out(0) == held_out(0, order_seed=5)
    assert held_out(0) != held_out(1)


def test_a_split_of_the_same_files_is_warned_of(convert, many, tmp_path, capsys):
    assert convert("image_folder", many, "--shards", "1") == 0
    assert "warning" not in capsys.readouterr().err
    # The same files by another name.
    (tmp_path / "again").symlink_to(many)
    again = ["image_folder", tmp_path / "again", "--split", "validation", "--shards", "1"]
    assert convert(*again) == 0
    warning = "warning: validation is made of the same files as train"
    assert warning in capsys.readouterr().err
    (many / "a" / "new.png").write_bytes(content("PNG"))
    assert convert("image_folder", many, "--split", "other", "--shards", "1") == 0
    assert "warning" not in capsys.readouterr().err


def test_a_division_that_cannot_be_is_refused(refuse, photos, many):
    options = ["--eval_fraction", "0.5", "--split", "validation"]
    assert "leave --split validation out" in refuse("image_folder", many, *options)
    for path in [*photos.glob("*/b.png"), *photos.glob("*/d.jpeg")]:
        path.unlink()
    error = refuse("image_folder", photos, "--eval_fraction", "0.5")
    assert "every class has one picture only" in error


def test_both_parts_of_a_division_have_shards_by_their_own_size(
    convert, many, tmp_path, monkeypatch
):
    size = len(content("PNG"))
    monkeypatch.setattr(conversion, "_SHARD_BYTES", 5 * size)
    assert convert("image_folder", many, "--eval_fraction", "0.2") == 0
    names = {path.name for path in (tmp_path / "records").glob("*-of-*")}
    assert {"train-00003-of-00004", "validation-00000-of-00001"} <= names and len(names) == 5
