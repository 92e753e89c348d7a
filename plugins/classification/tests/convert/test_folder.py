"""A folder of images becomes TFRecords."""

import io
import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame_classification.convert.divide import divide
from tf_frame_classification.convert.folder import read_folder

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
    found = {example["image/filename"].decode(): example for example in examples()}
    assert found.keys() == {"dog/a.JPG", "dog/b.png", "cat/c.bmp", "cat/d.jpeg"}
    for name, example in found.items():
        assert example["image/encoded"] == (photos / name).read_bytes()
    assert found["dog/b.png"] == {
        "image/encoded": (photos / "dog/b.png").read_bytes(),
        "image/format": b"png",
        "image/height": 7,
        "image/width": 3,
        "image/class/label": 1,
        "image/class/text": b"dog",
        "image/filename": b"dog/b.png",
    }
    formats = {name: example["image/format"] for name, example in found.items()}
    assert formats == {
        "dog/a.JPG": b"jpeg",
        "dog/b.png": b"png",
        "cat/c.bmp": b"bmp",
        "cat/d.jpeg": b"png",
    }
    assert found["cat/c.bmp"]["image/class/label"] == 0
    assert (tmp_path / "records" / "labels.txt").read_text() == "0:cat\n1:dog\n"
    assert sorted(path.name for path in (tmp_path / "records").iterdir()) == [
        "labels.txt",
        "train-00000-of-00002",
        "train-00001-of-00002",
        "train.conversion.json",
    ]


def test_of_a_gif_the_first_frame_becomes_a_png(convert, examples, tmp_path):
    frames = [Image.new("P", (6, 2), color) for color in (0, 1)]
    for frame in frames:
        frame.putpalette([10, 20, 30, 200, 100, 50])
    (tmp_path / "gifs" / "only").mkdir(parents=True)
    frames[0].save(tmp_path / "gifs/only/a.gif", save_all=True, append_images=frames[1:])
    assert convert("image_folder", tmp_path / "gifs", "--shards", "1") == 0
    [example] = examples()
    assert (example["image/format"], example["image/height"], example["image/width"]) == (
        b"png",
        2,
        6,
    )
    pixels = tf.io.decode_png(example["image/encoded"]).numpy()
    np.testing.assert_array_equal(pixels, np.full([2, 6, 3], [10, 20, 30]))


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_a_webp_becomes_a_png(convert, examples, tmp_path, mode):
    (tmp_path / "webp" / "only").mkdir(parents=True)
    image = Image.new(mode, (6, 2), (10, 20, 30))
    image.save(tmp_path / "webp/only/a.webp", lossless=True, exact=True)
    assert convert("image_folder", tmp_path / "webp", "--shards", "1") == 0
    [example] = examples()
    assert example["image/format"] == b"png"
    pixels = tf.io.decode_png(example["image/encoded"]).numpy()
    np.testing.assert_array_equal(pixels, np.full([2, 6, 3], [10, 20, 30]))


def test_the_order_mixes_the_classes_and_follows_from_the_seed(tmp_path):
    png = content("PNG")
    for number in range(20):
        for name in ("a", "b"):
            path = tmp_path / "many" / name / f"{number:02}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png)

    def order(seed):
        return [(p.filename, p.label) for p in read_folder(tmp_path / "many", seed=seed).pictures]

    assert order(0) == order(0)
    assert order(0) != order(1)
    assert sorted(order(0)) == sorted(order(1))
    assert {label for _, label in order(0)[:20]} == {0, 1}


@pytest.mark.parametrize(
    "damage,reason",
    [
        (lambda data: b"", "is empty: no JPEG, PNG, BMP, GIF or WebP"),
        (lambda data: b"<html>", "begins with 3c 68 74 6d: no JPEG"),
        (lambda data: data[:-20], "cannot be decoded: jpeg::Uncompress failed"),
    ],
)
def test_a_corrupt_image_is_named_and_nothing_is_left_half_written(
    convert, photos, tmp_path, capsys, damage, reason
):
    path = photos / "dog" / "a.JPG"
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert convert("image_folder", photos, "--shards", "1") == 2
    told = capsys.readouterr().err
    assert f"dog/a.JPG {reason}" in told
    assert "--skip_corrupt" in told
    names = {path.name for path in (tmp_path / "records").iterdir()}
    assert names == {"labels.txt", "train.conversion.json"}
    # No shard is finished yet, so the source may change.
    path.write_bytes(good)
    assert convert("image_folder", photos, "--shards", "1") == 0


def test_corrupt_images_can_be_left_out_and_are_counted(
    convert, examples, photos, tmp_path, capsys
):
    (photos / "dog" / "a.JPG").write_bytes(b"")
    assert convert("image_folder", photos, "--shards", "2", "--skip_corrupt") == 0
    told = capsys.readouterr()
    assert "left out: dog/a.JPG is empty" in told.err
    assert "3 images of 2 classes in 2 shards; 1 corrupt images left out" in told.out
    assert len(examples()) == 3
    result = (tmp_path / "records" / "train.conversion.json").read_text()
    assert '"dog/a.JPG"' in result
    # A rerun finds it missing from a shard that is finished.
    assert convert("image_folder", photos, "--shards", "2") == 2
    assert "does without 1 images, such as dog/a.JPG" in capsys.readouterr().err
    assert convert("image_folder", photos, "--shards", "2", "--skip_corrupt") == 0
    assert "2 of them finished before; 1 corrupt" in capsys.readouterr().out
    assert (tmp_path / "records" / "train.conversion.json").read_text() == result


def test_without_any_good_image_there_is_nothing_to_convert(convert, photos, tmp_path, capsys):
    for path in photos.glob("*/*"):
        path.write_bytes(b"")
    assert convert("image_folder", photos, "--shards", "2", "--skip_corrupt") == 2
    assert "none of the 4 images can be decoded" in capsys.readouterr().err
    assert not list((tmp_path / "records").glob("*-of-*"))


@pytest.mark.parametrize(
    "make,told",
    [
        (lambda root: None, "there is no {root}: give the folder of the class folders"),
        (lambda root: root.write_text(""), "{root} is a file"),
        (lambda root: root.mkdir(), "{root} has no folders: it must hold one folder for each"),
        (lambda root: (root / "cat").mkdir(parents=True), "class folder {root}/cat holds no image"),
    ],
)
def test_a_source_that_holds_no_classes_is_refused(convert, tmp_path, capsys, make, told):
    root = tmp_path / "source"
    make(root)
    assert convert("image_folder", root) == 2
    error = capsys.readouterr().err
    assert told.format(root=root) in error
    assert "Traceback" not in error
    assert not (tmp_path / "records").exists()


def test_an_image_that_may_not_be_read_is_no_corrupt_one(convert, photos, capsys, monkeypatch):
    (photos / "dog" / "z.jpg").symlink_to(photos / "dog" / "b.png")
    assert convert("image_folder", photos, "--shards", "1") == 0
    os.unlink(photos / "dog" / "z.jpg")
    (photos / "dog" / "z.jpg").mkdir()
    monkeypatch.chdir(photos)
    for path in photos.parent.glob("records/train*"):
        path.unlink()
    assert convert("image_folder", photos, "--shards", "1", "--skip_corrupt") == 2
    assert f"cannot read {photos}/dog/z.jpg: Is a directory" in capsys.readouterr().err


def test_a_link_that_leads_nowhere_is_named(convert, photos, capsys):
    (photos / "dog" / "z.jpg").symlink_to(photos / "gone.jpg")
    assert convert("image_folder", photos, "--shards", "1", "--skip_corrupt") == 2
    told = capsys.readouterr().err
    assert f"cannot read {photos}/dog/z.jpg: No such file or directory; mend or remove it" in told


@pytest.fixture
def many(tmp_path):
    """Ten images of each of two classes, and one of a third."""
    for name in [*(f"{c}/{n}" for c in "ab" for n in range(10)), "c/0"]:
        path = tmp_path / "many" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content("PNG"))
    return tmp_path / "many"


def names(examples):
    return {example["image/filename"].decode() for example in examples}


def test_a_part_of_each_class_can_be_held_out_for_validation(convert, examples, many, capsys):
    options = ["--eval_fraction", "0.2", "--shards", "4"]
    assert convert("image_folder", many, *options) == 0
    told = capsys.readouterr()
    assert "train: 17 images of 3 classes in 4 shards" in told.out
    assert "validation: 4 images of 3 classes in 1 shards" in told.out
    assert "warning" not in told.err
    training, validation = names(examples()), names(examples("validation"))
    assert not training & validation
    assert len(training | validation) == 21 and "c/0.png" in training
    assert [sum(name.startswith(c) for name in validation) for c in "ab"] == [2, 2]
    assert convert("image_folder", many, *options) == 0
    assert "4 of them finished before" in capsys.readouterr().out
    assert convert("image_folder", many, *options, "--seed", "1") == 2
    assert "seed was 0, now 1" in capsys.readouterr().err


def test_the_choice_follows_from_the_seed(many):
    source = read_folder(many, seed=0)

    def held_out(seed, source=source):
        return {picture.filename for picture in divide(source, 0.3, seed=seed)[1].pictures}

    assert held_out(0) == held_out(0, read_folder(many, seed=5))
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


def test_a_division_that_cannot_be_is_refused(convert, photos, many, capsys):
    options = ["--eval_fraction", "0.5", "--split", "validation"]
    assert convert("image_folder", many, *options) == 2
    assert "leave --split validation out" in capsys.readouterr().err
    for path in [*photos.glob("*/b.png"), *photos.glob("*/d.jpeg")]:
        path.unlink()
    assert convert("image_folder", photos, "--eval_fraction", "0.5") == 2
    assert "every class has one picture only" in capsys.readouterr().err
