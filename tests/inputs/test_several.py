"""The input `several`, of toy inputs that a package registers."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from source_plugins import install_source
from tf_frame import InputContext, Mode
from tf_frame.errors import ConfigError, DataError
from tf_frame.inputs.several import Params, Several
from tf_frame.testing.exact_resume import check_exact_resume

PLUGINS = """
import dataclasses
import tensorflow.compat.v1 as tf
from tf_frame import Input, InputInfo, Mode, option
from tf_frame.errors import DataError


class Counted(Input):
    shared_options = ("scale",)

    @dataclasses.dataclass(frozen=True)
    class Params:
        start: int = option(0, "the first number")
        names: tuple[str, ...] = option(("a", "b"), "the classes")
        folder: str = option("", "where it is")
        scale: int = option(1, "a factor that all sources share")
        missing: bool = option(False, "there is no data")

    def __init__(self, *, params):
        super().__init__(params=params)
        if params.missing:
            raise DataError("there is no such folder")

    @property
    def info(self):
        names = self.params.names
        return InputInfo(
            num_examples={Mode.TRAIN: 5, Mode.EVAL: 3},
            num_classes=len(names),
            class_names=names,
        )

    def dataset(self, mode, context):
        start = self.params.start
        numbers = tf.data.Dataset.range(start, start + self.info.num_examples[mode])
        if mode == Mode.TRAIN:
            numbers = numbers.shuffle(5, seed=context.seed).repeat()
        return numbers.batch(context.batch_size).map(lambda x: ({"x": x}, {"y": -x}))

    def prediction_dataset(self, paths, context):
        return paths


class Halves(Counted):
    def dataset(self, mode, context):
        return [super().dataset(mode, context)] * 2


class Endless(Counted):
    exact_resume = False
"""


@pytest.fixture(autouse=True)
def counted(tmp_path, monkeypatch):
    install_source(
        monkeypatch, tmp_path, "counted-inputs", PLUGINS, inputs="Counted Halves Endless"
    )


def several(*sources, defaults=()):
    return Several(params=Params(source=sources, source_defaults=defaults))


def read_batches(data, count):
    """Numbers in the first batches of each data set."""
    with tf.Session() as session:
        steps = [tf.data.make_one_shot_iterator(part).get_next() for part in data]
        return [[session.run(step[0]["x"]).tolist() for _ in range(count)] for step in steps]


TWO = ("counted:batch_size=6", "counted-inputs:counted:batch_size=2:start=100")


def test_each_source_has_a_batch_size_of_its_own():
    with tf.Graph().as_default():
        data = several(*TWO).dataset(Mode.TRAIN, InputContext(batch_size=8))
        first, second = read_batches(data, 1)
    assert len(first[0]) == 6 and max(first[0]) < 5
    assert len(second[0]) == 2 and min(second[0]) >= 100


def test_clones_divide_the_batch_of_each_source():
    context = InputContext(batch_size=4, train_batch_size=8)
    with tf.Graph().as_default():
        first, second = read_batches(several(*TWO).dataset(Mode.TRAIN, context), 1)
    assert (len(first[0]), len(second[0])) == (3, 1)


@pytest.mark.parametrize("num_clones", [1, 2])
def test_a_run_resumes_exactly(num_clones):
    check_exact_resume(several(*TWO), batch_size=8 // num_clones, steps=3, num_clones=num_clones)


def test_the_first_source_is_evaluated_and_predicted_on():
    source = several(*TWO)
    with tf.Graph().as_default():
        data = source.dataset(Mode.EVAL, InputContext(batch_size=3))
        assert read_batches([data], 1) == [[[0, 1, 2]]]
    assert source.prediction_dataset(["a"], None) == ["a"]
    assert "evaluations are of counted, the first source" in source.notes()
    assert source.info.num_examples == {Mode.TRAIN: 10, Mode.EVAL: 3}
    assert source.info.class_names == ("a", "b")


def test_reports_and_pictures_are_those_of_all_sources():
    source = several("counted:batch_size=2", "counted:batch_size=1")
    data = source.data_report()
    assert {mode: split.examples for mode, split in data.splits.items()} == {
        Mode.TRAIN: 10,
        Mode.EVAL: 3,
    }
    assert data.remarks[-1] == "classes are those of counted"
    batches = [{"image": np.full([count, 2, 2, 1], count, np.uint8)} for count in (2, 1)]
    pictures = source.draw_examples(batches, [{"y": np.array([0, 1])}, {"y": np.array([1])}])
    assert [(pixels[0, 0, 0], caption) for pixels, caption in pictures] == [
        (2, "a"),
        (1, "b"),
        (2, "b"),
    ]


def test_a_value_may_have_colons_commas_and_equals_signs():
    source = several(r"counted:batch_size=1:folder=gs://a:b/c=d\:e=f:names=x,y:start=3")
    options = source._inputs[0].params
    assert (options.folder, options.names, options.start) == ("gs://a:b/c=d:e=f", ("x", "y"), 3)


def test_defaults_are_for_the_sources_that_have_the_option():
    source = several(
        "counted:batch_size=1", "counted:batch_size=1:start=7", defaults=("start=3", "other=4")
    )
    assert [part.params.start for part in source._inputs] == [3, 7]


def test_the_run_need_not_resume_exactly_only_if_a_source_says_so():
    assert several(*TWO).exact_resume
    assert not several(*TWO, "endless:batch_size=1").exact_resume


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ((), "--input several needs sources: --input.source NAME:batch_size=N"),
        (("counted",), "--input.source counted has no batch_size; give a positive"),
        (("counted:batch_size=0",), "has the batch_size '0'; give a positive"),
        (("counted:batch_size=1:star=3",), "unknown option star; did you mean start?"),
        (("counted:batch_size=1:start=x",), "--start: 'x' is not a whole number"),
        (("counted:batch_size=1:start=1:start=2",), "'start=2' is no KEY=VALUE with a key of"),
        (
            ("counted:batch_size=1", "counted:batch_size=1:names=a"),
            "counted has the num_classes 2, but counted has 1",
        ),
        (
            ("counted:batch_size=1", "counted:batch_size=1:names=b,a"),
            "has the class_names ('a', 'b'), but counted has ('b', 'a')",
        ),
        (
            ("counted:batch_size=1:scale=2", "counted:batch_size=1"),
            "the scale 2, but counted has 1; give all the same, such as by --input.source_defaults",
        ),
    ],
)
def test_sources_that_cannot_be_used_are_refused(sources, message):
    with pytest.raises(ConfigError) as error:
        several(*sources)
    assert message in str(error.value)


def test_an_error_of_a_source_names_it():
    with pytest.raises(DataError, match=r"^--input\.source counted:batch_size=1:missing=true: "):
        several("counted:batch_size=1:missing=true")


@pytest.mark.parametrize(
    ("sources", "context", "message"),
    [
        (TWO, {"batch_size": 4}, "6 and 2, make 8, but --train_batch_size is 4; give --train_"),
        (
            ("counted:batch_size=3", "counted:batch_size=1"),
            {"batch_size": 2, "train_batch_size": 4},
            "3 and 1, cannot be divided among 2 clones",
        ),
        (("halves:batch_size=4",), {"batch_size": 4}, "has several data sets itself"),
    ],
)
def test_batches_that_cannot_be_made_are_refused(sources, context, message):
    with tf.Graph().as_default(), pytest.raises(ConfigError, match=message):
        several(*sources).dataset(Mode.TRAIN, InputContext(**context))


def test_without_its_data_it_is_the_first_source():
    source = Several.without_data(params=Params(source=TWO), info=None)
    assert type(source).__name__ == "Counted"
