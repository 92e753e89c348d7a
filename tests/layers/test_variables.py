import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

KEYS = tf.GraphKeys


pytestmark = pytest.mark.usefixtures("variable_mode")


def names(collection):
    return [variable.op.name for variable in tf.get_collection(collection)]


def test_collections_of_each_kind():
    with tf.variable_scope("scope"):
        layers.variable("plain", [2])
        layers.variable("own", [2], collections=["mine", "mine"], trainable=False)
        layers.model_variable("model", [2], collections=("mine",))
        layers.model_variable("fixed", [2], trainable=False)
        layers.local_variable(tf.zeros([3]), name="local")
        variable = layers.global_variable([1.0, 2.0], name="global")
    scoped = [f"scope/{name}" for name in ("plain", "model", "fixed", "global")]
    assert names(KEYS.GLOBAL_VARIABLES) == scoped
    assert names(KEYS.MODEL_VARIABLES) == scoped[1:3]
    for _ in range(2):
        layers.add_model_variable(variable)
    assert names(KEYS.MODEL_VARIABLES) == scoped[1:]
    assert names(KEYS.TRAINABLE_VARIABLES) == ["scope/plain", "scope/model"]
    assert names(KEYS.LOCAL_VARIABLES) == ["scope/local"]
    assert names("mine") == ["scope/own", "scope/model"]


def test_the_kind_of_variable_can_be_chosen(variable_mode):
    made = {
        None: "VarHandleOp" if variable_mode == "resource" else "VariableV2",
        True: "VarHandleOp",
        False: "VariableV2",
    }
    for choice, kind in made.items():
        variables = [
            layers.variable(f"variable_{choice}", [2], use_resource=choice),
            layers.model_variable(f"model_{choice}", [2], use_resource=choice),
            layers.local_variable([1.0], use_resource=choice),
            layers.global_variable([1.0], use_resource=choice),
        ]
        assert {variable.op.type for variable in variables} == {kind}


def test_a_shared_variable_is_listed_and_penalised_once():
    def clone():
        return layers.model_variable(
            "w", [2], regularizer=layers.l2_regularizer(0.1), collections=["mine"]
        )

    first = clone()
    with tf.variable_scope("", reuse=True):
        assert clone() is first
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        assert clone() is first
    for collection in (KEYS.GLOBAL_VARIABLES, KEYS.MODEL_VARIABLES, "mine"):
        assert names(collection) == ["w"]
    assert len(tf.get_collection(KEYS.REGULARIZATION_LOSSES)) == 1


def test_initial_values_and_types(evaluate):
    ones = layers.variable("a", [2], tf.float64, tf.ones_initializer())
    drawn = layers.model_variable("b", [2], initializer=tf.constant_initializer([1, 2]))
    given = layers.global_variable(np.array([3, 4]), name="c")
    ones, drawn, given = evaluate(ones, drawn, given)
    assert (ones.dtype, ones.tolist()) == (np.float64, [1, 1])
    assert (drawn.dtype, drawn.tolist()) == (np.float32, [1, 2])
    assert given.tolist() == [3, 4]


def test_arg_scope_reaches_the_variables_of_layers():
    with layers.arg_scope([layers.variable], device="/cpu:0"):
        with layers.arg_scope([layers.model_variable], collections=["mine"], device="/cpu:1"):
            layers.fully_connected(tf.zeros([2, 3]), 4)
        layers.model_variable("other", [2])
    assert names("mine") == ["fully_connected/weights", "fully_connected/biases"]
    devices = [variable.op.device for variable in tf.global_variables()]
    assert devices == ["/device:CPU:1", "/device:CPU:1", ""]


def test_a_device_function_is_asked_once_for_each_variable():
    asked = []

    def in_turn(op):
        asked.append(op.name)
        return f"/job:ps/task:{(len(asked) - 1) % 2}/device:CPU:0"

    with layers.arg_scope([layers.variable, layers.model_variable], device=in_turn):
        layers.variable("a", [2])
        layers.model_variable("b", [2])
        layers.fully_connected(tf.zeros([2, 3]), 4)
    assert asked == ["a", "b", "fully_connected/weights", "fully_connected/biases"]
    placed = {variable.op.name: variable.op.device for variable in tf.global_variables()}
    assert placed == {
        name: f"/job:ps/task:{index % 2}/device:CPU:0" for index, name in enumerate(asked)
    }


def test_a_custom_getter_takes_the_place_of_get_variable():
    def getter(name, **settings):
        seen.update(settings, name=name)
        return tf.get_variable("other", settings["shape"])

    given = {
        "initializer": tf.ones_initializer(),
        "regularizer": tf.nn.l2_loss,
        "trainable": False,
        "caching_device": "/cpu:0",
        "partitioner": tf.fixed_size_partitioner(1),
        "use_resource": True,
        "synchronization": tf.VariableSynchronization.NONE,
        "aggregation": tf.VariableAggregation.MEAN,
    }
    seen = {}
    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        made = layers.model_variable("given", [3], tf.float64, custom_getter=getter, **given)
    assert made.op.name == "scope/other"
    assert (seen["name"], seen["shape"], seen["reuse"]) == ("given", [3], tf.AUTO_REUSE)
    assert seen["collections"] == [KEYS.GLOBAL_VARIABLES, KEYS.MODEL_VARIABLES]
    assert seen["dtype"] == tf.float64
    assert {name: seen[name] for name in given} == given


def test_parts_of_a_variable_are_listed_and_used(evaluate):
    halves = tf.fixed_size_partitioner(2)
    inputs = np.random.RandomState(0).normal(size=[2, 4]).astype(np.float32)
    with layers.arg_scope([layers.model_variable], partitioner=halves):
        outputs = layers.fully_connected(
            inputs,
            3,
            activation_fn=None,
            biases_initializer=None,
            weights_regularizer=layers.l2_regularizer(1.0),
            variables_collections={"weights": ["mine"]},
        )
    parts = tf.get_collection("mine")
    assert [v.op.name for v in parts] == [f"fully_connected/weights/part_{i}" for i in (0, 1)]
    assert {layers.get_variable_full_name(v) for v in parts} == {"fully_connected/weights"}
    penalties = tf.get_collection(KEYS.REGULARIZATION_LOSSES)
    first, second, outputs, *penalties = evaluate(*parts, outputs, *penalties)
    np.testing.assert_allclose(penalties, [np.sum(v**2) / 2 for v in (first, second)], rtol=1e-5)
    expected = inputs @ np.concatenate([first, second])
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)


def test_layers_list_variables_in_their_own_collections_once():
    def layer(collections):
        layers.conv2d(
            tf.zeros([1, 2, 2, 1]), 2, 1, scope="a", reuse=tf.AUTO_REUSE,
            variables_collections=collections,
        )  # fmt: skip

    layer(["all"])
    layer(["all"])
    layer({"weights": ["some"], "other": ["none"]})
    layer({"biases": "one"})
    assert names("all") == ["a/weights", "a/biases"]
    assert (names("some"), names("one"), names("none")) == (["a/weights"], ["a/biases"], [])
    assert names(KEYS.GLOBAL_VARIABLES) == names(KEYS.MODEL_VARIABLES) == names("all")


def test_penalties_of_weights_and_biases_also_of_untrained_layers(evaluate):
    layers.fully_connected(
        tf.zeros([1, 2]),
        3,
        trainable=False,
        weights_regularizer=layers.l2_regularizer(0.5),
        biases_regularizer=layers.l1_regularizer(0.25),
        weights_initializer=tf.constant_initializer(2.0),
        biases_initializer=tf.constant_initializer(-1.0),
    )
    assert not tf.trainable_variables()
    assert evaluate(*tf.losses.get_regularization_losses()) == [0.5 * 24 / 2, 0.25 * 3]


def test_a_layer_penalises_what_is_stored_and_not_what_a_getter_makes_of_it(evaluate):
    seen = []

    def halved(getter, name, *args, **kwargs):
        seen.append(name)
        return getter(name, *args, **kwargs) / 2

    def clone():
        return layers.fully_connected(
            tf.ones([1, 2]),
            3,
            scope="layer",
            reuse=tf.AUTO_REUSE,
            biases_initializer=None,
            weights_initializer=tf.constant_initializer(2.0),
            weights_regularizer=layers.l2_regularizer(1.0),
        )

    with tf.variable_scope("", custom_getter=halved):
        clone()
        outputs = clone()
    penalties = tf.get_collection(KEYS.REGULARIZATION_LOSSES)
    assert evaluate(outputs[0, 0], *penalties) == [2.0, 2.0**2 * 6 / 2]
    assert seen == ["layer/weights"] * 2


def test_an_own_penalty_takes_the_place_of_the_scopes():
    with tf.variable_scope("", regularizer=layers.l1_regularizer(1.0)):
        layers.conv2d(
            tf.zeros([1, 2, 2, 1]), 1, 1, weights_regularizer=layers.l2_regularizer(1.0), scope="a"
        )
    kinds = [each.name for each in tf.get_collection(KEYS.REGULARIZATION_LOSSES)]
    assert ["l2_" in kinds[0], "l1_" in kinds[1]] == [True, True]
    assert len(kinds) == 2


def test_penalties_are_made_once_and_survive_in_a_meta_graph():
    layers.conv2d(tf.zeros([1, 2, 2, 1]), 1, 1, weights_regularizer=layers.l2_regularizer(1.0))
    graph = tf.get_default_graph()
    assert [op.type for op in graph.get_operations()].count("L2Loss") == 1
    meta_graph = tf.train.export_meta_graph()
    kept = meta_graph.collection_def[KEYS.REGULARIZATION_LOSSES].node_list.value
    assert list(kept) == ["Conv/kernel/Regularizer/l2_regularizer:0"]
