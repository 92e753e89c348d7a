"""The inputs `text_folder` and `text_tfrecord`: the same words in two forms, and their faults."""

import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

import tfrecords
from tf_frame import InputContext, Mode
from tf_frame.errors import DataError, NoDataError
from tf_frame.testing.elements import read_elements
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_recognition.inputs import label_file, text_folder, text_tfrecord

SMALL = {"image_size": (8, 24), "max_length": 6}
WORDS = {"a.png": "Hello", "b.png": "w0rld"}
FAULTS = {
    "empty.png": "",
    "long.png": "bookcase",
    "other.png": "na&ve",
    "broken.png": "word",
    "gone.png": "word",
}


def pixels(name):
    return np.random.RandomState(ord(name[0])).randint(0, 256, [16, 48, 3]).astype(np.uint8)


def write_folder(folder, words):
    (folder / "labels.txt").write_text("".join(f"{name}\t{text}\n" for name, text in words.items()))
    for name in words:
        if name == "broken.png":
            (folder / name).write_bytes(b"no image")
        elif name != "gone.png":
            Image.fromarray(pixels(name)).save(folder / name)


def write_records(folder, words):
    """Writes the words into two files; the second has the keys of FSNS."""
    for number, name in enumerate(words):
        key = "image/transcript" if number % 2 == 0 else "image/text"
        with tf.Graph().as_default(), tf.Session() as session:
            data = session.run(tf.io.encode_png(pixels(name)))
        values = {"image/encoded": b"no" if name == "broken.png" else data}
        if name != "gone.png":
            values[key] = words[name].encode()
        tfrecords.write_records(folder / f"train-{number}", [tfrecords.make_example(values)])


def folder_input(path, **params):
    params = text_folder.Params(data_dir=str(path), **SMALL, **params)
    return text_folder.TextFolder(params=params)


def record_input(path, **params):
    params = text_tfrecord.Params(data_dir=str(path), **SMALL, **params)
    return text_tfrecord.TextTfrecord(params=params)


def take(source, mode=Mode.EVAL, count=None, batch_size=4):
    with tf.Graph().as_default():
        return read_elements(source.dataset(mode, InputContext(batch_size=batch_size)), count)


@pytest.fixture(params=["text_folder", "text_tfrecord"])
def faulty(request, tmp_path):
    """Makes an input of good and faulty words, all of them for evaluation."""
    words = {**FAULTS, **WORDS}
    if request.param == "text_folder":
        write_folder(tmp_path, words)
        return lambda **params: folder_input(tmp_path, eval_labels="labels.txt", **params)
    write_records(tmp_path, words)
    return lambda **params: record_input(tmp_path, eval_pattern=("train-*",), **params)


def test_the_first_fault_ends_the_run(faulty):
    # Labels of a folder are known before the training, those of records when they are read.
    kinds = (DataError, tf.errors.InvalidArgumentError)
    with pytest.raises(
        kinds, match=r"its text is empty( \(4 more in this split\))?; mend or remove"
    ):
        take(faulty())


def test_faulty_words_are_left_out_named_and_counted(faulty):
    ((features, labels),) = take(faulty(skip_corrupt=True))
    expected = [[17, 14, 21, 21, 24, -1], [32, 0, 27, 21, 13, -1]]
    np.testing.assert_array_equal(labels["text"], expected)
    assert features["skipped"].tolist() == [5, 5]
    reasons = features["skipped_first"][0].decode().split("\n")
    assert len(reasons) == 5
    for expected_reason in (
        r"its text is empty",
        r"its text bookcase has 8 characters; --input.max_length is 6",
        r"its text na&ve has the character &, which --input.characters does not",
        r"it is no JPEG, PNG|cannot be decoded",
        r"there is no such file in|none of the keys image/transcript, image/",
    ):
        assert any(re.search(expected_reason, reason) for reason in reasons)
    image = features["image"]
    assert image.shape == (2, 8, 24, 1) and image.dtype == np.float32
    grey = pixels("a.png") @ np.array([0.2989, 0.587, 0.114])
    assert abs(image[0].mean() - grey.mean()) < 2 and image[0].std() < grey.std()


@pytest.mark.slow
def test_training_goes_on_exactly_where_it_stopped(tmp_path):
    write_folder(tmp_path, {**FAULTS, **WORDS})
    source = folder_input(tmp_path, eval_labels="labels.txt", skip_corrupt=True)
    check_exact_resume(source, batch_size=2, steps=2)


@pytest.mark.slow
def test_brightness_and_contrast_of_training_images_vary(tmp_path):
    write_folder(tmp_path, WORDS)
    params = {"eval_labels": "labels.txt", "shuffle_buffer": 0}
    ((varied, _),) = take(folder_input(tmp_path, **params), Mode.TRAIN, 1)
    image = varied["image"]
    # The order is that of the file: a, b, a, b.
    assert np.abs(image[0] - image[2]).mean() > 1
    assert image.min() >= 0 and image.max() <= 255
    ((plain, _),) = take(folder_input(tmp_path, augment=False, **params), Mode.TRAIN, 1)
    np.testing.assert_array_equal(plain["image"][0], plain["image"][2])


@pytest.mark.parametrize(
    ("line", "place", "name", "text"),
    [
        ("a b.png\tHello  world", "line", "a b.png", "Hello  world"),
        ("a.png   Hello world", "line", "a.png", "Hello world"),
        ('word_1.png, "say \\"no\\""', "line", "word_1.png", 'say "no"'),
        ("a.png", "line", "a.png", ""),
        ('a.png "x"', "line", "a.png", '"x"'),
        (" lead.png\t x ", "line", " lead.png", "x"),
        ("  \tx.png y", "line", "x.png", "y"),
        ('word_1.png, " \\\\\\"x\u2028 " ', "line", "word_1.png", ' \\"x\u2028 '),
        ("a.png\tbig\x85", "line", "a.png", "big\x85"),
        ("a\u00a0b.png\u2028 free\x0bhold", "line", "a\u00a0b.png\u2028", "free\x0bhold"),
        # MJSynth has the text in the name.
        ("./7/182_slinking_71711.jpg 71711", "name", "./7/182_slinking_71711.jpg", "slinking"),
        ("plain.jpg 1", "name", "plain.jpg", ""),
    ],
)
def test_lines_of_labels(line, place, name, text):
    assert label_file._name_and_text(line, place) == (name, text)


def test_a_part_of_the_words_is_held_out(tmp_path):
    words = {f"{letter}.png": letter for letter in "abcdefghij"}
    write_folder(tmp_path, words)
    source = folder_input(tmp_path, eval_fraction=0.3)
    assert source.info.num_examples == {Mode.TRAIN: 7, Mode.EVAL: 3, Mode.PREDICT: 3}
    assert folder_input(tmp_path, eval_fraction=1.0).info.num_examples[Mode.EVAL] == 10
    assert source.info.num_classes == 36 and source.info.class_names[10] == "a"
    with pytest.raises(NoDataError, match=r"eval_fraction 0.0 of .*labels.txt leaves nothing"):
        folder_input(tmp_path, eval_fraction=0.0).dataset(Mode.EVAL, InputContext(batch_size=1))


def test_files_of_labels_that_cannot_be_used(tmp_path):
    with pytest.raises(DataError, match=r"no file .*labels.txt\. Give.*--input.train_labels"):
        folder_input(tmp_path)
    for content, message in (
        (
            "a.png é".encode("latin-1"),
            r"labels.txt cannot be read: it is no text in UTF-8, first at byte 6",
        ),
        (b"\n", "has no line"),
        (b"a.png x\na.png y\n", r"line 2 has a.png again"),
        (b"a.png,x\n", r"line 1 is 'a.png,x', and a comma alone .* text: a.png, \"x\"$"),
        (b"a.png,x, y\n", r"a comma alone .* text: a.png, \"x, y\"$"),
        (b'a.png, "x\n', r"a comma alone .* text: a.png, \"x\"$"),
    ):
        (tmp_path / "labels.txt").write_bytes(content)
        with pytest.raises(DataError, match=message):
            folder_input(tmp_path)
    # Labels that are held out are checked before the training.
    write_folder(tmp_path, {**WORDS, "long.png": "bookcase"})
    message = r"labels.txt, line 3: long.png: .* has 8 characters; .* is 6; mend"
    with pytest.raises(DataError, match=message):
        folder_input(tmp_path, eval_labels="labels.txt")


@pytest.mark.parametrize("layout", ["{}.txt", "{}/labels.txt"])
def test_the_parts_have_files_of_labels(tmp_path, layout):
    for part, count in (("train", 3), ("dev", 2), ("test", 1)):
        path = tmp_path / layout.format(part)
        path.parent.mkdir(exist_ok=True)
        names = [f"{part}{number}.png" for number in range(count)]
        path.write_text("".join(f"./{name} x\n" for name in names))
        for name in names:
            (path.parent / name).write_bytes(b"P5 1 1 255 x")
    source = folder_input(tmp_path)
    assert source.info.num_examples == {Mode.TRAIN: 3, Mode.EVAL: 2, Mode.PREDICT: 2}
    (note,) = source.notes()
    assert "test" in note and note.endswith("; --input.eval_split test evaluates the test part")
    names = source.splits[Mode.TRAIN].content[1]
    assert next(iter(names)) == ("train0.png" if layout == "{}.txt" else "train/train0.png")
    source = folder_input(tmp_path, eval_split="test")
    assert source.info.num_examples[Mode.EVAL] == 1
    with pytest.raises(DataError, match="--input.eval_split test: .* has no part called test"):
        (tmp_path / "labels.txt").write_text("train0.png x\n")
        folder_input(tmp_path, eval_split="test")


def test_paths_of_windows_are_read_and_missing_files_are_named_at_the_start(tmp_path):
    words = {"train\\a.png": "Hello", "train\\b.png": "w0rld"}
    (tmp_path / "labels.txt").write_text("".join(f"{n}\t{text}\n" for n, text in words.items()))
    (tmp_path / "train").mkdir()
    for name in WORDS:
        Image.fromarray(pixels(name)).save(tmp_path / "train" / name)
    source = folder_input(tmp_path, eval_labels="labels.txt")
    ((features, _),) = take(source)
    assert [name.decode() for name in features["name"]] == [
        f"{tmp_path}/train/{name}" for name in WORDS
    ]
    with open(tmp_path / "labels.txt", "a") as file:
        file.write("\n./gone.png x\ngone2.png y\n")
    message = r"labels.txt, line 4: gone.png: there is no such file in .* \(1 more in this split"
    with pytest.raises(DataError, match=message):
        folder_input(tmp_path)
    source = folder_input(tmp_path, skip_corrupt=True, eval_fraction=0.5)
    # Lines that cannot be used take no place in the part that is held out.
    assert source.info.num_examples == {Mode.TRAIN: 1, Mode.EVAL: 1, Mode.PREDICT: 1}
    assert len(source.splits[Mode.TRAIN].damaged) == 2
    assert source.data_report().splits[Mode.TRAIN].left_out == {"it is missing": 2}
    (tmp_path / "labels.txt").write_text("gone.png x\n")
    with pytest.raises(DataError, match="no such file .*; mend or remove it; no line can be used"):
        folder_input(tmp_path, skip_corrupt=True)


@pytest.mark.parametrize("name", ["../a.png", "/etc/passwd", "x\\..\\..\\a.png", "C:\\a.png"])
def test_paths_in_labels_stay_in_the_data_folder(tmp_path, name):
    data = tmp_path / "data"
    data.mkdir()
    write_folder(tmp_path, WORDS)
    (data / "labels.txt").write_text(f"{name}\tx\n")
    with pytest.raises(DataError, match=r"labels.txt, line 1: the path .* --input.allow_outside"):
        folder_input(data)
    if name == "../a.png":
        source = folder_input(data, allow_outside=True, eval_labels="labels.txt")
        ((_, labels),) = take(source)
        assert labels["text"][:, 0].tolist() == [33]
    # A file of labels elsewhere, which the user names, has its images next to it.
    (tmp_path / "labels.txt").write_text("a.png\tx\nb.png\ty\n")
    folder_input(data, train_labels=str(tmp_path / "labels.txt"))


@pytest.mark.slow
def test_labels_in_utf_16_with_other_line_ends_blanks_and_commas(tmp_path):
    words = {"a,b.png": "x", " lead.png": "y", "cafe\u0301.png": "z"}
    write_folder(tmp_path, words)
    lines = ["\ta,b.png x", " lead.png\ty", "  caf\u00e9.png z"]
    (tmp_path / "labels.txt").write_bytes("\r".join(lines).encode("utf-16"))
    source = folder_input(tmp_path, eval_labels="labels.txt", shuffle_buffer=0)
    ((_, labels),) = take(source, Mode.EVAL)
    assert labels["text"][:, 0].tolist() == [33, 34, 35]


def test_prediction_reads_images_of_any_size_without_the_data(tmp_path):
    write_folder(tmp_path, WORDS)
    info = folder_input(tmp_path).info
    params = text_folder.Params(data_dir="gone", **SMALL)
    source = text_folder.TextFolder.without_data(params=params, info=info)
    assert source.info == info
    path = str(tmp_path / "a.png")
    with tf.Graph().as_default():
        (features,) = read_elements(source.prediction_dataset([path], InputContext(batch_size=2)))
    assert features["image"].shape == (1, 8, 24, 1) and features["name"] == [path.encode()]
    assert set(source.raw_serving()) == {"encoded", "pixels"}
