"""Examples that cannot be read: named where they end a run, counted where they are left out."""

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tf_frame_classification.inputs.image_folder import ImageFolder
from tf_frame_classification.inputs.image_folder import Params as FolderParams
from tf_frame_classification.inputs.image_tfrecord import ImageTfrecord, Params
from tf_frame_vision.reading.skipped import SkippedHook, count_skipped
from tf_frame_vision.reading.record_index import index_records

from tf_frame import InputContext, Mode, Model, ModelOutput
from tf_frame.errors import DataError
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame.testing.toy import make_setup, run_setup


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture(scope="module")
def jpeg():
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.io.encode_jpeg(np.arange(192).reshape(8, 8, 3).astype(np.uint8)))


def example(images=(), labels=()):
    feature = {}
    if images:
        feature["image/encoded"] = tf.train.Feature(
            bytes_list=tf.train.BytesList(value=list(images))
        )
    if labels:
        feature["image/class/label"] = tf.train.Feature(
            int64_list=tf.train.Int64List(value=list(labels))
        )
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def write(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)


def change(path, offset, mask=0xFF):
    content = bytearray(path.read_bytes())
    content[offset] ^= mask
    path.write_bytes(content)


@pytest.fixture
def folder(tmp_path, jpeg):
    """Ten records of which six cannot be used, each for a reason of its own."""
    good = [example([jpeg], [label]) for label in range(4)]
    records = [
        *(good[0], example([jpeg[: len(jpeg) // 2]], [0]), example([b""], [0])),
        *(good[1], example([], [0]), example([jpeg], [])),
        *(good[2], b"\xff\xff no example", example([jpeg], [4])),
        *(good[3],),
    ]
    write(tmp_path / "train-0", records[:7])
    write(tmp_path / "train-1", records[7:])
    write(tmp_path / "validation-0", records)
    path = tmp_path / "validation-0"
    # A byte within the data of the last record.
    change(path, index_records(path).offsets[9] + 20)
    return tmp_path


def tfrecord(folder, **params):
    values = {"image_size": 8, "num_classes": 4, **params}
    return ImageTfrecord(params=Params(data_dir=str(folder), **values))


def take(dataset, count=None):
    iterator = tf.data.make_initializable_iterator(
        dataset if count is None else dataset.take(count)
    )
    batch, batches = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                batches.append(session.run(batch))
            except tf.errors.OutOfRangeError:
                return batches


def test_each_damage_has_its_reason(folder, jpeg):
    source = tfrecord(folder)
    split = source.splits[Mode.EVAL]
    read = source.examples(split, tf.data.Dataset.range(10).map(lambda number: (number, number)))
    problems = [found["problem"].decode() for _, found in take(read)]
    offsets = index_records(folder / "validation-0").offsets
    reasons = {
        1: f"it cannot be decoded as JPEG, PNG, BMP or GIF ({len(jpeg) // 2} bytes)",
        2: "it is empty",
        4: "it has not one image/encoded",
        5: "it has not one image/class/label",
        7: "it is no tf.train.Example",
        9: "the checksum of its data is wrong",
    }
    expected = [
        f"{folder}/validation-0: record {number} (byte offset {offsets[number]}): {reasons[number]}"
        if number in reasons
        else ""
        for number in range(10)
    ]
    assert problems == expected


def test_the_first_one_ends_the_run_and_is_named(folder):
    dataset = tfrecord(folder).dataset(Mode.EVAL, InputContext(batch_size=1))
    iterator = tf.data.make_initializable_iterator(dataset)
    batch = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(batch)[1]["label"] == [0]
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(batch)
    offset = index_records(folder / "validation-0").offsets[1]
    assert f"validation-0: record 1 (byte offset {offset}): it cannot be" in str(caught.value)
    assert "; mend or remove it, or give --input.skip_corrupt]" in str(caught.value)


def test_they_are_left_out_and_counted(folder):
    dataset = tfrecord(folder, skip_corrupt=True).dataset(Mode.EVAL, InputContext(batch_size=2))
    batches = take(dataset)
    assert [labels["label"].tolist() for _, labels in batches] == [[0, 1], [2]]
    assert [features["skipped"].tolist() for features, _ in batches] == [[0, 2], [4]]
    first = batches[1][0]["skipped_first"][0].decode().split("\n")
    assert [line.split(" (")[0] for line in first] == [
        f"{folder}/validation-0: record {number}" for number in (1, 2, 4, 5)
    ]


def test_only_the_first_pass_of_training_counts_and_a_resumed_one_goes_on(folder):
    source = tfrecord(folder, skip_corrupt=True)
    batches = take(source.dataset(Mode.TRAIN, InputContext(batch_size=4, seed=1)), 4)
    for features, labels in batches:
        assert sorted(labels["label"]) == [0, 1, 2, 3]
        told = features["skipped_first"][-1].split(b"\n")
        assert len(set(told)) == min(features["skipped"][-1], 5)
    # A pass has six of them, of which five are told; the next passes add nothing.
    assert [features["skipped"].tolist() for features, _ in batches[1:]] == [[6] * 4] * 3
    assert len({features["skipped_first"][-1] for features, _ in batches[1:]}) == 1
    check_exact_resume(source, batch_size=3, steps=3)


def test_a_pass_without_one_good_example_ends_the_run(tmp_path):
    for name in ("train-0", "test-0"):
        write(tmp_path / name, [b"\xff", b"\xff"])
    dataset = tfrecord(tmp_path, skip_corrupt=True).dataset(Mode.TRAIN, InputContext(batch_size=1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not one example can be used, such"):
        take(dataset, 1)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda path, offsets: change(path, offsets[2]), "the checksum of its length is wrong"),
        (
            lambda path, offsets: path.write_bytes(path.read_bytes()[: offsets[2] + 30]),
            r"it is cut: \d+ of its \d+ bytes are missing",
        ),
        (
            lambda path, offsets: path.write_bytes(path.read_bytes()[: offsets[2] + 5]),
            "it is cut after 5 bytes",
        ),
    ],
    ids=["length", "data", "header"],
)
def test_damaged_framing_is_found_at_once(tmp_path, jpeg, damage, told):
    path = tmp_path / "train-0"
    for name in ("train-0", "test-0"):
        write(tmp_path / name, [example([jpeg], [label]) for label in range(4)])
    offset = index_records(path).offsets[2]
    damage(path, index_records(path).offsets)
    with pytest.raises(DataError, match=rf"train-0: record 2 \(byte offset {offset}\): {told}"):
        tfrecord(tmp_path)
    source = tfrecord(tmp_path, skip_corrupt=True)
    assert source.info.num_examples[Mode.TRAIN] == 2
    ((features, labels),) = take(source.dataset(Mode.TRAIN, InputContext(batch_size=2)), 1)
    assert sorted(labels["label"]) == [0, 1]
    assert features["skipped"].tolist() == [1, 1]
    assert b"what follows in this file cannot be read" in features["skipped_first"][0]


def test_an_image_file_is_named_left_out_and_missed(tmp_path, jpeg):
    for name, data in {"a/1.jpg": jpeg, "a/2.jpg": jpeg[:99], "b/3.jpg": b""}.items():
        for part in ("train", "val"):
            path = tmp_path / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def folder(**params):
        return ImageFolder(params=FolderParams(data_dir=str(tmp_path), image_size=8, **params))

    source, strict = folder(skip_corrupt=True), folder()
    (tmp_path / "val" / "b" / "3.jpg").unlink()
    ((_, labels),) = take(source.dataset(Mode.EVAL, InputContext(batch_size=4)))
    assert labels["label"].tolist() == [0]
    read = source.examples(
        source.splits[Mode.EVAL], tf.data.Dataset.range(3).map(lambda number: (number, number))
    )
    problems = [found["problem"].decode() for _, found in take(read)]
    assert problems == [
        "",
        f"{tmp_path}/val/a/2.jpg: it cannot be decoded as JPEG, PNG, BMP or GIF (99 bytes)",
        f"{tmp_path}/val/b/3.jpg: it cannot be read",
    ]
    paths = [str(tmp_path / "train" / name) for name in ("a/1.jpg", "a/2.jpg", "b/3.jpg")]
    batches = take(source.prediction_dataset(paths, InputContext(batch_size=3)))
    assert [batch["name"].tolist() for batch in batches] == [[paths[0].encode()]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        take(strict.prediction_dataset(paths, InputContext(batch_size=3)))


class Constant(Model):
    """Learns one number."""

    def build(self, features, labels, mode):
        counted = count_skipped(features)
        weight = tf.get_variable("weight", [])
        loss = tf.square(weight - tf.reduce_mean(counted.features["image"]))
        hooks = counted.hooks if mode == Mode.TRAIN else ()
        return ModelOutput(loss=loss, hooks=hooks, metrics=counted.metrics)


def test_the_user_is_told_in_training_and_in_evaluation(folder, tmp_path, caplog):

    values = {
        "input.data_dir": str(folder),
        "input.num_classes": 4,
        "input.image_size": 8,
        "input.skip_corrupt": True,
    }
    model_dir = tmp_path / "run"
    model_dir.mkdir()
    setup = make_setup(
        *(Constant, ImageTfrecord, str(model_dir)),
        **{"values": values, "max_steps": 3, "train_batch_size": 4, "num_clones": 2},
    )
    with caplog.at_level(logging.WARNING, "tf_frame"):
        result = run_setup(setup, report=lambda line: None)
    told = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert told[-1].startswith("6 examples left out that cannot be read:")
    assert result["metrics"]["skipped_examples"] == 4


@pytest.fixture(params=["resource", "reference"])
def either_variables(request):
    if request.param == "reference":
        tf.disable_resource_variables()
    yield
    tf.enable_resource_variables()


def test_the_first_clone_keeps_count(either_variables):
    features = {
        "image": tf.ones([2]),
        "skipped": tf.constant([1, 3], tf.int64),
        "skipped_first": tf.constant(["a", "a\nb\nc"]),
    }
    counted, second = count_skipped(features), count_skipped(features)
    assert (second.features, second.hooks, second.metrics) == (features, (), {})
    (hook,) = counted.hooks
    said = []
    hook.report = said.append
    value, update = counted.metrics["skipped_examples"]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        hook.end(session)
        assert said == []
        assert session.run(counted.features["image"]).tolist() == [1, 1]
        hook.end(session)
        assert (session.run(value), session.run(update)) == (3, 3)
    assert said == ["warning: 3 examples left out that cannot be read:\n  a\n  b\n  c"]
    assert not tf.global_variables()


def test_nothing_is_added_without_the_option():
    features = {"image": tf.zeros([1])}
    counted = count_skipped(features)
    assert (counted.features, counted.hooks, counted.metrics) == (features, (), {})
    assert not tf.local_variables()


def test_the_hook_tells_each_example_once():
    count, first = tf.placeholder(tf.int64, []), tf.placeholder(tf.string, [])
    hook = SkippedHook(count, first)
    said = []
    hook.report = said.append
    for number, lines in ((0, b""), (2, b"a\nb"), (2, b"a\nb"), (3, b"a\nb\nc"), (9, b"a\nb\nc")):
        values = tf.train.SessionRunValues((np.int64(number), lines), None, None)
        hook.after_step(None, values, 1)
    assert said == [
        "warning: 2 examples left out that cannot be read:\n  a\n  b",
        "warning: 3 examples left out that cannot be read:\n  c",
        "warning: 9 examples left out that cannot be read:",
    ]
