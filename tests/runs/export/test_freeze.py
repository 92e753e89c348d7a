import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.layers.batch_norm import batch_norm
from tf_frame.runs.export.freeze import frozen

from .conftest import B, W, X, changed


def look_up(predictions):
    keys = tf.constant([0, 1, 2, 3], tf.int64)
    texts = tf.lookup.KeyValueTensorInitializer(keys, tf.strings.as_string(keys))
    table = tf.lookup.StaticHashTable(texts, "none")
    return ModelOutput(predictions={**predictions, "name": table.lookup(predictions["class"])})


def test_a_saved_model_of_constants_keeps_its_tables(export, variable_mode):
    exported = export("saved_model", model=changed(look_up), freeze=True)
    model = tf2.saved_model.load(exported.path)
    assert not model.variables
    found = model.signatures["serving_default"](x=tf2.constant(X))
    np.testing.assert_allclose(found["logits"].numpy(), X @ W + B, rtol=1e-6)
    classes = np.argmax(X @ W + B, axis=1)
    assert found["name"].numpy().tolist() == [str(number).encode() for number in classes]


def test_moving_averages_stand_for_the_variables(export):
    options = {"moving_average_decay": 0.9}
    exported = export("saved_model", options=options, freeze=True)
    serve = tf2.saved_model.load(exported.path).signatures["serving_default"]
    np.testing.assert_allclose(
        serve(x=tf2.constant(X))["logits"].numpy(), 2 * (X @ W + B), rtol=1e-6
    )


def count(predictions):
    calls = tf.get_local_variable("calls", [], initializer=tf.constant_initializer(4.0))
    return ModelOutput(predictions={"calls": predictions["logits"] * 0.0 + calls})


def test_local_variables_have_their_initial_values(export, variable_mode):
    exported = export("saved_model", model=changed(count), freeze=True)
    serve = tf2.saved_model.load(exported.path).signatures["serving_default"]
    assert (serve(x=tf2.constant(X))["calls"].numpy() == 4).all()


def assign(predictions):
    calls = tf.get_variable("net/b", use_resource=True).assign_add(tf.ones([4]))
    return ModelOutput(predictions={"logits": predictions["logits"] + 0.0 * calls})


@pytest.mark.parametrize("name", ["saved_model", "frozen_graph"])
def test_a_model_that_assigns_to_a_variable_is_refused(export, tmp_path, name):
    class Assigning(changed(assign)):
        def build(self, features, labels, mode):
            with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
                return super().build(features, labels, mode)

    with pytest.raises(TfFrameError, match="cannot be written with constants instead of variab"):
        export(name, model=Assigning, freeze=name == "saved_model")
    assert not (tmp_path / "out").exists()


def test_other_formats_are_frozen_anyway_or_never(export):
    for name in ("frozen_graph", "checkpoint"):
        with pytest.raises(ConfigError, match=f"saved_model; leave it out for a {name}"):
            export(name, freeze=True)


def test_batch_norm_is_folded_if_asked():
    with tf.Graph().as_default(), tf.Session() as session, tf.device("/device:CPU:0"):
        image = tf.placeholder(tf.float32, [None, 5, 5, 3])
        net = tf.nn.conv2d(image, tf.get_variable("kernel", [3, 3, 3, 4]), 1, "SAME")
        output = tf.nn.relu(batch_norm(net, is_training=False))
        session.run(tf.global_variables_initializer())
        as_it_is, folded = (frozen(session, [output], fold=fold) for fold in (False, True))
    types = {node.op for node in as_it_is.node}
    assert "FusedBatchNormV3" in types and not any("Var" in name for name in types)
    types = {node.op for node in folded.node}
    assert "FusedBatchNormV3" not in types and "BiasAdd" in types
    assert not [node.name for node in [*as_it_is.node, *folded.node] if node.device]
