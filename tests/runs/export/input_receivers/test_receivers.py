import pytest
import tensorflow.compat.v1 as tf

from tf_frame.runs.export.input_receivers import (
    ServingInputReceiver,
    SupervisedInputReceiver,
    TensorServingInputReceiver,
    UnsupervisedInputReceiver,
)

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def tensor():
    return tf.constant([1.0])


def test_dicts_stay_as_they_are(tensor):
    receiver = ServingInputReceiver({"a": tensor, 3: tensor}, {"in": tensor})
    assert receiver.features == {"a": tensor, 3: tensor}
    assert receiver.receiver_tensors == {"in": tensor}
    assert receiver.receiver_tensors_alternatives is None
    assert receiver._fields == ("features", "receiver_tensors", "receiver_tensors_alternatives")


def test_single_tensors_get_a_name(tensor):
    receiver = ServingInputReceiver(tensor, tensor, {"raw": tensor, "dict": {"x": tensor}})
    assert receiver.features == {"feature": tensor}
    assert receiver.receiver_tensors == {"input": tensor}
    assert receiver.receiver_tensors_alternatives == {
        "raw": {"input": tensor},
        "dict": {"x": tensor},
    }


def test_a_tensor_receiver_passes_its_tensor_on_as_it_is(tensor):
    receiver = TensorServingInputReceiver(tensor, tensor, {"raw": tensor})
    assert receiver.features is tensor
    assert receiver.receiver_tensors == {"input": tensor}
    assert receiver.receiver_tensors_alternatives == {"raw": {"input": tensor}}


def test_sparse_and_ragged_tensors_are_features_too(tensor):
    sparse, ragged = tf.sparse.from_dense([[0, 1]]), tf.ragged.constant([[1], [2, 3]])
    assert ServingInputReceiver({"s": sparse, "r": ragged}, tensor).features["s"] is sparse
    for features in (sparse, ragged):
        assert TensorServingInputReceiver(features, tensor).features is features


def test_a_receiver_without_labels_has_features_only(tensor):
    receiver = UnsupervisedInputReceiver(tensor, {"in": tensor})
    assert receiver.features == {"feature": tensor} and not hasattr(receiver, "labels")
    assert receiver.receiver_tensors == {"in": tensor}
    assert isinstance(receiver, ServingInputReceiver)


def test_a_supervised_receiver_passes_features_and_labels_on_as_they_are(tensor):
    receiver = SupervisedInputReceiver(tensor, {0: tensor}, tensor)
    assert receiver.features is tensor and receiver.labels == {0: tensor}
    assert receiver.receiver_tensors == {"input": tensor}
    assert receiver._fields == ("features", "labels", "receiver_tensors")


TENSOR = "a tensor"


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (ServingInputReceiver, (None, TENSOR), r"^features must be defined\.$"),
        (ServingInputReceiver, (TENSOR, None), r"^receiver_tensors must be defined\.$"),
        (
            ServingInputReceiver,
            ({1.5: TENSOR}, TENSOR),
            "^feature keys must be strings or ints: 1.5",
        ),
        (ServingInputReceiver, (TENSOR, {1: TENSOR}), "^receiver_tensor keys must be strings: 1"),
        (ServingInputReceiver, ({"a": 5}, TENSOR), r"^feature a must be a Tensor"),
        (ServingInputReceiver, (5, TENSOR), r"^feature feature must be a Tensor"),
        (ServingInputReceiver, (TENSOR, {"in": [1]}), r"^receiver_tensor in must be a Tensor"),
        (
            ServingInputReceiver,
            (TENSOR, TENSOR, [1]),
            r"_tensors_alternatives must be a dict: \[1\]",
        ),
        (
            ServingInputReceiver,
            (TENSOR, TENSOR, {"raw": {"x": 1}}),
            "_alternative x must be a Tensor",
        ),
        (
            ServingInputReceiver,
            (TENSOR, TENSOR, {"raw": {1: TENSOR}}),
            "_alternative keys must be st",
        ),
        (TensorServingInputReceiver, (None, TENSOR), r"^features must be defined\.$"),
        (TensorServingInputReceiver, ({"a": TENSOR}, TENSOR), r"^feature must be a Tensor"),
        (TensorServingInputReceiver, (TENSOR, None), r"^receiver_tensors must be defined\.$"),
        (SupervisedInputReceiver, (None, TENSOR, TENSOR), r"^features must be defined\.$"),
        (SupervisedInputReceiver, (TENSOR, None, TENSOR), r"^labels must be defined\.$"),
        (SupervisedInputReceiver, (TENSOR, TENSOR, None), r"^receiver_tensors must be defined\.$"),
        (SupervisedInputReceiver, (TENSOR, {"y": 5}, TENSOR), r"^label y must be a Tensor, Sp"),
        (UnsupervisedInputReceiver, (None, TENSOR), r"^features must be defined\.$"),
    ],
)
def test_what_is_missing_or_no_tensor_is_refused(kind, arguments, message, tensor):
    made = tf.nest.map_structure(lambda v: tensor if v is TENSOR else v, arguments)
    with pytest.raises(ValueError, match=message):
        kind(*made)
