import gzip

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame import InputContext, Mode
from tf_frame.errors import DataError, NoDataError
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame_classification.inputs.image_tfrecord import ImageTfrecord, Params, _read_label_file
from tf_frame_vision.convert.settings import write_names
from tf_frame_vision.reading.record_index import index_records
from tfrecords import make_example, write_records

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture(scope="module")
def pictures():
    """Nine images as `[4, 4, 3]`, each other than the next, and each encoded as PNG."""
    images = np.random.RandomState(0).randint(0, 256, [9, 4, 4, 3]).astype(np.uint8)
    with tf.Graph().as_default(), tf.Session() as session:
        return images, session.run([tf.io.encode_png(image) for image in images])


def example(encoded, label):
    """An example as slim's `image_to_tfexample` makes it (slim, datasets/dataset_utils.py)."""
    values = {"image/encoded": encoded, "image/format": b"png", "image/height": 4}
    return make_example({**values, "image/class/label": label})


@pytest.fixture
def folder(tmp_path, pictures):
    """Two files to train on, of four and two records, one to evaluate, of three; label 2 n."""
    records = [example(encoded, 2 * number) for number, encoded in enumerate(pictures[1])]
    write_records(tmp_path / "train-00000-of-00002", records[:4])
    write_records(tmp_path / "train-00001-of-00002", records[4:6])
    write_records(tmp_path / "validation-00000-of-00001", records[6:])
    (tmp_path / "labels.txt").write_text("".join(f"{n}:name {n}\n" for n in range(17)))
    return tmp_path


def tfrecord(folder, **params):
    return ImageTfrecord(params=Params(data_dir=str(folder), **{"image_size": 4, **params}))


def test_evaluation_yields_every_record_in_order(folder, pictures, take):
    source = tfrecord(folder)
    assert source.info.num_examples == {Mode.TRAIN: 6, Mode.EVAL: 3, Mode.PREDICT: 3}
    assert source.info.class_names == tuple(f"name {n}" for n in range(17))
    batches = take(source.dataset(Mode.EVAL, InputContext(batch_size=2)))
    images = np.concatenate([features["image"] for features, _ in batches])
    np.testing.assert_array_equal(np.rint((images + 1) * 127.5), pictures[0][6:])
    assert [labels["label"].tolist() for _, labels in batches] == [[12, 14], [16]]
    assert batches[0][1]["label"].dtype == np.int32
    first, second = batches[0][0]["name"]
    path = folder / "validation-00000-of-00001"
    assert first.decode() == f"{path}: record 0 (byte offset 0)"
    assert second.decode() == f"{path}: record 1 (byte offset {index_records(path).offsets[1]})"
    assert source.serving_features()["image"].shape.as_list() == [None, 4, 4, 3]
    # The name of an example counts within its file.
    source = tfrecord(folder, eval_pattern=("train-*",))
    ((features, _),) = take(source.dataset(Mode.EVAL, InputContext(batch_size=6)))
    names = [name.decode().removeprefix(f"{folder}/") for name in features["name"]]
    assert names[3].startswith("train-00000-of-00002: record 3 (")
    assert names[4] == "train-00001-of-00002: record 0 (byte offset 0)"


@pytest.mark.slow
def test_training_shuffles_the_records_of_all_files(folder, pictures, take):
    source = tfrecord(folder)
    batches = take(source.dataset(Mode.TRAIN, InputContext(batch_size=6)), 3)
    for features, labels in batches:
        order = labels["label"] // 2
        assert sorted(order) == list(range(6))
        np.testing.assert_array_equal(np.rint((features["image"] + 1) * 127.5), pictures[0][order])
    assert len({tuple(labels["label"]) for _, labels in batches}) == 3


@pytest.mark.slow
def test_shards_are_disjoint_and_complete(folder, take):
    def labels(mode, count=None, **context):
        dataset = tfrecord(folder).dataset(mode, InputContext(batch_size=3, **context))
        batches = take(dataset, count)
        return np.concatenate([labels["label"] for _, labels in batches]).tolist()

    shards = [labels(Mode.TRAIN, 2, num_shards=2, shard_index=index) for index in (0, 1)]
    unsharded = labels(Mode.TRAIN, 4)
    assert [unsharded[0::2], unsharded[1::2]] == shards
    # Six numbers of each are two passes of three.
    assert sorted(shards[0][:3] + shards[1][:3]) == [0, 2, 4, 6, 8, 10]
    shards = [labels(Mode.EVAL, num_shards=2, shard_index=index) for index in (0, 1)]
    assert shards == [[12, 16], [14]]


@pytest.mark.slow
def test_training_goes_on_exactly_where_it_stopped(folder):
    check_exact_resume(tfrecord(folder, preprocessing="cifarnet"), batch_size=4, steps=2)


@pytest.mark.slow
def test_labels_begin_at_the_offset(folder, take):
    source = tfrecord(folder, labels_offset=1, eval_pattern=("train-00001-*",))
    assert source.info.num_classes == 16
    assert source.info.class_names[0] == "name 1"
    ((_, labels),) = take(source.dataset(Mode.EVAL, InputContext(batch_size=2)))
    assert labels["label"].tolist() == [7, 9]


@pytest.mark.parametrize(
    ("training", "evaluation"),
    [
        ("flowers_train_00000-of-00001.tfrecord", "flowers_validation_00000-of-00001.tfrecord"),
        ("train-00000-of-00001", "valid-00000-of-00001"),
        ("Train/x.tfrecord", "valid/y.tfrecord"),
    ],
)
def test_files_are_found_by_the_names_that_slim_gives_them(tmp_path, training, evaluation):
    write_records(tmp_path / training, [b"one", b"two"])
    write_records(tmp_path / evaluation, [b"three"])
    source = tfrecord(tmp_path, num_classes=3)
    assert source.info.num_examples == {Mode.TRAIN: 2, Mode.EVAL: 1, Mode.PREDICT: 1}
    assert source.info.class_names == ("class 0", "class 1", "class 2")


@pytest.mark.parametrize(
    ("training", "test"),
    [
        ("mnist_train.tfrecord", "mnist_test.tfrecord"),
        ("train-00000-of-00001", "test-00000-of-00001"),
        ("train/x.tfrecord", "test/y.tfrecord"),
    ],
)
def test_the_test_part_is_evaluated_only_if_it_is_asked_for(tmp_path, training, test):
    write_records(tmp_path / training, [b"one", b"two"])
    with pytest.raises(DataError, match="eval_split test: |no file that is called test"):
        tfrecord(tmp_path, num_classes=3, eval_split="test")
    write_records(tmp_path / test, [b"three"])
    source = tfrecord(tmp_path, num_classes=3)
    assert source.info.num_examples[Mode.EVAL] == 0
    (note,) = source.notes()
    assert note.startswith(f"{test.split('/')[0]} is not used; --input.eval_split test")
    source = tfrecord(tmp_path, num_classes=3, eval_split="test")
    assert source.info.num_examples[Mode.EVAL] == 1 and not source.notes()


def test_shards_of_two_parts_to_evaluate_are_refused(folder):
    write_records(folder / "dev-00000-of-00001", [b"one"])
    with pytest.raises(DataError, match=r"has both dev-\* and validation-\*, of the same meaning"):
        tfrecord(folder)
    assert tfrecord(folder, eval_pattern=("dev-*",)).info.num_examples[Mode.EVAL] == 1


def test_patterns_can_be_given(folder):
    source = tfrecord(folder, train_pattern=("validation-*",), eval_pattern=("none-*", "train-*"))
    assert source.info.num_examples == {Mode.TRAIN: 3, Mode.EVAL: 6, Mode.PREDICT: 6}
    with pytest.raises(DataError, match=r"no file that is called x-\*, but labels.txt, train-0"):
        tfrecord(folder, train_pattern=("x-*",))


def test_the_number_of_classes_must_be_known(folder):
    with pytest.raises(DataError, match=r"label 16, but .*num_classes 16 allows labels to 15"):
        tfrecord(folder, num_classes=16)
    (folder / "labels.txt").write_text("0:a\n2:c\n\n")
    assert tfrecord(folder).info.class_names == ("a", "class 1", "c")
    (folder / "labels.txt").write_bytes(" 0: \u2028a \r1:b\x85\r\n\r2:c\x0b:d".encode("utf-16"))
    assert tfrecord(folder).info.class_names == (" \u2028a ", "b\x85", "c\x0b:d")
    for text, message in (
        ("0:a\nb\n", r"labels.txt, line 2 is 'b'; .* such as 0:daisy"),
        ("0:a\n1:b\n0:c\n", r"labels.txt, line 3 names the label 0 again; give each"),
        ("\n", r"labels.txt is empty"),
        ("0:a\n999999999:b\n", r"labels.txt, line 2 is '999999999:b'"),
    ):
        (folder / "labels.txt").write_text(text)
        with pytest.raises(DataError, match=message):
            tfrecord(folder)
    (folder / "labels.txt").unlink()
    with pytest.raises(DataError, match=r"there is no .*labels.txt. Write it .*num_classes"):
        tfrecord(folder)


@COUNTS
def test_names_are_read_as_the_converter_writes_them_or_refused(tmp_path, count):
    path = tmp_path / "labels.txt"

    def check(names):
        path.unlink(missing_ok=True)
        lines = [f"{label}:{name}" for label, name in enumerate(names)]
        if any(set(name) & set("\r\n\0") for name in names):
            with pytest.raises(DataError, match="cannot hold"):
                write_names(tmp_path, path.name, lines)
        else:
            write_names(tmp_path, path.name, lines)
            assert _read_label_file(path) == dict(enumerate(names))

    check_many(check, count, names=strategies.lists(TEXTS, min_size=1, max_size=5))
    with pytest.raises(DataError, match="bytes that are no text"):
        write_names(tmp_path, "labels.txt", ["0:\udcff"])


def test_without_records_to_evaluate_there_is_no_evaluation_split(folder):
    (folder / "validation-00000-of-00001").unlink()
    source = tfrecord(folder)
    assert source.info.num_examples == {Mode.TRAIN: 6, Mode.EVAL: 0, Mode.PREDICT: 0}
    with pytest.raises(NoDataError, match=r"has no file .* validation-.* --input.eval_pattern"):
        source.dataset(Mode.EVAL, InputContext(batch_size=1))
    with pytest.raises(DataError, match=r"has no file that is called val\*"):
        tfrecord(folder, eval_pattern=("val*",))


def test_folders_and_files_without_records_and_a_file_in_two_forms_are_refused(
    folder, tmp_path_factory
):
    # Files are asked for before classes.
    with pytest.raises(DataError, match=r"has no file that is called train-.* no file at all"):
        tfrecord(tmp_path_factory.mktemp("empty"))
    data = (folder / "train-00001-of-00002").read_bytes()
    (folder / "train-00001-of-00002.gz").write_bytes(gzip.compress(data))
    with pytest.raises(DataError, match=r"has train-00001-of-00002 and train-00001-of-00002.gz"):
        tfrecord(folder)
    (folder / "train-00001-of-00002.gz").unlink()
    (folder / "validation-00000-of-00001").write_bytes(b"")
    with pytest.raises(DataError, match=r"there is no record in .*validation-00000-of-00001"):
        tfrecord(folder)
    with pytest.raises(DataError, match=r"nowhere .*does not exist"):
        tfrecord(folder / "nowhere")


@pytest.fixture
def gzipped(folder, tmp_path_factory):
    """The same records in gzipped files, one of them by another name."""
    root = tmp_path_factory.mktemp("gzipped")
    for path in folder.iterdir():
        packed = path.name.startswith(("train", "validation"))
        ending = ".gz" if path.name.startswith("train-00001") else ""
        data = path.read_bytes()
        (root / f"{path.name}{ending}").write_bytes(gzip.compress(data) if packed else data)
    return root


@pytest.mark.slow
def test_gzipped_files_give_the_batches_of_the_same_files_unpacked(folder, gzipped, take):
    context = InputContext(batch_size=2, seed=3)
    for mode, count in ((Mode.TRAIN, 7), (Mode.EVAL, None)):
        plain, packed = (
            take(tfrecord(root).dataset(mode, context), count) for root in (folder, gzipped)
        )
        for plain_batch, packed_batch in zip(plain, packed, strict=True):
            np.testing.assert_array_equal(plain_batch[0]["image"], packed_batch[0]["image"])
            np.testing.assert_array_equal(plain_batch[1]["label"], packed_batch[1]["label"])
    path = gzipped / "validation-00000-of-00001"
    assert packed[0][0]["name"][0].decode() == f"{path}: record 0 (byte offset 0)"
    check_exact_resume(tfrecord(gzipped), batch_size=2, steps=4)


def test_records_without_one_image_one_label_or_a_class_are_named(tmp_path, pictures, take):
    good, empty = example(pictures[1][0], 2), tf.train.Example().SerializeToString()
    no_label = tf.train.Example.FromString(good)
    del no_label.features.feature["image/class/label"]
    records = [good, empty, no_label.SerializeToString(), example(pictures[1][0], 3)]
    for name in ("train-0", "val-0"):
        write_records(tmp_path / name, records)
    source = tfrecord(tmp_path, num_classes=3)
    order = tf.data.Dataset.range(4).map(lambda number: (number, number))
    read = source.read(source.splits[Mode.EVAL], order)
    problems = take(read.map(lambda number, example: source.checked(example)["problem"]))
    assert [problem.decode().rpartition("): ")[2] for problem in problems] == [
        "",
        "it has not one image/encoded",
        "it has not one image/class/label",
        "its label is 3; labels are 0 to 2, of 3 classes (set by labels.txt or "
        "--input.num_classes)",
    ]
    assert [problem.decode().partition(" (")[0] for problem in problems[1:]] == [
        f"{tmp_path}/val-0: record {number}" for number in (1, 2, 3)
    ]


@pytest.mark.slow
def test_records_that_cannot_be_used_are_left_out(tmp_path, pictures, take):
    records = [example(pictures[1][0], 2), example(pictures[1][1], 3), example(pictures[1][2], 1)]
    for name in ("train-0", "val-0"):
        write_records(tmp_path / name, records)
    source = tfrecord(tmp_path, num_classes=3, skip_corrupt=True)
    ((features, labels),) = take(source.dataset(Mode.EVAL, InputContext(batch_size=3)))
    assert labels["label"].tolist() == [2, 1]
    assert features["skipped"].tolist() == [0, 1]
    ((_, labels),) = take(source.dataset(Mode.TRAIN, InputContext(batch_size=4)), 1)
    assert sorted(labels["label"]) == [1, 1, 2, 2]
