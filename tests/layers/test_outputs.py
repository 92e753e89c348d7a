from collections import OrderedDict

import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_outputs_are_collected_by_name():
    first = layers.collect_named_outputs("ends", "net/first", tf.constant(1.0))
    second = layers.collect_named_outputs(["ends", "more"], "net/second/", tf.constant(2.0))
    both = OrderedDict([("net/first", first), ("net/second", second)])
    assert layers.convert_collection_to_dict("ends") == both
    assert layers.convert_collection_to_dict("more", clear_collection=True) == {
        "net/second": second
    }
    assert tf.get_collection("more") == []
    assert tf.get_collection("ends") == [first, second]
    layers.collect_named_outputs("again", "other", first)
    again = layers.convert_collection_to_dict("again")
    assert list(again.items()) == [("net/first", first), ("other", first)]


def test_without_a_collection_a_tensor_gets_no_name():
    outputs = tf.constant(1.0, name="outputs")
    for nothing in (None, [], ""):
        assert layers.collect_named_outputs(nothing, "net", outputs) is outputs
    assert layers.get_tensor_aliases(outputs) == ["outputs"]


def test_names_of_tensors():
    plain = tf.constant(1.0, name="plain")
    parts = tf.split(tf.zeros([4]), 2, name="parts")
    named = layers.append_tensor_alias(tf.constant(1.0), "a/")
    assert layers.append_tensor_aliases(named, ["b", "c"]) is named
    aliases = layers.gather_tensors_aliases([plain, *parts, named])
    assert aliases == ["plain", "parts", "parts:1", "a", "b", "c"]


def test_collections_of_one_variable():
    assert layers.get_variable_collections(None, "weights") is None
    assert layers.get_variable_collections(["all"], "weights") == ["all"]
    by_name = {"weights": ["some"]}
    assert layers.get_variable_collections(by_name, "weights") == ["some"]
    assert layers.get_variable_collections(by_name, "biases") is None
