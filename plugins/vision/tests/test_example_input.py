"""Inputs whose examples are read one by one, of which some are damaged.

They are named where they end a run, and counted where they are left out.
"""

import dataclasses
import logging
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import compute, initialized_session
from slow_cases import slow_but
from tf_frame import InputContext, InputInfo, Mode, Model, ModelOutput, option
from tf_frame.errors import DataError, NoDataError
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame.testing.toy import make_setup, run_setup
from tf_frame_vision.example_input import ExampleInput, ExampleOptions, Split
from tf_frame_vision.reading.image_files import image_file_examples
from tf_frame_vision.reading.pipeline import asserted
from tf_frame_vision.reading.record_index import index_records
from tf_frame_vision.reading.records import RecordFormat, record_examples
from tf_frame_vision.reading.shards import find_shards
from tf_frame_vision.reading.skipped import SkippedHook, count_skipped
from tf_frame_vision.record_splits import make_record_split
from tfrecords import make_example, write_records

pytestmark = pytest.mark.usefixtures("graph")


@dataclasses.dataclass(frozen=True)
class Params(ExampleOptions):
    num_classes: int = option(4, "number of classes")


class Records(ExampleInput):
    """Images of 8 x 8 pixels with a label in TFRecord files."""

    Params = Params

    def __init__(self, *, params):
        super().__init__(params=params)
        self.splits = {
            mode: make_record_split(
                find_shards(Path(params.data_dir), patterns, "--input.pattern"),
                skip_corrupt=params.skip_corrupt,
            )
            for mode, patterns in (
                (Mode.TRAIN, ["train-*"]),
                (Mode.EVAL, ["validation-*", "test-*"]),
            )
        }

    @property
    def info(self):
        return InputInfo({mode: split.count for mode, split in self.splits.items()})

    def read(self, split, order):
        keys = {"image": tf.io.VarLenFeature(tf.string), "label": tf.io.VarLenFeature(tf.int64)}

        def parse(parsed):
            image, label = parsed["image"].values, parsed["label"].values
            problem = tf.where(tf.equal(tf.size(image), 1), "", "it has not one image")
            return tf.strings.reduce_join(image[:1]), {"label": tf.reduce_sum(label[:1])}, problem

        specs = {"label": tf.TensorSpec([], tf.int64)}
        form = RecordFormat(keys=keys, specs=specs, parse=parse)
        return record_examples(split.content, order, form)

    def checked(self, example):
        label = tf.strings.as_string(example["label"])
        problem = tf.strings.join([example["name"], ": there is no class ", label])
        unknown = (example["label"] >= self.params.num_classes) & tf.equal(example["problem"], "")
        return {**example, "problem": tf.where(unknown, problem, example["problem"])}

    def prepare(self, example, *, is_training, seed):
        image = tf.cast(tf.ensure_shape(example["image"], [8, 8, 3]), tf.float32)
        if is_training:
            image += tf.random.stateless_uniform([], seed)
        return {"image": image}, {"label": example["label"]}


class Files(ExampleInput):
    """Image files of one folder."""

    def __init__(self, *, params):
        super().__init__(params=params)
        names = sorted(path.name for path in params.data_dir.iterdir())
        self.splits = dict.fromkeys(Mode, Split(len(names), names))

    def read(self, split, order):
        return image_file_examples(str(self.params.data_dir), split.content, {}, order)

    def prepare(self, example, *, is_training, seed):
        return {"image": example["image"]}, {}


@pytest.fixture(scope="module")
def jpeg():
    return compute(tf.io.encode_jpeg, np.arange(192).reshape(8, 8, 3).astype(np.uint8))


def example(images=(), labels=()):
    values = {"image": list(images), "label": list(labels)}
    return make_example({name: content for name, content in values.items() if content})


@pytest.mark.slow
def test_a_feature_of_another_type_is_named(tmp_path, jpeg, take):
    examples = [example([jpeg], [1.0]), example([jpeg], [b"1"]), example([5], [1])]
    for name in ("train-0", "validation-0"):
        write_records(tmp_path / name, examples)
    source = records(tmp_path)
    order = tf.data.Dataset.range(3).map(lambda number: (number, number))
    problems = [
        values["problem"].decode().partition("): ")[2]
        for _, values in take(source.read(source.splits[Mode.TRAIN], order))
    ]
    assert problems == [
        "its label is of type float_list, but must be of type int64_list",
        "its label is of type bytes_list, but must be of type int64_list",
        "its image is of type int64_list, but must be of type bytes_list",
    ]


def change(path, offset, mask=0xFF):
    content = bytearray(path.read_bytes())
    content[offset] ^= mask
    path.write_bytes(content)


@pytest.fixture
def folder(tmp_path, jpeg):
    """Ten records of which six cannot be used, all but one each for a reason of its own."""
    good = [example([jpeg], [label]) for label in range(4)]
    records = [
        *(good[0], example([jpeg[: len(jpeg) // 2]], [0]), example([b""], [0])),
        *(good[1], example([], [0]), example([], [])),
        *(good[2], b"\xff\xff no example", example([jpeg], [4])),
        *(good[3],),
    ]
    write_records(tmp_path / "train-0", records[:7])
    write_records(tmp_path / "train-1", records[7:])
    write_records(tmp_path / "validation-0", records)
    path = tmp_path / "validation-0"
    # A byte within the data of the last record.
    change(path, index_records(path).offsets[9] + 20)
    return tmp_path


def records(folder, **params):
    return Records(params=Params(data_dir=folder, **params))


def test_each_damage_has_its_reason(folder, jpeg, take):
    source = records(folder)
    split = source.splits[Mode.EVAL]
    read = source.read(split, tf.data.Dataset.range(10).map(lambda number: (number, number)))
    problems = [found["problem"].decode() for _, found in take(read)]
    offsets = index_records(folder / "validation-0").offsets
    reasons = {
        1: "it cannot be decoded: Truncated File Read",
        2: "it is empty",
        4: "it has not one image",
        5: "it has not one image",
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


def test_they_are_named_or_left_out_and_counted(folder, take):
    dataset = records(folder).dataset(Mode.EVAL, InputContext(batch_size=1))
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
    # They are left out and counted.
    dataset = records(folder, skip_corrupt=True).dataset(Mode.EVAL, InputContext(batch_size=2))
    batches = take(dataset)
    assert [labels["label"].tolist() for _, labels in batches] == [[0, 1], [2]]
    assert [features["skipped"].tolist() for features, _ in batches] == [[0, 2], [4]]
    first = batches[1][0]["skipped_first"][0].decode().split("\n")
    assert [line.split(" (")[0] for line in first] == [
        f"{folder}/validation-0: record {number}" for number in (1, 2, 4, 5)
    ]


def test_a_problem_with_bytes_that_are_no_text_is_told():
    with tf.Graph().as_default(), tf.Session() as session:
        whole = asserted({"problem": tf.constant(b"its text a\xe6 is wrong")})
        with pytest.raises(tf.errors.InvalidArgumentError, match="its text a\ufffd is wrong; mend"):
            session.run(whole)


@pytest.mark.slow
def test_only_the_first_pass_of_training_counts_and_a_resumed_one_goes_on(folder, take):
    source = records(folder, skip_corrupt=True)
    batches = take(source.dataset(Mode.TRAIN, InputContext(batch_size=4, seed=1)), 4)
    for features, labels in batches:
        assert sorted(labels["label"]) == [0, 1, 2, 3]
        told = features["skipped_first"][-1].split(b"\n")
        assert len(set(told)) == min(features["skipped"][-1], 5)
    # A pass has six of them, of which five are told; the next passes add nothing.
    assert [features["skipped"].tolist() for features, _ in batches[1:]] == [[6] * 4] * 3
    assert len({features["skipped_first"][-1] for features, _ in batches[1:]}) == 1
    check_exact_resume(source, batch_size=3, steps=3)


def test_a_pass_without_one_good_example_ends_the_run(tmp_path, take):
    for name in ("train-0", "test-0"):
        write_records(tmp_path / name, [b"\xff", b"\xff"])
    dataset = records(tmp_path, skip_corrupt=True).dataset(Mode.TRAIN, InputContext(batch_size=1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not one example can be used, such"):
        take(dataset, 1)


@pytest.mark.parametrize(
    ("damage", "told"),
    slow_but(
        0,
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
        several=True,
    ),
    ids=["length", "data", "header"],
)
def test_damaged_framing_is_found_at_once(tmp_path, jpeg, damage, told, take):
    path = tmp_path / "train-0"
    for name in ("train-0", "test-0"):
        write_records(tmp_path / name, [example([jpeg], [label]) for label in range(4)])
    offset = index_records(path).offsets[2]
    damage(path, index_records(path).offsets)
    with pytest.raises(DataError, match=rf"train-0: record 2 \(byte offset {offset}\): {told}"):
        records(tmp_path)
    source = records(tmp_path, skip_corrupt=True)
    assert source.info.num_examples[Mode.TRAIN] == 2
    ((features, labels),) = take(source.dataset(Mode.TRAIN, InputContext(batch_size=2)), 1)
    assert sorted(labels["label"]) == [0, 1]
    assert features["skipped"].tolist() == [1, 1]
    assert b"what follows in this file cannot be read" in features["skipped_first"][0]


def test_an_image_file_is_named_left_out_and_missed(tmp_path, jpeg, take):
    for name, data in {"1.jpg": jpeg, "2.jpg": jpeg[:99], "3.jpg": b"", "4.jpg": b""}.items():
        (tmp_path / name).write_bytes(data)
    source = Files(params=ExampleOptions(data_dir=tmp_path, skip_corrupt=True))
    (tmp_path / "3.jpg").unlink()
    ((features, _),) = take(source.dataset(Mode.EVAL, InputContext(batch_size=4)))
    assert features["name"].tolist() == [f"{tmp_path}/1.jpg".encode()]
    order = tf.data.Dataset.range(4).map(lambda number: (number, number))
    read = source.read(source.splits[Mode.EVAL], order)
    assert [found["problem"].decode() for _, found in take(read)] == [
        "",
        f"{tmp_path}/2.jpg: it cannot be decoded: Truncated File Read",
        f"{tmp_path}/3.jpg: it is missing or cannot be opened",
        f"{tmp_path}/4.jpg: it is empty",
    ]


class Constant(Model):
    """Learns one number."""

    def build(self, features, labels, mode):
        counted = count_skipped(features)
        weight = tf.get_variable("weight", [])
        loss = tf.square(weight - tf.reduce_mean(counted.features["image"]))
        hooks = counted.hooks if mode == Mode.TRAIN else ()
        return ModelOutput(loss=loss, hooks=hooks, metrics=counted.metrics)


@pytest.mark.slow
def test_the_user_is_told_in_training_and_in_evaluation(folder, tmp_path, caplog):
    values = {"input.data_dir": folder, "input.skip_corrupt": True}
    model_dir = tmp_path / "run"
    model_dir.mkdir()
    setup = make_setup(
        *(Constant, Records, str(model_dir)),
        **{"values": values, "max_steps": 3, "train_batch_size": 4, "num_clones": 2},
    )
    with caplog.at_level(logging.WARNING, "tf_frame"):
        result = run_setup(setup, report=lambda line: None)
    told = [record.getMessage() for record in caplog.records if "left out" in record.getMessage()]
    assert told[-1].startswith("6 examples left out that cannot be read:")
    assert result["metrics"]["skipped_examples"] == 4


def test_the_first_clone_keeps_count(variable_mode):
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
    with initialized_session() as session:
        hook.end(session)
        assert said == []
        assert session.run(counted.features["image"]).tolist() == [1, 1]
        hook.end(session)
        assert (session.run(value), session.run(update)) == (3, 3)
    assert said == ["warning: 3 examples left out that cannot be read:\n  a\n  b\n  c"]
    assert not tf.global_variables()


def test_examples_of_several_inputs_are_counted_apart():
    features = [
        {"skipped": tf.constant([n], tf.int64), "skipped_first": tf.constant(["a"])} for n in (1, 2)
    ]
    counted = count_skipped([*features, {"image": tf.zeros([1])}])
    assert len(counted.features) == 3
    said = []
    with initialized_session() as session:
        session.run(counted.features)
        for hook in counted.hooks:
            hook.report = said.append
            hook.end(session)
    assert [line.split(" left")[0] for line in said] == [
        "warning: 1 example",
        "warning: 2 examples",
    ]


def test_the_hook_tells_each_example_once_and_only_with_the_option():
    features = {"image": tf.zeros([1])}
    counted = count_skipped(features)
    assert (counted.features, counted.hooks, counted.metrics) == (features, (), {})
    assert not tf.local_variables()
    # The hook tells each example once.
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


@pytest.mark.parametrize("damaged", [["a.png: it is empty"], []])
@pytest.mark.parametrize("mode", [Mode.TRAIN, Mode.EVAL])
def test_a_part_without_an_example_that_can_be_used_is_refused_before_it_is_read(mode, damaged):
    source = ExampleInput(params=Params(skip_corrupt=True))
    source.splits = {mode: Split(0, None, damaged=damaged)}
    example = "can be used: a.png: it is empty" if damaged else "is there"
    with pytest.raises(NoDataError, match=f"^not one example of the {mode.value} data {example}$"):
        source.dataset(mode, InputContext(batch_size=2))
