import pytest
import tensorflow.compat.v1 as tf

from tf_frame.estimator.export.outputs import ExportOutput
from tf_frame.estimator.export.supervised_output import EvalOutput, TrainOutput


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("kind", "method"),
    [(EvalOutput, "tensorflow/supervised/eval"), (TrainOutput, "tensorflow/supervised/training")],
)
def test_loss_predictions_and_metrics_make_one_signature(kind, method):
    inputs = {"x": tf.placeholder(tf.float32, [None], name="x")}
    output = kind(
        loss=tf.constant(1.0, name="l"),
        predictions={"p": tf.constant(1, name="p"), "predictions_q": tf.constant(2, name="q")},
        metrics={"m": (tf.constant(3.0, name="v"), tf.constant(4.0, name="u"))},
    )
    assert isinstance(output, ExportOutput)
    signature = output.as_signature_def(inputs)
    assert signature.method_name == method
    assert {key: info.name for key, info in signature.inputs.items()} == {"x": "x:0"}
    assert {key: info.name for key, info in signature.outputs.items()} == {
        "loss": "l:0",
        "predictions/p": "p:0",
        "predictions_q": "q:0",
        "metrics/m/value": "v:0",
        "metrics/m/update_op": "u:0",
    }
    assert signature.outputs["predictions/p"].dtype == int(tf.int32)


def test_single_predictions_and_a_single_metric_have_the_name_of_their_kind():
    one = tf.constant(1.0)
    output = EvalOutput(loss={"total": one}, predictions=one, metrics=(one, one))
    assert output.loss == {"loss/total": one}
    assert output.predictions == {"predictions": one}
    assert output.metrics == {"metrics/value": one, "metrics/update_op": one}


def test_what_is_missing_is_not_in_the_signature():
    output = EvalOutput()
    assert (output.loss, output.predictions, output.metrics) == (None, None, None)
    assert not output.as_signature_def({"x": tf.constant(1.0)}).outputs


def test_an_update_that_is_no_tensor_gets_one_that_runs_it():
    total = tf.get_variable("total", initializer=0.0)
    updates = {"op": tf.group(total.assign_add(1.0)), "variable": total.assign_add(10.0)}
    metrics = {name: (tf.identity(total), update) for name, update in updates.items()}
    found = EvalOutput(metrics=metrics).metrics
    wrapped = [found[f"metrics/{name}/update_op"] for name in updates]
    assert all(isinstance(tensor, tf.Tensor) for tensor in wrapped)
    with tf.Session() as session:
        session.run(total.initializer)
        session.run(wrapped[0])
        assert session.run(total) == 1.0
        session.run(wrapped[1])
        assert session.run(total) == 11.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"loss": 1.0}, r"^loss output value must be a Tensor; got 1\.0\.$"),
        ({"predictions": {"p": 1}}, r"^predictions output value must be a Tensor; got 1\.$"),
        ({"predictions": {1: "constant"}}, r"^predictions output key must be a string; got 1\.$"),
        ({"metrics": {1: ("constant", "constant")}}, r"^metrics output key must be a string; go"),
        ({"metrics": {"m": (1, "constant")}}, r"^metrics/m output value must be a Tensor; got 1"),
        (
            {"metrics": {"m": ("constant", 1)}},
            r"^metrics/m update_op must be a Tensor or Operation; got 1\.$",
        ),
    ],
)
def test_what_is_no_tensor_is_refused(fields, message):
    constant = tf.constant(1.0)
    made = tf.nest.map_structure(lambda v: constant if v == "constant" else v, fields)
    with pytest.raises(ValueError, match=message):
        EvalOutput(**made)


def test_a_signature_needs_an_input():
    with pytest.raises(ValueError, match=r"tensorflow/supervised/eval `inputs` cannot be None"):
        EvalOutput(loss=tf.constant(1.0)).as_signature_def({})
