import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import PluginError
from tf_frame.graph.inference.eval_graph import build_eval_graph
from tf_frame.graph.model_output import build_model
from tf_frame.plugin import Mode, Model, ModelOutput
from tf_frame.testing.toy import ToyInput, build_toy_graph


class Net(Model):
    """Returns what it is told to make."""

    def __init__(self, make):
        self.make = make

    def build(self, features, labels, mode):
        return self.make()


def check_output(make, mode=Mode.TRAIN):
    with tf.Graph().as_default():
        return build_model(Net(make), None, None, mode)


def find_problem(make):
    with pytest.raises(PluginError) as error:
        check_output(make)
    assert "Net.build()" in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("make", "seen"),
    [
        (lambda: None, "returned None; "),
        (lambda: tf.constant(1.0), "returned <tf.Tensor"),
        (lambda: (1.0, {}), "returned (1.0, {}) of type tuple; "),
        (lambda: np.zeros([40, 40]), "of type ndarray; "),
    ],
)
def test_anything_but_a_model_output_is_refused(make, seen):
    problem = find_problem(make)
    assert seen in problem
    assert problem.endswith("it must return a ModelOutput")


@pytest.mark.parametrize(
    ("loss", "seen"),
    [
        (lambda: tf.ones([8]), "has shape (8,) and type float32"),
        (lambda: tf.ones([1]), "has shape (1,)"),
        (lambda: [tf.ones([]), tf.ones([])], "has shape (2,)"),
        (lambda: tf.constant(1), "has shape () and type int32"),
        (lambda: "low", "type string"),
        (lambda: {"a": 1.0}, "is {'a': 1.0} of type dict"),
    ],
)
def test_a_loss_that_is_no_scalar_is_refused_with_its_shape(loss, seen):
    assert seen in find_problem(lambda: ModelOutput(loss=loss()))


@pytest.mark.parametrize("loss", [0.5, np.float32(0.5), np.float64(0.5)])
def test_a_number_as_loss_becomes_a_tensor_where_nothing_is_trained_by_it(loss):
    for mode, train_op in [(Mode.EVAL, None), (Mode.TRAIN, tf.no_op)]:
        made = lambda: ModelOutput(loss=loss, train_op=train_op and train_op())  # noqa: B023, E731
        tensor = check_output(made, mode).loss
        assert (tensor.shape.rank, tensor.dtype) == (0, tf.float32)


def test_losses_and_metrics_of_a_model():
    problem = find_problem(lambda: ModelOutput(loss=0.5))
    assert "returned the number 0.5 as loss; make it a tensor" in problem
    assert check_output(ModelOutput).loss is None
    assert "must be a mapping" in find_problem(lambda: ModelOutput(metrics=[1]))
    check_output(lambda: ModelOutput(metrics={"a": (tf.ones([]), tf.no_op())}))
    with pytest.raises(PluginError, match=r"Net\.build\(\) returned None"):
        build_toy_graph(RunOptions(train_batch_size=8), model=Net(lambda: None))


@pytest.mark.parametrize(
    ("part", "seen"),
    [
        ({"predictions": [1]}, "predictions of Net.build(): found [1] of type list; predictions"),
        ({"predictions": {"a": None}}, "the prediction 'a' of Net.build(): found None; "),
        ({"hooks": [None]}, "the hooks of Net.build(): found None; each must be a"),
        ({"chief_hooks": ["log"]}, "the hooks of Net.build(): found 'log' of type str; each"),
        ({"train_op": print}, "the train_op of Net.build() is <built-in function print>"),
        ({"scaffold": 3}, "the scaffold of Net.build() is 3 of type int; it must be a"),
    ],
)
def test_a_part_of_a_wrong_type_is_refused(part, seen):
    assert seen in find_problem(lambda: ModelOutput(**part))


@pytest.mark.parametrize(
    "metric",
    [
        lambda: tf.ones([2]),
        lambda: None,
        lambda: (tf.ones([]),),
        lambda: (tf.ones([]), None),
        lambda: (0.5, tf.no_op()),
    ],
)
def test_a_metric_that_is_no_pair_is_named(metric):
    assert "the metric 'recall' of " in find_problem(
        lambda: ModelOutput(metrics={"recall": metric()})
    )


@pytest.mark.parametrize("collect", [False, True])
def test_the_evaluation_graph_checks_the_model(collect):
    def make():
        if collect:
            tf.add_to_collection(tf.GraphKeys.LOSSES, tf.ones([2]))
        return ModelOutput(loss=None if collect else tf.ones([2]))

    source = ToyInput(params=ToyInput.Params())
    with pytest.raises(PluginError, match=r"has shape \(2,\)"):
        build_eval_graph(model=Net(make), source=source, config=RunOptions())
